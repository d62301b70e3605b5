"""The truth at the target: `bench/recorder`, which writes down each connection and each request, and figures of what it wrote."""

import contextlib
import dataclasses
import math
import os
import pathlib
import signal
import subprocess

import pinned

SOURCE = pinned.ROOT / "bench" / "recorder"
PROGRAM = pinned.ROOT / "bench" / "out" / "recorder"
ENDS_WITHIN_SEC = 30
# A target that is late writes down instants that are late.
NICE = -15


@dataclasses.dataclass
class Request:
    """One request; instants are nanoseconds of CLOCK_MONOTONIC of the target's machine."""

    peer: str
    port: int
    accepted: int
    arrived: int
    answered: int


class Truth:
    """Everything that the target saw, in the order of arrival."""

    def __init__(self, requests):
        self.requests = sorted(requests, key=lambda one: one.arrived)

    def of_peers(self, peers):
        """What came from these addresses."""
        return Truth([one for one in self.requests if one.peer in peers])

    def after(self, instant_ns):
        """What came at this instant or later."""
        return Truth([one for one in self.requests if one.arrived >= instant_ns])

    def __len__(self):
        return len(self.requests)

    @property
    def began(self):
        """When the first request came."""
        return self.requests[0].arrived

    @property
    def ended(self):
        """When the last answer was out."""
        return max(one.answered for one in self.requests)

    def between(self, from_ns, to_ns):
        """How many requests came in that time."""
        return sum(from_ns <= one.arrived < to_ns for one in self.requests)

    def rate(self, from_sec, to_sec):
        """Requests per second between two times since the first one."""
        begins, ends = (self.began + round(at * 1e9) for at in (from_sec, to_sec))
        return self.between(begins, ends) / (to_sec - from_sec)

    def service_ms(self, percentile):
        """A percentile of the service time by nearest rank."""
        ordered = sorted(one.answered - one.arrived for one in self.requests)
        return nearest_rank(ordered, percentile) / 1e6

    def starts_apart_ms(self):
        """From the first connection of the first generator to the first connection of the last one."""
        return spread_ms(self.first_of_peers("accepted"))

    def arrivals_apart_ms(self):
        """The same of their first requests."""
        return spread_ms(self.first_of_peers("arrived"))

    def first_of_peers(self, instant):
        """{peer: the earliest of its instants}."""
        first = {}
        for one in self.requests:
            first[one.peer] = min(first.get(one.peer, math.inf), getattr(one, instant))
        return first


def spread_ms(firsts):
    """From the earliest to the latest."""
    return (max(firsts.values()) - min(firsts.values())) / 1e6


def nearest_rank(ordered, percentile):
    """The value of a sorted list below or at which so many per cent of it are."""
    if not ordered:
        raise pinned.BenchError("the target saw no request")
    return ordered[max(math.ceil(percentile / 100 * len(ordered)), 1) - 1]


def build():
    """Compiles the recorder; Go does nothing where it is up to date."""
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    built = subprocess.run(["go", "build", "-o", PROGRAM, "."], cwd=SOURCE, capture_output=True, text=True, check=False,
                           env=pinned.environment())
    if built.returncode:
        raise pinned.BenchError(f"go could not build {SOURCE}: {built.stderr[-500:]}")


class Recorder:
    """A running recorder."""

    def __init__(self, process, address, rows):
        self.process, self.address, self.rows = process, address, rows

    def truth(self):
        """Ends it; what it saw."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=ENDS_WITHIN_SEC):
            raise pinned.BenchError(f"the recorder ended with {self.process.returncode}")
        return Truth(map(parsed, self.rows.read_text(encoding="ascii").splitlines()))


def parsed(line):
    """A line of its file."""
    peer, *instants = line.split(",")
    host, port = peer.rsplit(":", 1)
    return Request(host, int(port), *map(int, instants))


def before_exec():
    """It must not outlive this process, and must not be late."""
    pinned.end_with_parent()
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)


@contextlib.contextmanager
def recorder(folder, way=(), host="127.0.0.1", port=0, median_ms=0.0, sigma=0.0):
    """A recorder for as long as the block runs; `way` are the words that begin a command on its host."""
    rows = pathlib.Path(folder) / "rows.csv"
    argv = [*way, PROGRAM, "-listen", f"{host}:{port}", "-rows", rows, "-median", f"{median_ms}ms", "-sigma", sigma]
    process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True, preexec_fn=before_exec)
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise pinned.BenchError("the recorder did not say its address; its message stands above")
        yield Recorder(process, address, rows)
    finally:
        pinned.stop(process)
        process.stdout.close()
