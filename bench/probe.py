#!/usr/bin/env python3
"""What a probe costs the host that it samples: CPU time of `plimsoll probe --stream` next to 300 sleeping processes.

It watches an nginx by its port, so that every source has something to report: once idle, and once with 8000 connections
from this machine, which are 16,000 sockets to read. Its CPU time is the kernel's own, over all of its threads.
"""

import contextlib
import json
import pathlib
import socket
import subprocess

import judge
import pinned
import results
import rounds
import servers

PROCESSES = 300
GOAL_RATIO = 0.005
# The connections that are held open; both ends of each are on this machine.
SITUATIONS = {"idle": 0, "16,000 sockets": 8000}
# The first samples find the processes; their constant cost is only reached some seconds later.
WARM_SAMPLES = 4


def cpu_ns(pid):
    """Returns the CPU time of all live threads; those of a probe live as long as the probe."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


@contextlib.contextmanager
def sleepers(count):
    """Runs processes that do nothing, and ends them by their handles."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen(["sleep", "infinity"], preexec_fn=pinned.end_with_parent)
            stack.callback(pinned.stop, process)
        yield


@contextlib.contextmanager
def connections(port, count):
    """Opens connections that send nothing. nginx closes them after a minute, which is longer than the measurement."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=10)))
        yield


def sample_rounds(stream):
    """Yields the instant of each round of samples; a round begins with the first source."""
    first = None
    for line in stream:
        sample = json.loads(line)
        if "source" not in sample:
            continue
        source = (sample["host"], sample["source"], sample["subject"])
        first = first or source
        if source == first:
            yield sample["ended_ns"]


def cost(binary, port, seconds):
    """Returns the probe's CPU time over time; 1 is a whole core."""
    probe = subprocess.Popen(
        [binary, "probe", "--stream", "--port", str(port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=pinned.end_with_parent)
    try:
        began = None
        for number, at_ns in enumerate(sample_rounds(probe.stdout)):
            if number == WARM_SAMPLES:
                began = (at_ns, cpu_ns(probe.pid))
            if number == WARM_SAMPLES + seconds:
                return (cpu_ns(probe.pid) - began[1]) / (at_ns - began[0])
    finally:
        pinned.stop(probe)
    raise pinned.BenchError("the probe ended before its samples were complete; see what it printed")


def one_run(binary, situation, seconds):
    """Measures one situation for one round, with an nginx of its own, so that leftovers of one round do not burden the next."""
    with servers.nginx() as nginx, connections(nginx.ports["plain"], SITUATIONS[situation]):
        return {"core_ratio": cost(binary, nginx.ports["plain"], seconds)}


def measure():
    """Measures all rounds, then makes the table."""
    parser = results.arguments(__doc__, rounds=3, seconds=15)
    parser.add_argument("--plimsoll", default=str(pinned.PLIMSOLL), help="another binary")
    options = parser.parse_args()
    before = results.measured_before("probe", options)
    if before is not None:
        return before
    pinned.require_descriptors(max(SITUATIONS.values()))
    with sleepers(PROCESSES):
        rows, failed = rounds.run(
            options.rounds, list(SITUATIONS), lambda name: one_run(options.plimsoll, name, options.seconds))
    found = {name: rounds.median(rows, name, "core_ratio") for name in SITUATIONS}
    met = not failed and all(ratio is not None and ratio <= GOAL_RATIO for ratio in found.values())
    document = {"found": found, "goal_ratio": GOAL_RATIO, "failed": failed, "runs": rows}
    return results.save("probe", options, document, render(rows, found, failed), met)


def render(rows, found, failed):
    """Returns a row for each situation."""
    lines = []
    for name, ratio in found.items():
        all_rounds = rounds.of(rows, name, "core_ratio")
        between = f"{min(all_rounds):.2%} to {max(all_rounds):.2%}" if all_rounds else "–"
        word = "met" if ratio is not None and ratio <= GOAL_RATIO else "**missed**"
        lines.append([name, "–" if ratio is None else f"{ratio:.2%}", between, f"≤ {GOAL_RATIO:.1%}", word])
    header = ["nginx", "of a core", "rounds", "goal", "verdict"]
    return (f"## Looking at a host with {PROCESSES} processes, once a second\n\n{judge.markdown(header, lines)}\n"
            f"{judge.unmeasured(failed)}\n")


if __name__ == "__main__":
    results.main(measure)
