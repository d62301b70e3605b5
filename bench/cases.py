"""The cases on which the engine's CPU cost is measured, with their goals."""

import dataclasses

import nginx_config
import tools

DRIVERS = ("epoll", "io_uring")


@dataclasses.dataclass(frozen=True)
class Goal:
    """Plimsoll's figure is at most `at_most` times the peer's; for `p50_us`, it differs by at most that many µs."""

    peer: str
    at_most: float
    figure: str = "us_per_request"


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of load. `tools.py` turns its fields into command lines."""

    name: str
    title: str
    connections: int
    goals: tuple
    peers: tuple = ("wrk",)
    site: str = "plain"
    path: str = "/"
    answer_bytes: int = len(nginx_config.BODY)
    post: bool = False
    streams: int = 1
    pipeline: int = 1
    script: str = ""
    percentiles: bool = False
    probed: bool = False


CASES = (
    Case("one", "GET small, 1 connection", 1, (Goal("wrk", 2.0, "p50_us"),), percentiles=True),
    Case("get-100", "GET small, 100 connections", 100,
         (Goal("wrk", 0.80), Goal("ab", 0.80), Goal("gcannon", 0.95)), ("wrk", "ab", "gcannon")),
    Case("get-1000", "GET small, 1000 connections", 1000,
         (Goal("wrk", 0.68), Goal("gcannon", 0.85)), ("wrk", "ab", "gcannon")),
    Case("get-10000", "GET small, 10,000 connections", 10_000,
         (Goal("wrk", 0.65), Goal("wrk", 0.50, "peak_bytes"), Goal("gcannon", 0.95)), ("wrk", "gcannon")),
    Case("post-100", "POST with a 1.5 KB answer, 100 connections", 100, (Goal("wrk", 0.80),),
         path="/records", answer_bytes=len(nginx_config.RECORDS), post=True),
    Case("large-100", "GET 100 KB, 100 connections", 100, (Goal("wrk", 0.36), Goal("oha", 0.60)), ("wrk", "oha"),
         path="/large", answer_bytes=nginx_config.LARGE_BYTES),
    Case("https-100", "HTTPS small, 100 connections", 100, (Goal("wrk", 0.90),), site="tls"),
    Case("h2-1", "HTTP/2 over TLS, 100 connections × 1 stream", 100, (Goal("h2load", 0.85),), ("h2load",), site="h2"),
    Case("h2-32", "HTTP/2 over TLS, 100 connections × 32 streams", 100, (Goal("h2load", 0.85),), ("h2load",),
         site="h2", streams=32),
    Case("pipeline-16", "GET small, 100 connections, pipelining 16", 100, (Goal("wrk", 0.80),), pipeline=16),
    Case("lua-100", "Lua request() for each request, 100 connections", 100, (Goal("wrk", 1.00),),
         script="request.lua"),
    Case("probed-100", "GET small, 100 connections, the server's host sampled", 100,
         (Goal("plimsoll --no-probe", 1.02),), ("plimsoll --no-probe",), probed=True),
)
BY_NAME = {case.name: case for case in CASES}


def contenders(case, drivers):
    """Returns the peers that take part, and Plimsoll once for each driver. With wrk's command line, and in the case that compares
    Plimsoll with itself, Plimsoll chooses its driver."""
    peers = [peer for peer in case.peers if tools.takes_part(peer)]
    if case.probed:
        return [*peers, "plimsoll"]
    ours = ["plimsoll wrk"] if case.script else [f"plimsoll {driver}".strip() for driver in drivers]
    return [*peers, *ours]
