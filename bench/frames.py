"""What a run file of a fleet holds, read without Plimsoll: counts, gaps, rates and merged percentiles."""

import contextlib
import json
import math
import sqlite3

import hdr
import pinned

# Three significant digits: a value shares its place with others that differ by less than this.
RESOLUTION = 1 / 1024


@contextlib.contextmanager
def opened(file):
    """The file, to read; it may still be written."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)
    try:
        yield connection
    finally:
        connection.close()


def count(file):
    """Frames that are committed; 0 while there is no table yet."""
    try:
        with opened(file) as run:
            return run.execute("SELECT count(*) FROM frame").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def totals(file):
    """Requests by what became of them, over all frames."""
    with opened(file) as run:
        row = run.execute("SELECT count(*), sum(intended), sum(sent), sum(completed) FROM frame").fetchone()
        failed = [json.loads(text or "{}") for (text,) in run.execute("SELECT failed FROM frame")]
    return {**dict(zip(("frames", "intended", "sent", "completed"), row)), "failed": sum(sum(one.values()) for one in failed)}


def bytes_each(file):
    """The mean size of a frame's histograms as they are stored, which is nearly all of a frame."""
    with opened(file) as run:
        columns = [name for _, name, kind, *_ in run.execute("PRAGMA table_info(frame)") if kind == "BLOB"]
        sizes = " + ".join(f"coalesce(length({name}), 0)" for name in columns)
        return run.execute(f"SELECT avg({sizes}) FROM frame").fetchone()[0]


def missing(file):
    """Holes: a worker's frame that does not begin where the one before it ended, or the first of a worker that is not its interval 0."""
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
    """Frames that are there more than once."""
    with opened(file) as run:
        keys = run.execute("SELECT step, worker, interval, request, phase FROM frame").fetchall()
    return len(keys) - len(set(keys))


def rate(file, seconds):
    """Requests per second that the frames of the first seconds say were sent: those whose middle is in that time."""
    with opened(file) as run:
        began, = run.execute("SELECT min(began_ns) FROM frame").fetchone()
        end = began + round(seconds * 1e9)
        sent, = run.execute("SELECT sum(sent) FROM frame WHERE (began_ns + ended_ns) / 2 < ?", (end,)).fetchone()
    return (sent or 0) / seconds


class Percentiles:
    """Percentiles of all frames together."""

    def __init__(self, file, column):
        """`column` is `latency` (from the instant that was planned) or `service` (from the instant of sending)."""
        with opened(file) as run:
            # Where both are the same for each request of a frame, `latency` stands for both.
            rows = run.execute(f"SELECT coalesce({column}, latency) FROM frame")
            self.counts = sorted(hdr.merged(blob for (blob,) in rows).items())
        self.total = sum(number for _, number in self.counts)

    def __call__(self, percentile):
        """By nearest rank, in ms: the lowest value of the place in which it is."""
        rank = max(math.ceil(percentile / 100 * self.total), 1)
        for value, number in self.counts:
            rank -= number
            if rank <= 0:
                return value / 1e6
        raise pinned.BenchError("the run file holds no latency")
