"""The steady part of one client's run against nginx: CPU time and requests between two instants.

Every tool starts, connects and ends in its own way, some at great cost, and that cost shrinks with a longer run. So it is left
out, for all tools in the same way. The client runs for longer than the measured window on both sides. The window opens once the
time for connecting is over (nginx must then have all connections), and closes while the client still sends. At both ends, the CPU
time of the client's and of nginx's processes is read from the kernel, and the count of requests from nginx. The CPU time is read
before and after nginx has answered, and the middle is used, so that a slow answer of a busy nginx shifts both ends alike.

On the loopback a sender's core also does the receiver's network work, so a client can be cheap at its server's cost. The
sum of both sides shows that.
"""

import dataclasses
import math
import tempfile
import time

import client
import pinned

TAIL_SEC = 1
CONNECTED_RATIO_MIN = 0.98


@dataclasses.dataclass
class Instant:
    """The use of resources and the work of both sides so far."""

    client_sec: float
    server_sec: float
    wall_sec: float
    requests: int
    connections: int


def lead_sec(connections):
    """Returns the time for starting, connecting and warming up before the window."""
    return 1 + math.ceil(connections / 2000)


def asked_sec(connections, seconds):
    """Returns the duration that the tool is run for, in whole seconds because wrk takes no others."""
    return lead_sec(connections) + math.ceil(seconds) + TAIL_SEC


def instant(nginx, running):
    """Reads the account of both sides at one instant."""
    before = running.cpu_sec(), nginx.cpu_sec(), time.monotonic()
    connections, requests = nginx.status()
    after = running.cpu_sec(), nginx.cpu_sec(), time.monotonic()
    client_sec, server_sec, wall_sec = ((early + late) / 2 for early, late in zip(before, after))
    return Instant(client_sec, server_sec, wall_sec, requests, connections)


def measure(nginx, argv, connections, seconds, accepted=(0,)):
    """Runs a client to its end. Returns the steady figures and the ended client."""
    begun = nginx.settled_requests()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, client.running(argv, folder) as running:
        time.sleep(lead_sec(connections))
        opened = instant(nginx, running)
        time.sleep(seconds)
        closed = instant(nginx, running)
        if not running.alive():
            raise pinned.BenchError(f"{running.name} ended before its window did: {running.said()}")
        ended = running.finish(limit_sec=seconds + 120, accepted=accepted)
    total = nginx.settled_requests() - begun
    require_connected(running.name, connections, opened.connections)
    return figures(opened, closed, total, ended), ended


def require_connected(name, connections, seen):
    """Raises an error if a client holds too few connections, because it then does other work than the rest."""
    if seen < CONNECTED_RATIO_MIN * connections:
        raise pinned.BenchError(f"{name} held {seen} of {connections} connections when its window opened")


def figures(opened, closed, total, ended):
    """Returns the figures of one run."""
    cpu_sec, server_sec = closed.client_sec - opened.client_sec, closed.server_sec - opened.server_sec
    requests, wall_sec = closed.requests - opened.requests, closed.wall_sec - opened.wall_sec
    if requests == 0:
        raise pinned.BenchError("nginx counted no request within the window")
    return {
        "us_per_request": cpu_sec / requests * 1e6,
        "server_us_per_request": server_sec / requests * 1e6,
        "both_us_per_request": (cpu_sec + server_sec) / requests * 1e6,
        "requests_per_sec": requests / wall_sec,
        "core_ratio": cpu_sec / wall_sec,
        "window": {"cpu_sec": cpu_sec, "server_cpu_sec": server_sec, "requests": requests, "wall_sec": wall_sec},
        "whole_run": {"cpu_sec": ended.cpu_sec, "requests": total, "wall_sec": ended.wall_sec},
        "peak_bytes": ended.peak_bytes,
    }
