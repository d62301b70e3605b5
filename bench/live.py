#!/usr/bin/env python3
"""What `--live` costs: client CPU per request with and without it, at one fixed rate, in pairs.

The load is an open loop, so that both runs do the same work. With `--live`, a reader is attached to the event stream from the first
second to the end, as a page is. The target counts the requests. CPU time is the kernel's, over all threads of the client from its start to
its end: it includes making and sending the documents, and the last document, but not the reader. The ratio of two runs varies by more
than the page costs, so the CPU time of the page's own threads is read during the run, too.
"""

import contextlib
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

import client
import judge
import pinned
import results
import rounds
import servers

GOAL_RATIO = 1.01
# `live` serves the page, `live document` makes its documents.
PAGE_THREADS = "live"
WITHOUT, WITH = "without", "--live"
CONFIDENCE = 0.95


def command(address, rate, seconds, *more):
    """Returns the command of the load, which is the same with and without the page."""
    return [pinned.PLIMSOLL, "run", f"http://{address}/", "-R", rate, "-d", f"{seconds}s", "-t", 1, "--no-files", "--json", *more]


def answered(address):
    """Returns the number of requests that the target has answered, without those to this counter."""
    with urllib.request.urlopen(f"http://{address}/stats", timeout=10) as answer:
        return json.load(answer)["requests"]


def events_url(running):
    """Returns the URL of the event stream, once the client has printed the page's URL."""
    for _ in range(200):
        found = re.search(r"http://\S+/\?token=\S+", (running.folder / "stderr").read_text(encoding="utf-8", errors="replace"))
        if found:
            return found.group(0).replace("/?", "/events?")
        time.sleep(0.01)
    raise pinned.BenchError(f"no URL of a page within two seconds: {running.said()}")


@contextlib.contextmanager
def reader(running, path):
    """Runs curl on the event stream, on the server's core. It ends with the stream."""
    _, core = pinned.cores()
    with open(path, "wb") as out:
        process = pinned.start(["curl", "--silent", "--no-buffer", events_url(running)], core, stdout=out, stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            pinned.stop(process)


def add_page_threads(pid, cpu_sec):
    """Reads the CPU time so far of each thread of the page. A thread that has ended keeps its last value."""
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                if (task / "comm").read_text(encoding="utf-8").startswith(PAGE_THREADS):
                    cpu_sec[task.name] = int((task / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9


@contextlib.contextmanager
def page_threads(pid):
    """Reads the CPU time of the page's threads every tenth of a second."""
    cpu_sec, over = {}, threading.Event()

    def watch():
        while not over.wait(0.1):
            add_page_threads(pid, cpu_sec)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield cpu_sec
    finally:
        over.set()
        watcher.join()


def documents(path):
    """Returns how many documents the reader got, and the size of the last one."""
    lines = [line for line in pathlib.Path(path).read_bytes().splitlines() if line.startswith(b"data: {")]
    return {"documents": len(lines), "last_document_bytes": len(lines[-1]) if lines else 0}


def one_run(address, contender, options):
    """Makes one run, with or without the page."""
    live = contender == WITH
    argv = command(address, options.rate, options.seconds, *(["--live"] if live else []))
    begun = answered(address)
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, client.running(argv, folder) as running:
        stream = pathlib.Path(folder) / "events"
        with page_threads(running.process.pid) as page, reader(running, stream) if live else contextlib.nullcontext():
            ended = running.finish(limit_sec=options.seconds + 60)
        read = {"page_share": sum(page.values()) / ended.cpu_sec, **documents(stream)} if live else {}
    requests = answered(address) - begun
    if live and read["documents"] < 2:
        raise pinned.BenchError(f"the reader got {read['documents']} documents; nothing of --live was measured")
    return {"us_per_request": ended.cpu_sec / requests * 1e6, "cpu_sec": ended.cpu_sec, "requests": requests, **read}


def ratios(rows):
    """Returns the cost with the page over the cost without it, of each pair."""
    without = {row["round"]: row["us_per_request"] for row in rows if row["contender"] == WITHOUT}
    return [row["us_per_request"] / without[row["round"]] for row in rows
            if row["contender"] == WITH and row["round"] in without]


def median_interval(values):
    """Returns order statistics that contain the median with at least this confidence, for any distribution (Conover, 1999, section 3.2)."""
    count, ordered = len(values), sorted(values)
    low, outside = 0, 0.5**count
    while low + 1 < count // 2 and 2 * (outside + math.comb(count, low + 1) * 0.5**count) <= 1 - CONFIDENCE:
        low += 1
        outside += math.comb(count, low) * 0.5**count
    return ordered[low], ordered[count - 1 - low]


def measure():
    """Measures all pairs, then makes the table."""
    parser = results.arguments(__doc__, rounds=11, seconds=10, rate=20_000)
    options = parser.parse_args()
    before = results.measured_before("live", options)
    if before is not None:
        return before
    with servers.target() as address:
        rows, failed = rounds.run(options.rounds, [WITHOUT, WITH], lambda name: one_run(address, name, options))
    found = ratios(rows)
    if len(found) < 7:
        raise pinned.BenchError(f"{len(found)} pairs were measured, 7 are needed: {failed}")
    ratio = statistics.median(found)
    document = {"ratio": ratio, "interval": median_interval(found), "goal_ratio": GOAL_RATIO, "failed": failed, "runs": rows}
    return results.save("live", options, document, render(document, options), not failed and ratio <= GOAL_RATIO)


def render(document, options):
    """Returns a row with the page and one without it, then the goal."""
    rows, (low, high) = document["runs"], document["interval"]
    lines = []
    for name in (WITHOUT, WITH):
        costs = rounds.of(rows, name, "us_per_request")
        size = rounds.median(rows, name, "last_document_bytes")
        lines.append([name, judge.cell(statistics.median(costs), 2), f"{min(costs):.2f} to {max(costs):.2f}",
                      judge.cell(rounds.median(rows, name, "requests"), 0), judge.cell(rounds.median(rows, name, "documents"), 0),
                      judge.cell(size, 0, 1e-3)])
    header = ["page", "µs/request", "runs", "requests", "documents", "last one, kB"]
    shares = sorted(row["page_share"] for row in rows if row["contender"] == WITH)
    word = "met" if document["ratio"] <= GOAL_RATIO else "**missed**"
    example = " ".join(map(str, ["plimsoll", *command("127.0.0.1:PORT", options.rate, options.seconds, "--live")[1:]]))
    return (f"## A run with its page open, {options.rate} requests/s\n\n{judge.markdown(header, lines)}\n"
            f"- {word}: CPU a request {document['ratio']:.3f} × without ({low:.3f} to {high:.3f}, {CONFIDENCE:.0%}, "
            f"{len(ratios(rows))} pairs), goal ≤ {GOAL_RATIO:.2f} ×\n"
            f"- of its CPU time the page's own threads used {statistics.median(shares):.2%} ({shares[0]:.2%} to {shares[-1]:.2%})\n"
            f"{judge.unmeasured(document['failed'])}\n```console\n{example}\n```\n")


if __name__ == "__main__":
    results.main(measure)
