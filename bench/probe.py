#!/usr/bin/env python3
"""What a probe costs the host it looks at: CPU time of `plimsoll probe --stream` beside 300 sleeping processes.

It watches an nginx by its port, so that every source has something to tell. Its CPU time is the kernel's own, over all
of its threads, from the second sample to the last. Ends with 3 when the goal was missed.
"""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys

import pinned
import servers

PROCESSES = 300
GOAL_RATIO = 0.005
# The second sample is the first after the processes were found.
WARM_SAMPLES = 2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plimsoll", type=pathlib.Path, help="another binary than target/release/plimsoll")
    parser.add_argument("--seconds", type=int, default=30, help="samples that are taken, one each second")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    return parser.parse_args()


def cpu_ns(pid):
    """CPU time of all threads that live; a probe's live as long as itself."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


@contextlib.contextmanager
def sleepers(count):
    """Processes that do nothing, ended by their handles."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen(["sleep", "infinity"], preexec_fn=pinned.end_with_parent)
            stack.callback(pinned.stop, process)
        yield


def rounds(stream):
    """One item for each round of samples: a round begins with the first source."""
    first = None
    for line in stream:
        sample = json.loads(line)
        if "source" not in sample:
            continue
        source = (sample["host"], sample["source"], sample["subject"])
        first = first or source
        if source == first:
            yield sample["ended_ns"]


def measure(binary, port, seconds):
    """The probe's CPU time over time, a core being one."""
    probe = subprocess.Popen(
        [binary, "probe", "--stream", "--port", str(port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=pinned.end_with_parent)
    try:
        began = None
        for number, at_ns in enumerate(rounds(probe.stdout)):
            if number == WARM_SAMPLES:
                began = (at_ns, cpu_ns(probe.pid))
            if number == WARM_SAMPLES + seconds:
                return (cpu_ns(probe.pid) - began[1]) / (at_ns - began[0])
    finally:
        pinned.stop(probe)
    raise pinned.BenchError("the probe ended before its samples were complete; see what it printed")


def main():
    asked = arguments()
    binary = asked.plimsoll or pinned.require_plimsoll()
    with servers.nginx() as nginx, sleepers(asked.processes):
        ratio = measure(binary, nginx.ports["plain"], asked.seconds)
    print(f"probe: {ratio:.3%} of a core beside {asked.processes} processes (goal: at most {GOAL_RATIO:.1%})")
    return 0 if ratio <= GOAL_RATIO else 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except pinned.BenchError as error:
        print(f"probe: {error}", file=sys.stderr)
        sys.exit(1)
