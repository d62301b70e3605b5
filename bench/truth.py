"""The truth at the target: `bench/recorder`, which records each connection and each request, and figures of its record."""

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
# The recorder gets a high priority, because a late target would record late instants.
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
    """All requests that the target received, in the order of arrival."""

    def __init__(self, requests):
        self.requests = sorted(requests, key=lambda one: one.arrived)

    def of_peers(self, peers):
        """Returns the requests from these addresses."""
        return Truth([one for one in self.requests if one.peer in peers])

    def after(self, instant_ns):
        """Returns the requests that came at this instant or later."""
        return Truth([one for one in self.requests if one.arrived >= instant_ns])

    def __len__(self):
        return len(self.requests)

    @property
    def began(self):
        """The instant of the first request."""
        return self.requests[0].arrived

    @property
    def ended(self):
        """The instant of the last answer."""
        return max(one.answered for one in self.requests)

    def between(self, from_ns, to_ns):
        """Returns how many requests came in that time."""
        return sum(from_ns <= one.arrived < to_ns for one in self.requests)

    def rate(self, from_sec, to_sec):
        """Returns requests per second between two times since the first request."""
        begins, ends = (self.began + round(at * 1e9) for at in (from_sec, to_sec))
        return self.between(begins, ends) / (to_sec - from_sec)

    def service_ms(self, percentile):
        """Returns a percentile of the service time, by nearest rank."""
        ordered = sorted(one.answered - one.arrived for one in self.requests)
        return nearest_rank(ordered, percentile) / 1e6

    def starts_apart_ms(self):
        """Returns the time from the first connection of the first generator to the first connection of the last one."""
        return spread_ms(self.first_of_peers("accepted"))

    def arrivals_apart_ms(self):
        """Returns the time from the first request of the first generator to the first request of the last one."""
        return spread_ms(self.first_of_peers("arrived"))

    def first_of_peers(self, instant):
        """Returns {peer: the earliest of its instants}."""
        first = {}
        for one in self.requests:
            first[one.peer] = min(first.get(one.peer, math.inf), getattr(one, instant))
        return first


def spread_ms(firsts):
    """Returns the time from the earliest to the latest."""
    return (max(firsts.values()) - min(firsts.values())) / 1e6


def nearest_rank(ordered, percentile):
    """Returns the percentile of a sorted list, by nearest rank."""
    if not ordered:
        raise pinned.BenchError("the target saw no request")
    return ordered[max(math.ceil(percentile / 100 * len(ordered)), 1) - 1]


def build():
    """Compiles the recorder; Go does nothing if it is up to date."""
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
        """Ends the recorder. Returns what it recorded."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=ENDS_WITHIN_SEC):
            raise pinned.BenchError(f"the recorder ended with {self.process.returncode}")
        return Truth(map(parsed, self.rows.read_text(encoding="ascii").splitlines()))


def parsed(line):
    """Parses a line of its file."""
    peer, *instants = line.split(",")
    host, port = peer.rsplit(":", 1)
    return Request(host, int(port), *map(int, instants))


def before_exec():
    """Prepares the recorder's process: it must not outlive this process, and must not be late."""
    pinned.end_with_parent()
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)


@contextlib.contextmanager
def recorder(folder, way=(), host="127.0.0.1", port=0, median_ms=0.0, sigma=0.0):
    """Runs a recorder for as long as the block runs; `way` are the words that begin a command on its host."""
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
