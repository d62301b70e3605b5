#!/usr/bin/env python3
"""The highest rate within conditions, found by Plimsoll and with other tools: the time to the answer, and its error.

Each target is a lab of bench/search/ whose truth is known (bench/search.py). A step makes the lab, runs one procedure on the
generator's host, and ends the lab. Only the procedure is timed. The condition is p99 <= 100 ms and 99.95 % success.

    url       plimsoll URL: at most 90 s
    search    plimsoll search URL: at most 5 min
    wrktest   the procedure of wrktest.sh: wrk at 200, 500, 1000 … 50,000 connections, three threads a core, `--rung` seconds each
              (wrktest.sh: 300). The answer is the highest throughput of its table, which is how its figure is read
    k6        a breakpoint test: arrivals grow from 0 to 2000/s within 5 min, and a broken threshold aborts it. The answer is the
              rate at that instant
    wrk2      bisection by hand: 10 s of wrk at 64 connections give the plateau, then wrk2 for 30 s at each rate between 0.5 and 1.05
              times that until two rates differ by at most 5 %. The answer is their geometric middle

Steps are interleaved; each is a line of bench/out/search-peers.jsonl, so that an interrupted benchmark continues. `--together` runs a
procedure in the labs of all targets at the same time: each has the processors that its file gives it. `--wrk2` is the program built from
github.com/giltene/wrk2; k6 is the one of scripts/setup.sh.

    python3 bench/search_peers.py [--repeats 3] [--tools url,k6] [--targets pool,cpu] [--limit SECONDS] [--wrk2 PATH]
    python3 bench/search_peers.py --summary
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import judge
import pinned
import production

FILES = pinned.ROOT / "bench" / "search"
KEPT = pinned.ROOT / "bench" / "out" / "search-peers.jsonl"
P99_MS = 100
SUCCESS = 0.9995
# The URL of each lab, and the truth: the highest rate that held for 60 s and the lowest that did not (RESULTS.md, 2026-11-25).
TARGETS = {
    "cpu": ("http://api:9000/cpu?us=400", (926, 939)),
    "pool": ("http://api:9000/sleep?ms=10&workers=8", (763, 774)),
    "link": ("http://api:9000/payload?number=100", (495, 502)),
}
LADDER = (200, 500, 1000, 3000, 5000, 10000, 15000, 20000, 25000, 50000)
WRKTEST_RUNG_SEC = 300
K6_RATE, K6_SEC = 2000, 300
K6_SCRIPT = """
import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  scenarios: {breakpoint: {executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 100, maxVUs: 1000,
    stages: [{duration: '%ds', target: %d}]}},
  thresholds: {
    http_req_duration: [{threshold: 'p(99)<=%d', abortOnFail: true}],
    http_req_failed: [{threshold: 'rate<=%s', abortOnFail: true}]},
};
export default function () { http.get('%s'); }
export function handleSummary(data) { return {stdout: JSON.stringify(data)}; }
"""
PLATEAU_CONNECTIONS, PLATEAU_SEC = 64, 10
WRK2_SEC, WRK2_WITHIN = 30, 1.05
WRK2_BETWEEN = (0.5, 1.05)
# As in wrk2's own example. With 256 connections, p99 exceeds the limit at half of the rate that holds.
WRK2_CONNECTIONS = 100
UNITS_MS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}


class Lab(production.Lab):
    """A lab of bench/search whose generator also runs other tools."""

    def tool(self, argv, limit_sec, codes=(0,), **options):
        """Returns what a tool prints on the generator's host."""
        line = [*self.ways["generator"], *map(str, argv)]
        ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=limit_sec, env=pinned.environment(),
                               **options)
        if ended.returncode not in codes:
            raise pinned.BenchError(f"{argv[0]} ended with {ended.returncode}: {(ended.stderr or ended.stdout)[-500:]}")
        return ended.stdout


def middle(low, high):
    """Returns the geometric middle, or None if an end is missing."""
    return (low * high) ** 0.5 if low and high else None


