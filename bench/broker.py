"""A NATS broker of several nodes with JetStream, the agents of a fleet that join it, and runs of that fleet."""

import contextlib
import json
import os
import pathlib
import subprocess
import time

import pinned

NODES = 3
UP_WITHIN_SEC = 60
# How many agents start at the same time.
START_TOGETHER = 50
# The most that the end of a run may take after its load: late agents, the report, and busy machines.
REPORT_WITHIN_SEC = 180
# The exit codes of a measurement: all held, a condition was broken, refused as evidence.
MEASURED = (0, 3, 4)
# The ports in a network namespace, where no other process uses them.
CLIENTS, ROUTES, MONITORS = 4222, 6222, 8222


class Node:
    """One node of the broker."""

    def __init__(self, name, process, address, monitor):
        self.name, self.process, self.address, self.monitor = name, process, address, monitor


class Broker:
    """The nodes of a broker, on this machine or on a host that `way` leads to."""

    def __init__(self, folder, way=(), host="127.0.0.1", count=NODES):
        self.folder, self.way, self.host = pathlib.Path(folder), list(way), host
        self.ports = list(zip(*(self._ports(base, count) for base in (CLIENTS, ROUTES, MONITORS))))
        self.nodes = [self._start(number) for number in range(count)]

    def _ports(self, base, count):
        """Returns fixed ports in a namespace of its own, else free ports."""
        return [base + number for number in range(count)] if self.way else [pinned.free_port() for _ in range(count)]

    @property
    def address(self):
        """The value of --fleet and --join."""
        return ",".join(f"nats://{node.address}" for node in self.nodes)

    def _start(self, number):
        name = f"node-{number + 1}"
        client, _, monitor = self.ports[number]
        config = self.folder / f"{name}.conf"
        config.write_text(self._config(name, number), encoding="utf-8")
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen([*self.way, "nats-server", "--config", str(config)], stdout=log, stderr=log,
                                       env=pinned.environment(), preexec_fn=pinned.end_with_parent)
        return Node(name, process, f"{self.host}:{client}", f"http://{self.host}:{monitor}")

    def _config(self, name, number):
        client, route, monitor = self.ports[number]
        lines = [f"server_name: {name}", f'listen: "{self.host}:{client}"', f'http: "{self.host}:{monitor}"',
                 f'jetstream {{ store_dir: "{self.folder / name}" }}']
        if len(self.ports) > 1:
            others = ", ".join(f"nats-route://{self.host}:{other}" for _, other, _ in self.ports)
            lines.append(f'cluster {{ name: bench, listen: "{self.host}:{route}", routes: [{others}] }}')
        return "\n".join(lines) + "\n"

    def asked(self, node, page):
        """Returns a page of a node's monitoring, or None while the node does not answer."""
        argv = [*self.way, "curl", "--silent", "--fail", "--max-time", "2", f"{node.monitor}/{page}"]
        ended = subprocess.run(argv, capture_output=True, text=True, check=False)
        return json.loads(ended.stdout) if ended.returncode == 0 else None

    def wait(self):
        """Waits until the nodes have a leader and are current."""
        awaited("the broker", self._is_up)

    def _is_up(self):
        pages = [self.asked(node, "jsz") for node in self.nodes]
        if None in pages or len(pages) == 1:
            return None not in pages
        # Only the leader reports the other nodes.
        leaders = [page["meta_cluster"] for page in pages if page.get("meta_cluster", {}).get("replicas")]
        return any(sum(one.get("current", False) and not one.get("offline") for one in leader["replicas"]) == len(pages) - 1
                   for leader in leaders)

    def stream_leader(self):
        """Returns the node that leads the stream of the current run, or None while there is none."""
        for node in self.nodes:
            page = self.asked(node, "jsz?streams=true&accounts=true") if node.process.poll() is None else None
            for account in (page or {}).get("account_details") or []:
                for stream in account.get("stream_detail") or []:
                    leader = (stream.get("cluster") or {}).get("leader")
                    return next((one for one in self.nodes if one.name == leader), None)
        return None

    def kill(self, node):
        """Kills a node, as a failing machine would. Returns the instant, in ns of CLOCK_MONOTONIC."""
        at = time.monotonic_ns()
        node.process.kill()
        node.process.wait()
        return at

    def restart(self, node):
        """Starts a killed node with its store."""
        index = self.nodes.index(node)
        self.nodes[index] = self._start(index)

    def close(self):
        """Ends all nodes."""
        for node in self.nodes:
            pinned.stop(node.process)


@contextlib.contextmanager
def broker(folder, way=(), host="127.0.0.1", count=NODES):
    """Runs a broker for as long as the block runs."""
    up = Broker(folder, way, host, count)
    try:
        up.wait()
        yield up
    finally:
        up.close()


