#!/usr/bin/env python3
"""How often `plimsoll ab` finds a difference where there is none, and how often it finds one of 3, 5 and 10 %.

    python3 bench/ab.py --repeats 100                    A/A: both sides are the same URL
    python3 bench/ab.py --repeats 20 --slower 3,5,10     B burns so many per cent more CPU for each request
    python3 bench/ab.py --load probed,rate,started       other loads than a closed one, see below
    python3 bench/ab.py --summary                        the table of all repeats so far

    closed     4 connections, nothing sampled: throughput and latency
    probed     the same with this machine sampled: CPU per request too
    rate       2000 requests/s of Poisson arrivals: latency
    started    4 connections, each service started for each of its loads: A/A only

One reference server on the second core answers /cpu?us=N; the load comes from the first core. A repeat is one comparison with the
margin, the precision and the number of rounds below. Each repeat is a line of bench/out/ab.jsonl, so that an interrupted call continues.
`--seconds` ends a call after the repeat under way.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time

import pinned

RESULTS = pinned.ROOT / "bench" / "out" / "ab.jsonl"
BURN_US = 300
CONNECTIONS = 4
LOAD = "150ms"
ROUNDS = 16
RATE = 2000
THROUGHPUT = "throughput_per_sec"
LOADS = {"closed": ["-c", CONNECTIONS, "--no-probe"], "probed": ["-c", CONNECTIONS], "rate": ["-R", RATE, "--no-probe"],
         "started": ["-c", CONNECTIONS, "--no-probe"]}


def sides(load, binary, address, slower, core):
    """Returns the URLs of A and B, and the options that start the services."""
    if load == "started":
        serve = f"exec taskset -c {core} {binary} target --port {{port}}"
        return [f"http://127.0.0.1:{pinned.free_port()}/cpu?us={BURN_US}", "--a", serve, "--b", serve]
    return [f"http://{address}/cpu?us={burn}" for burn in (BURN_US, round(BURN_US * (1 + slower / 100)))]


def compare(binary, case, address, cores):
    """Runs one comparison of a load and a difference. Returns the parts of its document that the table needs."""
    (load, slower), (client, server) = case, cores
    with tempfile.TemporaryDirectory() as folder:
        line = [binary, "ab", *sides(load, binary, address, slower, server), *LOADS[load], "-d", LOAD, "--rounds", ROUNDS,
                "--json", "--quiet", "-o", folder]
        began = time.monotonic()
        process = pinned.start(line, client, stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate(timeout=300)
        took = time.monotonic() - began
    document = json.loads(out)
    if "error" in document:
        sys.exit(f"bench: {document['error']['message']}")
    figures = document["figures"]
    main = figures[0]
    return {"load": load, "slower": slower, "code": process.returncode, "gate": document["gate"], "rounds": document["rounds"],
            "figure": main["figure"], "ratio": main["ratio"], "interval": main["ratio_interval"], "verdict": main["verdict"],
            "differ": [f"{one['figure']} {one['percentile'] or ''}".strip() for one in figures
                       if one["verdict"] in ("better", "worse")],
            "sure_effects": [one["effect"] for one in document["effects"] if one["sure"]],
            "spread": statistics.stdev(one["ratio"] for one in document["ratios"]), "seconds": round(took, 1)}


def true_ratio(own, slower):
    """Returns B's figure over A's. A slower B burns more, but what else a request costs stays, so that only the middle of all repeats shows it."""
    ratios = [row["ratio"] for row in own if row["ratio"]]
    return statistics.median(ratios) if slower and ratios else 1


def summary(rows):
    """Returns the table by load and by how much slower B was."""
    lines = ["| load | B slower by | repeats | any figure differs | main figure worse | better | beyond 5 % | within 5 % | "
             "interval covers the truth | rounds | spread of a round's ratio |", "| --- " * 11 + "|"]
    for load, slower in sorted({(row["load"], row["slower"]) for row in rows}):
        own = [row for row in rows if (row["load"], row["slower"]) == (load, slower)]
        truth = true_ratio(own, slower)
        count = lambda is_so: sum(1 for row in own if is_so(row))
        covers = lambda row: row["interval"] and row["interval"][0] <= truth <= row["interval"][1]
        lines.append(f"| {load} | {slower:g} % | {len(own)} | {count(lambda row: row['differ'])} | "
                     f"{count(lambda row: row['verdict'] == 'worse')} | {count(lambda row: row['verdict'] == 'better')} | "
                     f"{count(lambda row: row['gate'] == 'beyond')} | {count(lambda row: row['gate'] == 'within')} | "
                     f"{count(covers)} | {statistics.mean(row['rounds'] for row in own):.0f} | "
                     f"{100 * statistics.median(row['spread'] for row in own):.1f} % |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100, help="of each difference, those made before included")
    parser.add_argument("--slower", default="0", help="per cent, separated by commas")
    parser.add_argument("--load", default="closed", help=f"of {', '.join(LOADS)}, separated by commas")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--summary", action="store_true")
    args = parser.parse_args()
    loads, slower = args.load.split(","), [float(part) for part in args.slower.split(",")]
    if unknown := set(loads) - set(LOADS):
        parser.error(f"--load {min(unknown)} is none of {', '.join(LOADS)}")
    if "started" in loads and any(slower):
        parser.error("--load started compares a service with itself: leave --slower out")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    # Rows from before there were several loads have no load.
    before = {"load": "closed", "figure": THROUGHPUT}
    rows = [before | json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    if args.summary:
        print(summary(rows))
        return
    cores = pinned.cores()
    ends = time.monotonic() + args.seconds
    target = pinned.start([pinned.require_plimsoll(), "target", "--port", "0"], cores[1], stdout=subprocess.PIPE, text=True)
    address = target.stdout.readline().strip()
    try:
        cases = list(itertools.product(loads, slower))
        done = {case: sum(1 for row in rows if (row["load"], row["slower"]) == case) for case in cases}
        # Interleaved, so that an interrupted call has some of each.
        for repeat, case in itertools.product(range(args.repeats), cases):
            if repeat < done[case]:
                continue
            if time.monotonic() >= ends:
                return
            row = compare(pinned.PLIMSOLL, case, address, cores)
            with RESULTS.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, file=sys.stderr)
    finally:
        pinned.stop(target)


if __name__ == "__main__":
    main()