def plimsoll(lab, url, command):
    """Runs Plimsoll's search. Returns the rates that held and broke."""
    argv = [pinned.PLIMSOLL, *command, url, "--p99", f"{P99_MS}ms", "--success", f"{SUCCESS:.2%}", "--no-files", "--quiet", "--json"]
    document = json.loads(lab.tool(argv, 600, codes=(0, 3, 4)))
    found = document["search"] or {}
    low, high = found.get("held_per_sec"), found.get("broken_per_sec")
    return {"answer": middle(low, high), "between": [low, high], "note": found.get("end")}


def wrk_figures(text):
    """Returns requests per second, p99 in ms, and the share of requests without an error, as wrk and wrk2 print them."""
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    p99 = re.search(r"^\s+99(?:\.000)?%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.MULTILINE)
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failed = sum(map(int, errors.groups())) if errors else 0
    status = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    failed += int(status.group(1)) if status else 0
    success = max(requests - failed, 0) / requests if requests else 0
    return {"rate": rate, "p99_ms": float(p99.group(1)) * UNITS_MS[p99.group(2)] if p99 else None, "success": success}


def keeps(figures):
    """Whether the figures are within the condition."""
    return figures["p99_ms"] is not None and figures["p99_ms"] <= P99_MS and figures["success"] >= SUCCESS


def wrktest(lab, url, options):
    """Runs the ladder of wrktest.sh with its command line, except for the time of a step."""
    rows = []
    for connections in LADDER:
        argv = ["wrk", f"-t{3 * os.cpu_count()}", f"-d{options.rung}s", "-T30s", "--latency", "-c", connections, url]
        rows.append({"connections": connections, **wrk_figures(lab.tool(argv, options.rung + 120))})
    best = max(rows, key=lambda row: row["rate"])
    within = [row["connections"] for row in rows if keeps(row)]
    return {"answer": best["rate"], "note": f"at {best['connections']} connections, p99 {best['p99_ms']:.0f} ms; "
            f"{len(within)} of {len(rows)} rungs within the condition", "rows": rows, "rung_seconds": options.rung}


def k6(lab, url, options):
    """Runs a ramp of arrivals that a broken threshold aborts."""
    script = K6_SCRIPT % (K6_SEC, K6_RATE, P99_MS, f"{1 - SUCCESS:.4f}", url)
    argv = [options.k6, "run", "--quiet", "--no-color", "--no-usage-report", "--address", "", "-"]
    # 99: a threshold was broken.
    data = json.loads(lab.tool(argv, K6_SEC + 120, codes=(0, 99), input=script))
    seconds = data["state"]["testRunDurationMs"] / 1000
    broken = [f"{name}: {rule}" for name, metric in data["metrics"].items()
              for rule, kept in metric.get("thresholds", {}).items() if not kept["ok"]]
    dropped = data["metrics"].get("dropped_iterations", {}).get("values", {}).get("count", 0)
    return {"answer": K6_RATE * seconds / K6_SEC if broken else None, "mean_rate": data["metrics"]["http_reqs"]["values"]["rate"],
            "note": f"{', '.join(broken) or 'nothing broke'}; {dropped:.0f} dropped", "ramp_seconds": seconds}


def wrk2(lab, url, options):
    """Bisects between two multiples of the plateau."""
    argv = ["wrk", "-t1", f"-c{PLATEAU_CONNECTIONS}", f"-d{PLATEAU_SEC}s", url]
    plateau = float(re.search(r"Requests/sec:\s+([\d.]+)", lab.tool(argv, PLATEAU_SEC + 60)).group(1))
    low, high = (part * plateau for part in WRK2_BETWEEN)
    rows = []
    while high / low > WRK2_WITHIN:
        rate = round(middle(low, high))
        argv = [options.wrk2, "-t2", f"-c{WRK2_CONNECTIONS}", f"-d{WRK2_SEC}s", f"-R{rate}", "--latency", url]
        figures = wrk_figures(lab.tool(argv, WRK2_SEC + 60))
        rows.append({"asked": rate, **figures})
        if keeps(figures):
            low = rate
        else:
            high = rate
    return {"answer": middle(low, high), "between": [low, high], "note": f"{len(rows)} runs of wrk2", "plateau": plateau, "rows": rows}


TOOLS = {
    "url": lambda lab, url, options: plimsoll(lab, url, []),
    "search": lambda lab, url, options: plimsoll(lab, url, ["search"]),
    "wrktest": wrktest,
    "k6": k6,
    "wrk2": wrk2,
}
NAMES = {"url": "`plimsoll URL`", "search": "`plimsoll search`", "wrktest": "wrktest.sh's ladder", "k6": "k6, breakpoint",
         "wrk2": "wrk2, bisection"}


def step(tool, target, options):
    """Runs one procedure in a lab of its own."""
    url, (low, high) = TARGETS[target]
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        lab = Lab(folder, FILES / f"{target}.toml")
        try:
            began = time.monotonic()
            found = TOOLS[tool](lab, url, options)
            took = time.monotonic() - began
        finally:
            lab.close()
    error = found["answer"] / middle(low, high) - 1 if found["answer"] else None
    return {"tool": tool, "target": target, "seconds": took, "error": error, **found}


def row(tool, target, own):
    """Returns a row of the table."""
    answers = [one["answer"] for one in own if one["answer"]]
    errors = [one["error"] for one in own if one["answer"]]
    low, high = TARGETS[target][1]
    held = sum(1 for one in own if one.get("between") and None not in one["between"]
               and one["between"][0] <= middle(low, high) <= one["between"][1])
    seconds = f"{statistics.median(one['seconds'] for one in own):.0f}"
    if tool == "wrktest":
        seconds = f"{len(LADDER) * WRKTEST_RUNG_SEC} (here {seconds})"
    ends = f"{held} of {len(own)}" if own[0].get("between") else "no interval"
    return [target, NAMES[tool], f"{len(answers)} of {len(own)}", seconds, ", ".join(f"{one:,.0f}" for one in answers),
            f"{statistics.median(errors):+.1%}" if errors else "", f"{max(errors, key=abs):+.1%}" if errors else "", ends]


def summary(kept):
    """Returns a row for each tool and lab."""
    header = ["lab", "tool", "answers", "seconds, median", "answer, requests/s", "error, median", "largest", "contains the truth"]
    pairs = [(tool, target) for target in TARGETS for tool in TOOLS]
    grouped = {pair: [one for one in kept if (one["tool"], one["target"]) == pair] for pair in pairs}
    return judge.markdown(header, [row(*pair, own) for pair, own in grouped.items() if own])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--together", action="store_true", help="all targets of a tool at the same time")
    parser.add_argument("--rung", type=int, default=WRKTEST_RUNG_SEC, help="seconds of each of wrktest.sh's ten loads")
    parser.add_argument("--wrk2", default="wrk2")
    parser.add_argument("--k6", default="k6")
    parser.add_argument("--limit", type=float, default=float("inf"), help="begin nothing more after so many seconds")
    parser.add_argument("--summary", action="store_true", help="the table of what is there")
    options = parser.parse_args()
    ends = time.monotonic() + options.limit
    pinned.require_plimsoll()
    pinned.raise_descriptor_limit()
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()] if KEPT.exists() else []
    targets = options.targets.split(",")
    groups = [targets] if options.together else [[target] for target in targets]
    steps = itertools.product(range(options.repeats), groups, options.tools.split(","))
    for number, group, tool in [] if options.summary else steps:
        due = [target for target in group
               if sum(1 for one in kept if (one["tool"], one["target"]) == (tool, target)) <= number]
        if not due or time.monotonic() >= ends:
            continue
        with concurrent.futures.ThreadPoolExecutor(len(due)) as pool:
            for future in [pool.submit(step, tool, target, options) for target in due]:
                kept.append(future.result() | {"together": len(due)})
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(kept[-1]) + "\n")
                print({name: value for name, value in kept[-1].items() if name != "rows"}, flush=True)
    print(summary(kept))


if __name__ == "__main__":
    main()
