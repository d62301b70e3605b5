#!/usr/bin/env python3
"""A node of the broker is killed in the middle of a run: what happens to the frames and to the load.

A broker of three nodes, some agents, and an even rate against `bench/recorder`. The node that leads the stream of the run gets SIGKILL.
With `--kills 2` it comes back with its store, and the next leader is killed, too. All nodes are back before the next run.
The target counts all requests, and those of the seconds before and after the kill. The run file shows missing and doubled frames, and is
read every 20 ms for the number of committed frames. The longest time without a new frame is the gap of delivery; without a fault it is
about a second, the time of a frame.

    python3 bench/fleet_faults.py [--runs 10] [--agents 3] [--rate 1000] [--seconds 24] [--kills 1]
"""

import statistics
import tempfile
import threading
import time

import broker
import frames
import judge
import pinned
import results
import truth

# When the kill comes after the first request, and over how many seconds on both sides of it the rates are compared.
KILL_AFTER_SEC = 8
WINDOW_SEC = 5
GOAL_RATE = 0.001
POLL_SEC = 0.02


class Commits(threading.Thread):
    """Samples how many frames the run file holds, until the run ends."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_, self.seen = run, []
        self.start()

    def run(self):
        """Adds a row each time that there are more frames."""
        while self.run_.process.returncode is None:
            file = self.run_.file()
            found = frames.count(file) if file else 0
            if found > (self.seen[-1][1] if self.seen else 0):
                self.seen.append((time.monotonic_ns(), found))
            time.sleep(POLL_SEC)

    def gap_sec(self):
        """Returns the longest time without a new frame."""
        instants = [at for at, _ in self.seen]
        return max((later - at) / 1e9 for at, later in zip(instants, instants[1:]))


def run_ended(commits):
    """Raises an error if the run has ended by itself."""
    if commits.run_.process.poll() is not None:
        raise pinned.BenchError(f"the run ended before the fault: {commits.run_.said()[-500:]}")


def kill_leader(commits, up):
    """Kills the node that leads the stream in the middle of the load. Returns (node, instant)."""
    broker.awaited("frames in the run file", lambda: commits.seen or run_ended(commits))
    # The first frame comes a second after the first request.
    time.sleep(KILL_AFTER_SEC - 1)
    node = broker.awaited("a leader of the stream", up.stream_leader)
    return node, up.kill(node)


def around(seen, killed, rate):
    """Returns the rate after the kill over the rate before and over the offered rate, and the worst single second after the kill."""
    second = 1_000_000_000
    before = seen.between(killed - WINDOW_SEC * second, killed)
    after = seen.between(killed, killed + WINDOW_SEC * second)
    worst = min(seen.between(killed + at * second, killed + (at + 1) * second) for at in range(WINDOW_SEC))
    return {"rate_ratio": after / before, "asked_ratio": after / WINDOW_SEC / rate, "worst_second_ratio": worst / rate}


def one_run(up, options):
    """Makes one run with its kills."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, truth.recorder(folder) as recorder:
        load = [f"http://{recorder.address}/", "-R", options.rate, "-d", f"{options.seconds}s", "-t", 1]
        with broker.run(folder, up.address, options.agents, load) as run:
            commits = Commits(run)
            kills = [kill_leader(commits, up)]
            while len(kills) < options.kills:
                up.restart(kills[-1][0])
                up.wait()
                kills.append(kill_leader(commits, up))
            document = run.document()
            commits.join()
        up.restart(kills[-1][0])
        seen, file = recorder.truth(), run.file()
        at_target = len(seen)
        found = {**frames.totals(file), "missing": frames.missing(file), "doubled": frames.doubled(file)}
        up.wait()
        rates = max((around(seen, killed, options.rate) for _, killed in kills), key=lambda row: abs(row["rate_ratio"] - 1))
        killed = ", ".join(node.name for node, _ in kills)
        return {"node": killed, "at_target": at_target, **found, "gap_sec": commits.gap_sec(), **rates,
                "lost_agents": sum(share["lost_sec"] is not None for share in document["fleet"][0]["generators"]),
                "said": run.said()}


def is_exact(row):
    """Whether every frame is there once, with the requests that the target counted."""
    return row["missing"] == row["doubled"] == row["lost_agents"] == 0 and row["sent"] == row["at_target"]


def render(rows, options):
    """Returns a row for each run, then the goals."""
    lines = [[number, row["node"], f"{row['at_target']:,}", f"{row['sent']:,}", row["missing"], row["doubled"],
              f"{row['gap_sec']:.1f}", f"{row['rate_ratio'] - 1:+.3%}", f"{row['asked_ratio'] - 1:+.3%}",
              f"{row['worst_second_ratio'] - 1:+.1%}"]
             for number, row in enumerate(rows, 1)]
    header = ["run", "killed", "requests at the target", "in the run file", "frames missing", "doubled", "longest gap, s",
              f"rate, {WINDOW_SEC} s after over {WINDOW_SEC} s before", "over that asked for", "worst second after"]
    exact = sum(map(is_exact, rows))
    off = max(abs(row["rate_ratio"] - 1) for row in rows)
    goals = {f"every request of the target is in the run file, each frame once, in {exact} of {len(rows)} runs": exact == len(rows),
             f"the rate after a kill is within {off:.3%} of that before, goal {GOAL_RATE:.1%}": off <= GOAL_RATE}
    text = f"## A node of three killed, {options.agents} agents, {options.rate} requests/s\n\n{judge.markdown(header, lines)}\n"
    gap = statistics.median(row["gap_sec"] for row in rows)
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in goals.items())
    return f"{text}- median of the longest gaps: {gap:.1f} s\n", all(goals.values())


def measure():
    """Makes all runs on one broker, then the table."""
    options = results.arguments(__doc__.splitlines()[0], runs=10, agents=3, rate=1000, seconds=24, kills=1).parse_args()
    truth.build()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, broker.broker(folder) as up:
        ways = [()] * options.agents
        with broker.agents(folder, up.address, ways, "127.0.0.1"):
            rows, failed = broker.repeated(options.runs, lambda: one_run(up, options))
    text, met = render(rows, options)
    return results.save("fleet-faults", options, {"runs": rows, "failed": failed}, text + judge.unmeasured(failed), met and not failed)


if __name__ == "__main__":
    results.main(measure)
