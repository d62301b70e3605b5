#!/usr/bin/env python3
"""How many agents a fleet can have on one machine: one broker of three nodes, one conductor, and agents without generators.

The agents are those of `crates/fleet/examples/simulated_agents.rs`, all in one process: everything of an agent but the load. Each hands
over the frames of as many requests as its share of the rate. `--real` starts a process with a real engine for each agent instead, whose
requests a recorder at the target counts; on two cores these end at a few hundred.

For each number of agents: whether all took part and every frame is there once, whether the run file holds as many requests as were made,
the conductor's CPU and memory (kernel's account of the process, over the time of the load), CPU of the nodes and of the agents, how far
apart the agents began, and the time from the end of the load to the answer.

    cargo build --release --locked --workspace --bins --examples
    python3 bench/fleet_thousand.py [--agents 100,200,500,1000] [--seconds 60] [--each 50]
    python3 bench/fleet_thousand.py --real --agents 50,100,200 --each 1
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import broker
import client
import frames
import judge
import pinned
import results
import truth

GOAL_CORES, GOAL_BYTES, GOAL_ANSWER_SEC = 1.0, 1 << 30, 2.0
GOAL_AGENTS = 1000
SIMULATED = pinned.PLIMSOLL.parent / "examples" / "simulated_agents"
AGENTS_NICE = 5
# The machine has two cores for all of them.
UP_WITHIN_SEC = 300


def memory_bytes(pids):
    """Returns the proportional set size of all these processes."""
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024
    return total


def cpu_sec(processes):
    """Returns the CPU time so far of all these processes."""
    return sum(client.cpu_sec_of(process.pid) for process in processes)


class Spent:
    """CPU time of the broker's nodes and of the agents while the load is on."""

    def __init__(self, up, fleet):
        self.up, self.fleet = up, fleet
        self.began = self._now()

    def _now(self):
        nodes = [node.process for node in self.up.nodes]
        return time.monotonic(), cpu_sec(nodes), cpu_sec(self.fleet.processes)

    def cores(self):
        """Returns (nodes, agents) in cores, since this object was made."""
        (began, *before), (now, *after) = self.began, self._now()
        return [(later - earlier) / (now - began) for earlier, later in zip(before, after)]


@dataclasses.dataclass
class Made:
    """What the agents made: requests, frames if they are known, and when the load ended (ns of CLOCK_MONOTONIC)."""

    requests: int
    frames: int | None
    ended_ns: int


def before_exec():
    """Lowers the priority: on machines of their own the agents would take no time from the conductor."""
    pinned.end_with_parent()
    os.nice(AGENTS_NICE)


class Simulated:
    """Agents without generators, in one process."""

    def __init__(self, address, count, log):
        argv = [str(word) for word in (SIMULATED, address, count, "127.0.0.1")]
        self.log = log
        self.processes = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                           preexec_fn=before_exec)]
        if self.processes[0].stdout.readline() != "waiting\n":
            raise pinned.BenchError(f"the agents did not come: {pathlib.Path(log.name).read_text(encoding='utf-8')[-400:]}")

    def made(self, recorder):
        """Ends the agents. Returns what they report, because the recorder has received no request."""
        del recorder
        out, _ = self.processes[0].communicate(timeout=UP_WITHIN_SEC)
        *said, last = out.splitlines()
        if self.processes[0].returncode or said:
            raise pinned.BenchError(f"the agents: {out[-800:]}")
        said = json.loads(last)
        return Made(said["requests"], said["frames"], said["ended_ns"])


@contextlib.contextmanager
def simulated(folder, address, count):
    """Runs agents without generators for as long as the block runs."""
    if not SIMULATED.exists():
        raise pinned.BenchError(f"{SIMULATED} is missing; run cargo build --release --locked --workspace --examples")
    with open(folder / "agents.log", "w", encoding="utf-8") as log:
        fleet = Simulated(address, count, log)
        try:
            yield fleet
        finally:
            pinned.stop(fleet.processes[0])


class Real:
    """Agents that are processes with real engines."""

    def __init__(self, agents):
        self.processes = agents.processes

    def made(self, recorder):
        """Returns what the target recorded."""
        seen = recorder.truth()
        return Made(len(seen), None, seen.ended)


@contextlib.contextmanager
def real(folder, address, count):
    """Runs real agents for as long as the block runs."""
    with broker.agents(folder, address, [()] * count, "127.0.0.1", within_sec=UP_WITHIN_SEC) as agents:
        yield Real(agents)


