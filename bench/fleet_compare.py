#!/usr/bin/env python3
"""One load from several machines, as each tool makes and reports it, next to what the target recorded.

The job is an even rate for some seconds from three generators, each a network namespace with an address of its own, against
`bench/recorder`, whose service times are log-normal and the same in each run. The tools: Plimsoll's fleet with a broker of three nodes;
Locust with a master and workers, a FastHttpUser with `constant_throughput(1)` for each request per second; Vegeta with a process on
each generator, started by a loop (over ssh it takes longer), and `vegeta report` of all result files; k6 with a process on each
generator, started the same way, each with its segment of one test. Rounds are interleaved.

Truth: the requests that came from the generators, their rate in the first second and in the first five, percentiles of the service
time by nearest rank, and the time from the first request of the first generator to that of the last. Reported: what the tool prints.
Requests do not queue here, so service time and latency differ only by the network and the tool's own delay.

k6 prints a summary for each process: the counts are added up. Percentiles cannot be merged, so their mean is used. The summary has no
rate of the first seconds.

The tools are looked for on the PATH and in ~/go/bin: `pip install locust==2.47.0`, `go install
github.com/tsenart/vegeta/v12@v12.13.0`, and k6 of scripts/setup.sh. A tool that is not installed is left out, and the table says so.

    python3 bench/fleet_compare.py [--rounds 5] [--rate 600] [--seconds 20] [--generators 3]
"""

import tempfile

import generators
import hosts
import judge
import pinned
import results
import rounds
import truth

# The service time: p50, p99 and p99.9 are 50, 257 and 422 ms.
MEDIAN_MS, SIGMA = 50, 0.7


def one_run(machines, name, options):
    """Runs one tool against a target that records the truth."""
    server = machines.server
    peers = {host.address for host in machines.generators}
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        with truth.recorder(folder, server.way, server.address, generators.PORT, MEDIAN_MS, SIGMA) as recorder:
            reported = generators.TOOLS[name](generators.Job(machines, folder, options.rate, options.seconds))
            seen = recorder.truth().of_peers(peers)
    true = {at: seen.service_ms(at) for at in generators.PERCENTILES}
    return {
        "at_target": len(seen), "reported": reported["requests"], "failed": reported["failed"],
        "apart_ms": seen.arrivals_apart_ms(), "first_second": seen.rate(0, 1), "first_rate": seen.rate(0, generators.FIRST_SEC),
        "reported_first_rate": reported["first_rate"],
        **{f"true_p{at}": true[at] for at in true}, **{f"p{at}": reported["percentiles_ms"][at] for at in true},
        **{f"error_p{at}": abs(reported["percentiles_ms"][at] / true[at] - 1) for at in true},
        "error_count": abs(reported["requests"] - len(seen)), "report": reported,
    }


def middle(rows, name, figure):
    """Returns the median of a tool's rounds."""
    return rounds.median(rows, name, figure)


def load_table(rows, names, options):
    """What the target received, and what the tools report."""
    lines = [[name, judge.cell(middle(rows, name, "at_target"), 0), judge.cell(middle(rows, name, "reported"), 0),
              judge.cell(max(rounds.of(rows, name, "error_count"), default=None), 0), judge.cell(middle(rows, name, "first_second"), 0),
              judge.cell(middle(rows, name, "first_rate"), 1), judge.cell(middle(rows, name, "reported_first_rate"), 1),
              judge.cell(middle(rows, name, "apart_ms"), 1), judge.cell(max(rounds.of(rows, name, "apart_ms"), default=None), 1)]
             for name in names]
    header = ["tool", "requests at the target", "reported", "largest difference", "rate of the first second",
              f"of the first {generators.FIRST_SEC} s", f"reported at {generators.FIRST_SEC} s", "first requests apart, ms", "at most, ms"]
    asked = ["asked for", f"{options.rate * options.seconds}", "", "", f"{options.rate}", f"{options.rate}", "", "0", ""]
    return judge.markdown(header, [asked, *lines])


def latency_table(rows, names):
    """The percentiles of the target and of the tools."""
    lines = []
    for name in names:
        cells = [judge.cell(middle(rows, name, f"{kind}p{at}"), 1) for at in generators.PERCENTILES for kind in ("true_", "")]
        worst = [max(rounds.of(rows, name, f"error_p{at}"), default=None) for at in generators.PERCENTILES]
        lines.append([name, *cells, *("–" if value is None else f"{value:.1%}" for value in worst)])
    header = [f"{kind} p{at}" for at in generators.PERCENTILES for kind in ("true", "reported")]
    return judge.markdown(["tool", *header, *(f"largest error of p{at}" for at in generators.PERCENTILES)], lines)


def goals(rows, ours):
    """Returns a line for each goal, and whether all are met."""
    counts, apart = rounds.of(rows, ours, "error_count"), rounds.of(rows, ours, "apart_ms")
    if not counts:
        return f"- **not measured**: {ours}\n", False
    met = {"Plimsoll's count is the target's in each round": not any(counts),
           f"Plimsoll's generators begin within 10 ms of each other in each round (largest {max(apart):.1f} ms)": max(apart) <= 10}
    return "".join(f"- {'met' if is_met else '**missed**'}: {what}\n" for what, is_met in met.items()), all(met.values())


def render(rows, failed, options):
    """Returns the tables and the goals, and whether all goals are met."""
    names = list(generators.TOOLS)
    text = (f"## {options.rate} requests/s for {options.seconds} s from {options.generators} generators, medians of {options.rounds} "
            f"rounds\n\n{load_table(rows, names, options)}\n{latency_table(rows, names)}\n")
    goal_text, met = goals(rows, names[0])
    return text + goal_text + judge.unmeasured(failed), met and not failed


def measure():
    """Measures interleaved rounds of all tools, then makes the tables."""
    options = results.arguments(__doc__.splitlines()[0], rounds=5, rate=600, seconds=20, generators=3).parse_args()
    truth.build()
    pinned.raise_descriptor_limit()
    with hosts.hosts(options.generators) as machines:
        rows, failed = rounds.run(options.rounds, list(generators.TOOLS), lambda name: one_run(machines, name, options))
    text, met = render(rows, failed, options)
    return results.save("fleet-compare", options, {"runs": rows, "failed": failed}, text, met)


if __name__ == "__main__":
    results.main(measure)
