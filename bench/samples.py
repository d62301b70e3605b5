"""Latencies of each tool in one form: percentiles in ms and the share of requests that were slow.

If a tool writes down every request, all percentiles are computed by one rule, the nearest rank. Otherwise they are those that
the tool prints.
"""

import csv
import json
import math
import sqlite3

import answers
import hdr
import pinned

PERCENTILES = (50, 90, 95, 99)
SLOW_MS = 25


def of_list(latencies_ms):
    """Returns the figures of a list with every request's latency."""
    if not latencies_ms:
        raise pinned.BenchError("the tool wrote down no request")
    ordered = sorted(latencies_ms)
    at = {f"p{p}": ordered[math.ceil(p / 100 * len(ordered)) - 1] for p in PERCENTILES}
    return {**at, "slow_ratio": sum(one > SLOW_MS for one in ordered) / len(ordered), "requests": len(ordered)}


def plimsoll(ended, folder):
    """Returns the percentiles as printed, and the share from the histograms of the run file."""
    latency_ms = answers.plimsoll(ended)["steps"][0]["latency_ms"]
    files = list(folder.glob("plimsoll-runs/*.plimsoll"))
    if len(files) != 1:
        raise pinned.BenchError(f"one run file was expected in {folder}/plimsoll-runs, {len(files)} are there")
    with sqlite3.connect(files[0]) as run:
        found = hdr.merged(blob for (blob,) in run.execute("SELECT latency FROM frame"))
    count = sum(found.values())
    if count != latency_ms["count"]:
        raise pinned.BenchError(f"the run file holds {count} latencies, the document says {latency_ms['count']}")
    slow = sum(n for value_ns, n in found.items() if value_ns > SLOW_MS * 1e6)
    return {**{f"p{p}": latency_ms[f"p{p}"] for p in PERCENTILES}, "slow_ratio": slow / count, "requests": count}


def csv_column(text, column):
    """Returns a column of seconds, in ms."""
    return [float(row[column]) * 1000 for row in csv.DictReader(text.splitlines())]


def oha(ended, _folder):
    """Reads its CSV, which has a row for each request."""
    return of_list(csv_column(ended.stdout, "request-duration"))


def hey(ended, _folder):
    """Reads its CSV, which has a row for each request."""
    return of_list(csv_column(ended.stdout, "response-time"))


def h2load(_ended, folder):
    """Reads its log: start in µs, status, duration in µs."""
    lines = (folder / "h2load.log").read_text(encoding="ascii").splitlines()
    return of_list([int(line.split("\t")[2]) / 1000 for line in lines])


def k6(_ended, folder):
    """Reads its summary. Iterations that found no virtual user were never sent: k6 counts them, its percentiles do not."""
    metrics = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    found = metrics["http_req_duration"]["values"]
    dropped = metrics.get("dropped_iterations", {}).get("values", {}).get("count", 0)
    return {**{f"p{p}": found[f"p({p})"] for p in PERCENTILES},
            "slow_ratio": metrics["slow"]["values"]["rate"],
            "requests": metrics["http_reqs"]["values"]["count"], "dropped": dropped}