def figures(run, made, spent, usage, ended, options):
    """Returns the figures of a run that is over."""
    file, document = run.file(), run.document()
    nodes, agents = spent
    start = document["fleet"][0]
    totals = frames.totals(file)
    return {
        **totals, "made": made.requests, "frames_made": totals["frames"] if made.frames is None else made.frames,
        "frame_bytes": frames.bytes_each(file), "missing": frames.missing(file), "doubled": frames.doubled(file),
        "took_part": len(start["generators"]), "lost": sum(share["lost_sec"] is not None for share in start["generators"]),
        "conductor_cpu_sec": usage.ru_utime + usage.ru_stime,
        "conductor_cores": (usage.ru_utime + usage.ru_stime) / options.seconds, "conductor_bytes": usage.ru_maxrss * 1024,
        "nodes_cores": nodes, "agents_cores": agents, "answer_sec": (ended - made.ended_ns) / 1e9,
        "reported_apart_ms": start["apart_ns"] / 1e6, "reported_max_ms": (start["apart_max_ns"] or 0) / 1e6,
        "code": run.process.returncode, "said": run.said(),
    }


def one_run(folder, up, fleet, count, options):
    """Makes one run of all agents."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir=folder) as own, truth.recorder(own) as recorder:
        # At least one connection for each agent, because an agent without one gets no share.
        load = [f"http://{recorder.address}/", "-R", count * options.each, "-d", f"{options.seconds}s", "-t", 1, "-c", count]
        with broker.run(own, up.address, count, load) as run:
            broker.awaited("frames in the run file", lambda: run.process.poll() is not None or run.file() and frames.count(run.file()),
                           UP_WITHIN_SEC)
            spent = Spent(up, fleet)
            time.sleep(options.seconds / 2)
            cores = spent.cores()
            usage = run.usage(options.seconds + UP_WITHIN_SEC)
            ended = time.monotonic_ns()
            return figures(run, fleet.made(recorder), cores, usage, ended, options)


def one_size(count, options):
    """Starts a broker and `count` agents, and makes one run."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, broker.broker(folder) as up:
        began = time.monotonic()
        start = real if options.real else simulated
        with start(pathlib.Path(folder), up.address, count) as fleet:
            up_sec = time.monotonic() - began
            agents_bytes = memory_bytes(process.pid for process in fleet.processes)
            found = one_run(folder, up, fleet, count, options)
            return {"agents": count, "up_sec": up_sec, "agent_bytes": agents_bytes / count, **found}


def goals(row):
    """Returns {goal: whether it is met} of one size."""
    return {"all agents, each frame once, as many requests as were made":
            row["took_part"] == row["agents"] and row["missing"] == row["doubled"] == row["lost"] == 0
            and row["sent"] == row["made"] and row["frames"] == row["frames_made"],
            "conductor below one core": row["conductor_cores"] < GOAL_CORES,
            "conductor below 1 GiB": row["conductor_bytes"] < GOAL_BYTES,
            "the answer within 2 s": row["answer_sec"] <= GOAL_ANSWER_SEC}


def render(rows, failed):
    """Returns a row for each size, then the goals of the largest."""
    lines = [[row["agents"], f"{row['took_part']} ({row['lost']} lost)", f"{row['frames']:,}", f"{row['frame_bytes']:.0f}",
              row["missing"], row["doubled"], f"{row['made']:,}", f"{row['sent']:,}", f"{row['conductor_cores']:.2f}", f"{row['conductor_bytes'] / 2**20:.0f}",
              f"{row['nodes_cores']:.2f}", f"{row['agents_cores']:.2f}", f"{row['agent_bytes'] / 2**20:.1f}",
              f"{row['reported_apart_ms']:.0f}", f"{row['answer_sec']:.1f}"] for row in rows]
    header = ["agents", "took part", "frames", "bytes each", "missing", "doubled", "requests made", "in the run file", "conductor, cores",
              "its peak, MiB", "broker, cores", "agents, cores", "an agent, MiB", "apart, ms", "answer after, s"]
    text = f"## A fleet of up to {GOAL_AGENTS} agents on one machine\n\n{judge.markdown(header, lines)}\n"
    met = bool(rows) and not failed and rows[-1]["agents"] >= GOAL_AGENTS
    for row in rows:
        for what, is_met in goals(row).items():
            text += "" if is_met else f"- **missed** at {row['agents']} agents: {what}\n"
            met = met and is_met
    return text + judge.unmeasured(failed), met


def measure():
    """Measures each size."""
    parser = results.arguments(__doc__.splitlines()[0], agents="100,200,500,1000", seconds=60, each=50)
    parser.add_argument("--real", action="store_true", help="a process with a real engine for each agent")
    options = parser.parse_args()
    truth.build()
    pinned.raise_descriptor_limit()
    rows, failed = [], {}
    for count in map(int, options.agents.split(",")):
        try:
            rows.append(one_size(count, options))
        except pinned.BenchError as error:
            failed[f"{count} agents"] = str(error)
            print(f"bench: {count} agents: {error}", flush=True)
            continue
        print(rows[-1], flush=True)
    text, met = render(rows, failed)
    return results.save("fleet-thousand", options, {"runs": rows, "failed": failed}, text, met)


if __name__ == "__main__":
    results.main(measure)
