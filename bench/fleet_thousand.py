#!/usr/bin/env python3
"""How many agents a fleet can have on one machine: each a process with a real engine, one broker of three nodes, one conductor.

Each agent makes one request per second, so that little but the fleet itself costs CPU. For each number of agents: whether all took
part and every frame is there once, whether the run file holds what the target counted, the conductor's CPU and memory (kernel's
account of the process, over the time of the load), that of the nodes and of the agents, how far apart the agents began at the target,
and the time from the end of the load to the answer.

    python3 bench/fleet_thousand.py [--agents 100,200,500,1000] [--seconds 30]
"""

import pathlib
import re
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
# The machine has two cores for all of them.
UP_WITHIN_SEC = 300


def memory_bytes(pids):
    """Proportional share of memory, of all these processes."""
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE).group(1)) * 1024
    return total


def cpu_sec(processes):
    """CPU time so far, of all these processes."""
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
        """(nodes, agents) in cores, since it was made."""
        (began, *before), (now, *after) = self.began, self._now()
        return [(later - earlier) / (now - began) for earlier, later in zip(before, after)]


def figures(run, seen, spent, usage, ended):
    """What is known once a run is over."""
    file, document = run.file(), run.document()
    nodes, agents = spent
    start = document["fleet"][0]
    load_sec = (seen.ended - seen.began) / 1e9
    return {
        **frames.totals(file), "at_target": len(seen), "missing": frames.missing(file), "doubled": frames.doubled(file),
        "took_part": len(start["generators"]), "lost": sum(share["lost_sec"] is not None for share in start["generators"]),
        "conductor_cpu_sec": usage.ru_utime + usage.ru_stime,
        "conductor_cores": (usage.ru_utime + usage.ru_stime) / load_sec, "conductor_bytes": usage.ru_maxrss * 1024,
        "nodes_cores": nodes, "agents_cores": agents, "answer_sec": (ended - seen.ended) / 1e9,
        "reported_apart_ms": start["apart_ns"] / 1e6, "reported_max_ms": (start["apart_max_ns"] or 0) / 1e6,
        "code": run.process.returncode, "said": run.said(),
    }


def one_run(folder, up, fleet, count, options):
    """One run of all agents."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir=folder) as own, truth.recorder(own) as recorder:
        # At least one connection for each agent: one without gets no share.
        load = [f"http://{recorder.address}/", "-R", count, "-d", f"{options.seconds}s", "-t", 1, "-c", count]
        with broker.run(own, up.address, count, load) as run:
            broker.awaited("frames in the run file", lambda: run.process.poll() is not None or run.file() and frames.count(run.file()),
                           UP_WITHIN_SEC)
            spent = Spent(up, fleet)
            time.sleep(options.seconds / 2)
            cores = spent.cores()
            usage = run.usage(options.seconds + UP_WITHIN_SEC)
            ended = time.monotonic_ns()
            return figures(run, recorder.truth(), cores, usage, ended)


def one_size(count, options):
    """A broker, so many agents, one run."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, broker.broker(folder) as up:
        began = time.monotonic()
        with broker.agents(folder, up.address, [()] * count, "127.0.0.1", within_sec=UP_WITHIN_SEC) as fleet:
            up_sec = time.monotonic() - began
            agents_bytes = memory_bytes(process.pid for process in fleet.processes)
            found = one_run(folder, up, fleet, count, options)
            return {"agents": count, "up_sec": up_sec, "agent_bytes": agents_bytes / count, **found}


def goals(row):
    """{goal: whether it is met} of one size."""
    return {"all agents, each frame once, as many requests as the target counted":
            row["took_part"] == row["agents"] and row["missing"] == row["doubled"] == row["lost"] == 0
            and row["sent"] == row["at_target"],
            "conductor below one core": row["conductor_cores"] < GOAL_CORES,
            "conductor below 1 GiB": row["conductor_bytes"] < GOAL_BYTES,
            "the answer within 2 s": row["answer_sec"] <= GOAL_ANSWER_SEC}


def render(rows, failed):
    """A row for each size, then the goals of the largest."""
    lines = [[row["agents"], f"{row['took_part']} ({row['lost']} lost)", f"{row['frames']:,}", row["missing"], row["doubled"],
              f"{row['at_target']:,}", f"{row['sent']:,}", f"{row['conductor_cores']:.2f}", f"{row['conductor_bytes'] / 2**20:.0f}",
              f"{row['nodes_cores']:.2f}", f"{row['agents_cores']:.2f}", f"{row['agent_bytes'] / 2**20:.1f}",
              f"{row['reported_apart_ms']:.0f}", f"{row['answer_sec']:.1f}"] for row in rows]
    header = ["agents", "took part", "frames", "missing", "doubled", "requests at the target", "in the run file", "conductor, cores",
              "its peak, MiB", "broker, cores", "agents, cores", "an agent, MiB", "apart, ms", "answer after, s"]
    text = f"## A fleet of up to {GOAL_AGENTS} agents on one machine\n\n{judge.markdown(header, lines)}\n"
    met = bool(rows) and not failed and rows[-1]["agents"] >= GOAL_AGENTS
    for row in rows:
        for what, is_met in goals(row).items():
            text += "" if is_met else f"- **missed** at {row['agents']} agents: {what}\n"
            met = met and is_met
    return text + judge.unmeasured(failed), met


def measure():
    """Each size, until one cannot be run."""
    options = results.arguments(__doc__.splitlines()[0], agents="100,200,500,1000", seconds=30).parse_args()
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
