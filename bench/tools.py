"""The command lines of the tools that are compared, and how to read what they print."""

import json
import pathlib
import re

import harness

# Plimsoll answers with these when it measured: all held, an SLO was broken, refused as evidence.
MEASURED = (0, 3, 4)
PERCENTILES_SCRIPT = pathlib.Path(__file__).with_name("wrk_percentiles.lua")


def wrk(url, connections, seconds, percentiles=False):
    """One thread; wrk has no wish for more threads than connections."""
    script = ["-s", PERCENTILES_SCRIPT] if percentiles else []
    return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *script, url]


def ab(url, connections, seconds):
    """Its -t means 50,000 requests at most unless -n follows; it keeps a record of each, so -n has a bound."""
    return ["ab", "-k", "-q", "-r", "-t", seconds, "-n", seconds * 400_000, "-c", connections, url]


def hey(url, connections, seconds, rate_per_worker=None):
    """Its rate is each worker's, and each worker is a connection."""
    rate = ["-q", rate_per_worker] if rate_per_worker else []
    return ["hey", "-z", f"{seconds}s", "-c", connections, *rate, url]


def plimsoll(url, connections, seconds):
    """Closed loop, one worker."""
    return [harness.require_plimsoll(), "run", url, "-c", connections, "-d", f"{seconds}s", "-t", "1", "--json"]


def plimsoll_rate(url, rate_per_sec, seconds):
    """Open loop, one worker."""
    return [harness.require_plimsoll(), "run", url, "-R", rate_per_sec, "-d", f"{seconds}s", "-t", "1", "--json"]


def plimsoll_answer(url):
    """The whole answer, as a user asks for it."""
    return [harness.require_plimsoll(), url, "--json"]


CLOSED_LOOP = {"wrk": wrk, "ab": ab, "hey": hey, "plimsoll": plimsoll}


def read_plimsoll(client):
    """The JSON document, which must be all that was printed."""
    try:
        return json.loads(client.stdout)
    except json.JSONDecodeError as error:
        raise harness.BenchError(f"plimsoll --json did not print one JSON document: {error}") from error


def wrk_throughput(client):
    """Requests per second by wrk's own count."""
    found = re.search(r"^Requests/sec:\s+([\d.]+)", client.stdout, re.MULTILINE)
    if not found:
        raise harness.BenchError(f"wrk printed no Requests/sec:\n{client.stdout}")
    return float(found.group(1))


def wrk_percentiles_ms(client):
    """What bench/wrk_percentiles.lua printed."""
    return {f"p{at}": float(value) for at, value in re.findall(r"^percentile (\d+) ([\d.]+) ms", client.stdout, re.M)}


def hey_percentiles_ms(client):
    """Lines such as `95% in 0.0123 secs`; some versions print the per cent sign twice."""
    pairs = re.findall(r"^\s*(\d+)%+ in ([\d.]+) secs", client.stdout, re.MULTILINE)
    return {f"p{at}": float(value) * 1000 for at, value in pairs}