def repeated(count, one_run):
    """Makes `count` runs. Returns (rows, failed); a run that fails is reported and not repeated."""
    rows, failed = [], {}
    for number in range(1, count + 1):
        try:
            rows.append(one_run())
            print({name: value for name, value in rows[-1].items() if name != "said"}, flush=True)
        except pinned.BenchError as error:
            failed[f"run {number}"] = str(error)
            print(f"bench: run {number}: {error}", flush=True)
    if not rows:
        raise pinned.BenchError(f"no run could be made: {failed}")
    return rows, failed


def awaited(what, is_there, within_sec=UP_WITHIN_SEC):
    """Polls a check until it returns a true value. Returns that value."""
    deadline = time.monotonic() + within_sec
    while time.monotonic() < deadline:
        found = is_there()
        if found:
            return found
        time.sleep(0.05)
    raise pinned.BenchError(f"{what}: not within {within_sec} s")


class Agents:
    """Agents, each on its own host or all on this one."""

    def __init__(self, folder, address, allow):
        self.folder, self.address, self.allow = pathlib.Path(folder), address, allow
        self.names, self.processes = [], []

    def start(self, ways, within_sec):
        """Starts an agent for each way, in groups, and waits until all say that they wait for runs."""
        for first in range(0, len(ways), START_TOGETHER):
            group = [(f"agent-{number}", way) for number, way in enumerate(ways[first:first + START_TOGETHER], first + 1)]
            self.names += [name for name, _ in group]
            self.processes += [self._start(name, way) for name, way in group]
            for name, process in zip(self.names[first:], self.processes[first:]):
                awaited(f"{name} at the broker", lambda: self._is_waiting(name, process), within_sec)

    def _start(self, name, way):
        argv = [*way, pinned.require_plimsoll(), "agent", "--join", self.address, "--name", name, "--allow", self.allow]
        with open(self._log(name), "wb") as log:
            return subprocess.Popen([str(word) for word in argv], stdout=log, stderr=log, preexec_fn=pinned.end_with_parent)

    def _log(self, name):
        return self.folder / f"{name}.log"

    def _is_waiting(self, name, process):
        text = self._log(name).read_text(encoding="utf-8", errors="replace")
        if process.poll() is not None:
            raise pinned.BenchError(f"{name} ended with {process.returncode}: {text[-400:]}")
        return "waits for runs" in text

    def close(self):
        """Ends all agents at the same time."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            pinned.stop(process)


@contextlib.contextmanager
def agents(folder, address, ways, allow, within_sec=UP_WITHIN_SEC):
    """Runs agents that wait for runs, for as long as the block runs."""
    running = Agents(folder, address, allow)
    try:
        running.start(ways, within_sec)
        yield running
    finally:
        running.close()


class Run:
    """A run of the fleet under way."""

    def __init__(self, folder, address, agents_count, load, way=()):
        self.folder = pathlib.Path(folder)
        argv = [*way, pinned.require_plimsoll(), "run", *load, "--fleet", address, "--agents", agents_count, "--no-probe",
                "--json", "--quiet", "--no-git", "--out", self.folder, "--name", "fleet"]
        self.argv = [str(word) for word in argv]
        with open(self.folder / "run.json", "wb") as out, open(self.folder / "run.log", "wb") as err:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            preexec_fn=pinned.end_with_parent)

    def file(self):
        """Returns its run file, or None before there is one."""
        return next(iter(self.folder.glob("*.plimsoll")), None)

    def said(self):
        """Returns what it wrote to standard error."""
        return (self.folder / "run.log").read_text(encoding="utf-8", errors="replace")

    def usage(self, limit_sec):
        """Waits for the end. Returns the resource usage as the kernel accounts it."""
        deadline = time.monotonic() + limit_sec
        while os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > deadline:
                raise pinned.BenchError(f"the run did not end within {limit_sec} s: {self.said()[-800:]}")
            time.sleep(0.01)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode not in MEASURED:
            raise pinned.BenchError(f"the run ended with {self.process.returncode}: {self.said()[-800:]}")
        return usage

    def document(self, limit_sec=REPORT_WITHIN_SEC):
        """Waits for the end. Returns its JSON document."""
        if self.process.returncode is None:
            self.usage(limit_sec)
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    def close(self):
        """Ends it if it still runs."""
        pinned.stop(self.process)


@contextlib.contextmanager
def run(folder, address, agents_count, load, way=()):
    """Makes a run for as long as the block runs."""
    going = Run(folder, address, agents_count, load, way)
    try:
        yield going
    finally:
        going.close()
