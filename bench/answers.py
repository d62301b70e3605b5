"""Parses the output of the tools. Output that cannot be parsed is an error, never a zero."""

import json
import re

from pinned import BenchError


def plimsoll(ended):
    """Returns the JSON document, which must be the whole output."""
    try:
        return json.loads(ended.stdout)
    except json.JSONDecodeError as error:
        raise BenchError(f"plimsoll --json did not print one JSON document: {error}") from error


def plimsoll_account(document, requests):
    """Compares Plimsoll's count of requests with nginx's: those completed, and those in flight at the end."""
    steps = document["steps"]
    completed = sum(step["completed"] for step in steps)
    unanswered = sum(step["failed"].get("unanswered", 0) for step in steps)
    return {
        "nginx": requests,
        "completed": completed,
        "unanswered": unanswered,
        "failed": {kind: count for step in steps for kind, count in step["failed"].items()},
        "driver": document["generator"]["driver"],
        "healthy": document["generator"]["healthy"],
        "reasons": document["generator"]["reasons"],
        "exact": requests == completed + unanswered,
    }


def wrk_throughput(ended):
    """Returns requests per second by wrk's own count."""
    found = re.search(r"^Requests/sec:\s+([\d.]+)", ended.stdout, re.MULTILINE)
    if not found:
        raise BenchError(f"wrk printed no Requests/sec:\n{ended.stdout}")
    return float(found.group(1))


def wrk_percentiles_ms(ended):
    """Returns the percentiles that bench/scripts/percentiles.lua printed."""
    found = {f"p{at}": float(value) for at, value in re.findall(r"^percentile (\d+) ([\d.]+) ms", ended.stdout, re.M)}
    if not found:
        raise BenchError(f"wrk's script printed no percentiles:\n{ended.stdout}")
    return found
