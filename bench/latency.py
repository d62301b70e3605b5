#!/usr/bin/env python3
"""A server that stops for half a second every five: the latency that each tool reports, next to the truth.

At a constant rate, a tenth of the requests are due within a stall, evenly over its 500 ms, and each waits until the stall ends.
So the slowest tenth waits between 0 and 500 ms: p90 is the edge of the stall, p95 is 250 ms, p99 is 450 ms, and 9.5 % wait longer
than 25 ms. The duration is a whole number of periods, so it does not matter where in a period the run begins.
"""

import pathlib
import tempfile

import client
import judge
import pinned
import results
import rounds
import samples
import servers
import tools

RATE_PER_SEC = 2000
PERIOD_SEC = 5
CONNECTIONS = 100
MANY_VUS = 1500
FIGURES = tuple(f"p{p}" for p in samples.PERCENTILES)
# From and to, in ms. p90 is the edge of the stall, so any value up to a fifth of p95 is accepted.
TRUTH_MS = {"p50": (0, 1), "p90": (0, 50), "p95": (250, 250), "p99": (450, 450)}
SLOW_RATIO = 0.10 * (1 - samples.SLOW_MS / 500)
SLOW_MARGIN = 0.01


def k6_command(url, seconds, vus):
    """Returns the command of k6 with a fixed number of virtual users; it contacts no other machine."""
    given = {"RATE": RATE_PER_SEC, "SECONDS": seconds, "VUS": vus, "SLOW_MS": samples.SLOW_MS, "TARGET": url}
    flags = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    return ["k6", "run", "--quiet", "--no-usage-report", *flags, tools.HERE / "scripts" / "arrival_rate.js"]


def contenders(url, seconds):
    """Returns {name: (command, reader, exit codes)}."""
    each = RATE_PER_SEC // CONNECTIONS
    oha = ["oha", "--no-tui", "--output-format", "csv", "-w", "-c", CONNECTIONS, "-q", RATE_PER_SEC,
           "-z", f"{seconds}s"]
    h2load = ["h2load", "--h1", "-t", 1, "-c", CONNECTIONS, "-D", seconds, "--rps", each,
              "--log-file", "h2load.log", url]
    ours = [pinned.require_plimsoll(), "run", url, "-R", RATE_PER_SEC, "-d", f"{seconds}s", "-t", 1,
            "--no-probe", "--json"]
    return {
        "plimsoll -R": (ours, samples.plimsoll, tools.MEASURED),
        "oha -q": ([*oha, url], samples.oha, (0,)),
        "oha -q --latency-correction": ([*oha, "--latency-correction", url], samples.oha, (0,)),
        f"k6, {CONNECTIONS} VUs": (k6_command(url, seconds, CONNECTIONS), samples.k6, (0,)),
        f"k6, {MANY_VUS} VUs": (k6_command(url, seconds, MANY_VUS), samples.k6, (0,)),
        "hey -q": (["hey", "-o", "csv", "-z", f"{seconds}s", "-c", CONNECTIONS, "-q", each, url], samples.hey, (0,)),
        "h2load --rps": (h2load, samples.h2load, (0,)),
    }


def one_run(command, read, accepted, seconds):
    """Runs one tool against the stalling server, in a folder for the tool's files."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, client.running(command, folder) as running:
        ended = running.finish(limit_sec=seconds + 60, accepted=accepted)
        return read(ended, pathlib.Path(folder))


def error_ms(found):
    """Returns the largest error of a tool's percentiles, or None if one is missing."""
    if any(found.get(at) is None for at in FIGURES):
        return None
    return max(max(low - found[at], found[at] - high, 0) for at, (low, high) in TRUTH_MS.items())


def summary(rows, names):
    """Returns {tool: medians of its figures, and their error}."""
    table = {}
    for name in names:
        found = {figure: rounds.median(rows, name, figure) for figure in (*FIGURES, "slow_ratio", "dropped")}
        table[name] = {**found, "error_ms": error_ms(found)}
    return table


def share(ratio):
    """Formats a share of all requests in per cent; a dash if it is not known."""
    return "–" if ratio is None else f"{ratio:.1%}"


def render(table, failed, commands, options):
    """Returns the text, and whether the goals were met."""
    truth = ["truth", "≈ 0", "0–50", "250", "450", "0", f"{SLOW_RATIO:.1%}", ""]
    lines = [[name, *(judge.cell(found[at], 1) for at in FIGURES), judge.cell(found["error_ms"], 1),
              share(found["slow_ratio"]), judge.cell(found["dropped"], 0)]
             for name, found in table.items()]
    text = (f"## Latency through stalls of 500 ms every {PERIOD_SEC} s ({RATE_PER_SEC}/s for {options.seconds} s, "
            f"medians of {options.rounds} rounds; ms)\n\n")
    header = ["tool", *FIGURES, "largest error", f"slower than {samples.SLOW_MS} ms", "never sent"]
    text += judge.markdown(header, [truth, *lines]) + "\n"
    goal_text, met = goals(table)
    text += goal_text + judge.unmeasured(failed)
    return text + "\n```console\n" + "\n".join(commands.values()) + "\n```\n\n", met and not failed


def goals(table):
    """Checks that Plimsoll's error is the smallest, and that as many requests met a stall as were due in one."""
    ours, *others = table.values()
    errors_ms = [found["error_ms"] for found in others if found["error_ms"] is not None]
    if ours["error_ms"] is None or not errors_ms:
        return "- **not measured**: Plimsoll, or all of the others\n", False
    over_ms = ours["error_ms"] - min(errors_ms)
    off = abs(ours["slow_ratio"] - SLOW_RATIO) - SLOW_MARGIN
    smallest = "met" if over_ms <= 0 else f"**missed by {over_ms:.1f} ms**"
    true_share = "met" if off <= 0 else f"**missed by {off:.1%}**"
    text = (f"- {smallest}: largest error {ours['error_ms']:.1f} ms, the best of the others {min(errors_ms):.1f} ms\n"
            f"- {true_share}: {ours['slow_ratio']:.1%} of the requests waited longer than {samples.SLOW_MS} ms, "
            f"{SLOW_RATIO:.1%} is true, within {SLOW_MARGIN:.0%} required\n")
    return text, over_ms <= 0 and off <= 0


def measure():
    """Measures interleaved rounds of all tools, then makes the table."""
    options = results.arguments(__doc__.splitlines()[0], rounds=3, seconds=15).parse_args()
    if options.seconds % PERIOD_SEC:
        raise pinned.BenchError(f"--seconds must be a multiple of {PERIOD_SEC}, so that whole stalls are measured")
    before = results.measured_before("latency", options)
    if before is not None:
        return before
    path = f"/stall?every={PERIOD_SEC}s&for=500ms"
    with servers.target() as address:
        every = contenders(f"http://{address}{path}", options.seconds)
        rows, failed = rounds.run(options.rounds, list(every), lambda name: one_run(*every[name], options.seconds))
    printed = contenders(f"http://127.0.0.1:PORT{path}", options.seconds)
    shown = {name: tools.shown(command) for name, (command, *_) in printed.items()}
    table = summary(rows, every)
    text, met = render(table, failed, shown, options)
    document = {"truth_ms": TRUTH_MS, "summary": table, "commands": shown, "failed": failed, "runs": rows}
    return results.save("latency", options, document, text, met)


if __name__ == "__main__":
    results.main(measure)
