#!/usr/bin/env python3
"""How close together the agents of a fleet begin, and whether their merged percentiles equal those of one recorder.

Each agent has a network namespace and a monotonic clock of its own, up to five hours from the others (time namespaces). The broker of
three nodes, the conductor and `bench/recorder` are behind the bridge, in another namespace. The target's response times are log-normal,
and long enough that the network delay is small against the resolution of the histograms.

Start: the first connection and the first request of each agent, as the target recorded them. At an even rate, an agent's first request is
due up to agents / rate seconds after the step began, by its number. Percentiles of the service time: at the target from the arrival of the
request to its answer, by nearest rank; in the run file from sending to the answer, over all frames merged.

    python3 bench/fleet_start.py [--runs 10] [--agents 8] [--rate 1000] [--seconds 20]
"""

import contextlib
import statistics
import tempfile

import broker
import frames
import hosts
import judge
import pinned
import results
import truth

GOAL_APART_MS = 10
PORT = 8000
# The service time: p50, p99 and p99.9 are 1.5, 3.4 and 4.4 s.
MEDIAN_MS, SIGMA = 1500, 0.35
PERCENTILES = (50, 99, 99.9)


def one_run(machines, address, options):
    """Makes one run. Returns what the target recorded, and what Plimsoll reports."""
    server = machines.server
    generators = {host.address for host in machines.generators}
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        target = truth.recorder(folder, server.way, server.address, PORT, MEDIAN_MS, SIGMA)
        load = [f"http://{server.address}:{PORT}/", "-R", options.rate, "-d", f"{options.seconds}s", "-t", 1,
                "-c", options.agents * 8, "--timeout", "30s"]
        with target as recorder, broker.run(folder, address, options.agents, load, server.way) as run:
            document = run.document(options.seconds + broker.REPORT_WITHIN_SEC)
            seen = recorder.truth().of_peers(generators)
        start, file = document["fleet"][0], run.file()
        service, latency = frames.Percentiles(file, "service"), frames.Percentiles(file, "latency")
        at_target = {at: seen.service_ms(at) for at in PERCENTILES}
        return {
            "connections_apart_ms": seen.starts_apart_ms(), "requests_apart_ms": seen.arrivals_apart_ms(),
            "reported_ms": start["apart_ns"] / 1e6, "reported_max_ms": (start["apart_max_ns"] or 0) / 1e6,
            "agents_seen": len(seen.first_of_peers("arrived")), "at_target": len(seen), **frames.totals(file),
            "target_ms": at_target, "service_ms": {at: service(at) for at in PERCENTILES},
            "latency_ms": {at: latency(at) for at in PERCENTILES}, "said": run.said(),
        }


def off_ms(row, at, kind="service_ms"):
    """Returns how far a merged percentile is from the target's."""
    return row[kind][at] - row["target_ms"][at]


def start_table(rows):
    """Returns a row for each run."""
    lines = [[number, f"{row['connections_apart_ms']:.2f}", f"{row['requests_apart_ms']:.2f}", f"{row['reported_ms']:.2f}",
              f"{row['reported_max_ms']:.2f}", f"{row['at_target']:,}", f"{row['sent']:,}"] for number, row in enumerate(rows, 1)]
    return judge.markdown(["run", "first connections apart, ms", "first requests apart, ms", "reported, ms", "reported at most, ms",
                           "requests at the target", "in the run file"], lines)


def percentile_table(rows):
    """Returns a row for each percentile."""
    lines = []
    for at in PERCENTILES:
        true = statistics.median(row["target_ms"][at] for row in rows)
        offs, lates = ([off_ms(row, at, kind) for row in rows] for kind in ("service_ms", "latency_ms"))
        lines.append([f"p{at}", f"{true:.2f}", f"{true * frames.RESOLUTION:.2f}", f"{statistics.median(offs):+.2f}",
                      f"{min(offs):+.2f} to {max(offs):+.2f}", f"{statistics.median(lates):+.2f}"])
    return judge.markdown(["percentile", "at the target, ms", "resolution, ms", "merged service time, off by", "all runs",
                           "latency from the planned instant, off by"], lines)


def render(rows, options):
    """Returns the tables, then the goals."""
    apart = max(row["connections_apart_ms"] for row in rows)
    within = [all(abs(off_ms(row, at)) <= row["target_ms"][at] * frames.RESOLUTION for at in PERCENTILES) for row in rows]
    exact = sum(row["sent"] == row["at_target"] and row["agents_seen"] == options.agents for row in rows)
    goals = {f"the agents began within {apart:.1f} ms of each other in each of {len(rows)} runs, goal {GOAL_APART_MS} ms":
             apart <= GOAL_APART_MS,
             f"p50, p99 and p99.9 are the target's within the resolution in {sum(within)} of {len(rows)} runs": all(within),
             f"every request of the target is in the run file in {exact} of {len(rows)} runs": exact == len(rows)}
    text = (f"## The start of {options.agents} agents with clocks of their own, {options.rate} requests/s for {options.seconds} s\n\n"
            f"{start_table(rows)}\n{percentile_table(rows)}\n")
    return text + "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in goals.items()), all(goals.values())


def measure():
    """Makes all runs with the same machines, then the tables."""
    options = results.arguments(__doc__.splitlines()[0], runs=10, agents=8, rate=1000, seconds=20).parse_args()
    truth.build()
    pinned.raise_descriptor_limit()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-bench-"))
        machines = stack.enter_context(hosts.hosts(options.agents, clocks=True))
        server = machines.server
        address = stack.enter_context(broker.broker(folder, server.way, server.address)).address
        ways = [host.way for host in machines.generators]
        stack.enter_context(broker.agents(folder, address, ways, f"{server.address}:{PORT}"))
        rows, failed = broker.repeated(options.runs, lambda: one_run(machines, address, options))
    text, met = render(rows, options)
    return results.save("fleet-start", options, {"runs": rows, "failed": failed}, text + judge.unmeasured(failed), met and not failed)


if __name__ == "__main__":
    results.main(measure)
