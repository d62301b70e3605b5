#!/usr/bin/env python3
"""A server that stops for half a second every five: what each tool says of the latency, beside the truth.

At a constant rate a tenth of the requests are due within a stall, evenly over its 500 ms, and each waits for its
end. So the slowest tenth waits between 0 and 500 ms: p90 is its edge, p95 is 250 ms, p99 is 450 ms. The duration
is a whole number of periods, so it does not matter where in a period the run begins.
"""

import harness
import tools

RATE_PER_SEC = 2000
PERIOD_SEC = 5
HEY_WORKERS = 100
PERCENTILES = ("p50", "p90", "p95", "p99")
TRUTH_MS = {"p50": "≈ 0", "p90": "0–50", "p95": "250", "p99": "450"}
EXACT_MS = {"p95": 250.0, "p99": 450.0}
MARGIN = 0.05


def measured(address, seconds):
    """Percentiles in ms by each tool, one after the other against the same server."""
    url = f"http://{address}/stall?every={PERIOD_SEC}s&for=500ms"
    limit_sec = seconds + 60
    ours = harness.run_client(tools.plimsoll_rate(url, RATE_PER_SEC, seconds), limit_sec, tools.MEASURED)
    document = tools.read_plimsoll(ours)
    latency_ms = document["steps"][0]["latency_ms"]
    wrk = harness.run_client(tools.wrk(url, 100, seconds, percentiles=True), limit_sec)
    rate_per_worker = RATE_PER_SEC // HEY_WORKERS
    hey = harness.run_client(tools.hey(url, HEY_WORKERS, seconds, rate_per_worker), limit_sec)
    table = {
        f"plimsoll -R {RATE_PER_SEC}": {at: latency_ms[at] for at in PERCENTILES},
        "wrk -t1 -c100 (closed loop)": tools.wrk_percentiles_ms(wrk),
        f"hey -c {HEY_WORKERS} -q {rate_per_worker}": tools.hey_percentiles_ms(hey),
    }
    return table, document


def cell(value):
    """Milliseconds, or that the tool does not say."""
    return "not known" if value is None else f"{value:.1f}"


def render(table, seconds):
    """The text of the result and whether its goals held."""
    rows = [["truth", *(TRUTH_MS[at] for at in PERCENTILES)]]
    rows += [[tool, *(cell(found.get(at)) for at in PERCENTILES)] for tool, found in table.items()]
    text = f"## Latency through stalls ({RATE_PER_SEC}/s for {seconds} s, 500 ms stall every 5 s; ms)\n\n"
    text += harness.markdown_table(["tool", *PERCENTILES], rows) + "\n"
    ours = next(iter(table.values()))
    held = True
    for at, truth in EXACT_MS.items():
        near = ours[at] is not None and abs(ours[at] - truth) <= MARGIN * truth
        held &= near
        text += harness.goal(f"plimsoll's {at} {cell(ours[at])} ms, within 5 % of {truth:.0f} ms wanted", near)
    edge = ours["p90"] is not None and 0 <= ours["p90"] <= 50
    text += harness.goal(f"plimsoll's p90 {cell(ours['p90'])} ms, between 0 and 50 ms wanted", edge)
    return text + "\n", held and edge


def measure():
    """One run of each tool, then the table."""
    options = harness.arguments(__doc__.splitlines()[0], seconds=15)
    if options.seconds % PERIOD_SEC:
        raise harness.BenchError(f"--seconds must be a multiple of {PERIOD_SEC}, so that whole stalls are measured")
    with harness.plimsoll_target() as address:
        table, document = measured(address, options.seconds)
    text, held = render(table, options.seconds)
    return harness.save("stall", options.out, {"latency_ms": table, "plimsoll": document}, text, held)


if __name__ == "__main__":
    harness.main(measure)
