"""Reads a run file of a fleet without Plimsoll: counts, gaps, rates and merged percentiles."""

import contextlib
import json
import math
import sqlite3

import hdr
import pinned

# Three significant digits: values that differ by less than this share a bucket.
RESOLUTION = 1 / 1024


@contextlib.contextmanager
def opened(file):
    """Opens the file read-only; it may still be written."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)
    try:
        yield connection
    finally:
        connection.close()


def count(file):
    """Returns the number of committed frames; 0 while there is no table yet."""
    try:
        with opened(file) as run:
            return run.execute("SELECT count(*) FROM frame").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def totals(file):
    """Returns the requests by outcome, over all frames."""
    with opened(file) as run:
        row = run.execute("SELECT count(*), sum(intended), sum(sent), sum(completed) FROM frame").fetchone()
        failed = [json.loads(text or "{}") for (text,) in run.execute("SELECT failed FROM frame")]
    return {**dict(zip(("frames", "intended", "sent", "completed"), row)), "failed": sum(sum(one.values()) for one in failed)}


def bytes_each(file):
    """Returns the mean size of a frame's stored histograms, which are nearly all of a frame."""
    with opened(file) as run:
        columns = [name for _, name, kind, *_ in run.execute("PRAGMA table_info(frame)") if kind == "BLOB"]
        sizes = " + ".join(f"coalesce(length({name}), 0)" for name in columns)
        return run.execute(f"SELECT avg({sizes}) FROM frame").fetchone()[0]


def missing(file):
    """Counts holes: a worker's frame that does not begin where the one before it ended, or a first frame that is not interval 0."""
    with opened(file) as run:
        rows = run.execute("SELECT step, worker, interval, began_ns, ended_ns FROM frame WHERE request = 0 "
                           "ORDER BY step, worker, began_ns").fetchall()
    holes, before = 0, None
    for step, worker, interval, began, ended in rows:
        same = before is not None and before[0] == (step, worker)
        holes += began != before[1] if same else interval != 0
        before = ((step, worker), ended)
    return holes


def doubled(file):
    """Counts the frames that are there more than once."""
    with opened(file) as run:
        keys = run.execute("SELECT step, worker, interval, request, phase FROM frame").fetchall()
    return len(keys) - len(set(keys))


def rate(file, seconds):
    """Returns requests sent per second, from the frames whose middle is in the first `seconds`."""
    with opened(file) as run:
        began, = run.execute("SELECT min(began_ns) FROM frame").fetchone()
        end = began + round(seconds * 1e9)
        sent, = run.execute("SELECT sum(sent) FROM frame WHERE (began_ns + ended_ns) / 2 < ?", (end,)).fetchone()
    return (sent or 0) / seconds


class Percentiles:
    """Percentiles of all frames together."""

    def __init__(self, file, column):
        """`column` is `latency` (from the planned instant) or `service` (from the instant of sending)."""
        with opened(file) as run:
            # If both are the same for each request of a frame, only `latency` is stored.
            rows = run.execute(f"SELECT coalesce({column}, latency) FROM frame")
            self.counts = sorted(hdr.merged(blob for (blob,) in rows).items())
        self.total = sum(number for _, number in self.counts)

    def __call__(self, percentile):
        """Returns a percentile in ms, by nearest rank: the lowest value of its bucket."""
        rank = max(math.ceil(percentile / 100 * self.total), 1)
        for value, number in self.counts:
            rank -= number
            if rank <= 0:
                return value / 1e6
        raise pinned.BenchError("the run file holds no latency")
