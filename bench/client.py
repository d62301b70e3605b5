"""A client under measurement: on its own core, in its own folder, with the kernel's account of its CPU time and memory."""

import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import time

import pinned

# Linux derives the number of a process's CPU clock from its id. This part of it means "all threads, from the scheduler".
CPU_CLOCK_OF_PROCESS = 2


@dataclasses.dataclass
class Ended:
    """The kernel's account of a client that has ended, and the client's output."""

    returncode: int
    cpu_sec: float
    wall_sec: float
    peak_bytes: int
    stdout: str
    stderr: str


def status_kib(pid, field):
    """Returns a field of /proc/PID/status in KiB, or 0 if the process has gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) if found else 0


def family(pid):
    """Returns a process and all its descendants."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for children in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text(encoding="ascii").split())
    return found


def cpu_sec_of(pid):
    """Returns the CPU time so far of a process and all its descendants, in nanosecond resolution, with threads that ended."""
    return sum(time.clock_gettime((~member << 3) | CPU_CLOCK_OF_PROCESS) for member in family(pid))


class Running:
    """A client that was started."""

    def __init__(self, argv, folder):
        self.name = pathlib.Path(argv[0]).name
        self.folder = pathlib.Path(folder)
        self.began = time.monotonic()
        core, _ = pinned.cores()
        with open(self.folder / "stdout", "wb") as out, open(self.folder / "stderr", "wb") as err:
            self.process = pinned.start(argv, core, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def alive(self):
        """Whether it still runs. Does not reap it, because its usage is read later."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def cpu_sec(self):
        """Returns the CPU time of its processes so far."""
        try:
            return cpu_sec_of(self.process.pid)
        except OSError as error:
            raise pinned.BenchError(f"{self.name} ended while it was measured: {self.said()}") from error

    def said(self):
        """Returns the end of its output, for an error."""
        texts = [(self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("stderr", "stdout")]
        return (texts[0].strip() or texts[1].strip())[-800:]

    def finish(self, limit_sec, accepted=(0,)):
        """Waits for the end and reads the account.

        A child starts its ru_maxrss at the resident size of this interpreter, from before exec. Up to that floor the figure is
        the interpreter's, so the last VmHWM read while the child ran is used instead.
        """
        floor_kib, seen_kib = status_kib("self", "VmHWM"), 0
        deadline = time.monotonic() + limit_sec
        while self.alive():
            if time.monotonic() > deadline:
                raise pinned.BenchError(f"{self.name} did not end within {limit_sec} s: {self.said()}")
            seen_kib = max(seen_kib, status_kib(self.process.pid, "VmHWM"))
            time.sleep(0.05)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode not in accepted:
            raise pinned.BenchError(f"{self.name} ended with {self.process.returncode}: {self.said()}")
        peak_kib = usage.ru_maxrss if usage.ru_maxrss > floor_kib else seen_kib
        texts = [(self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("stdout", "stderr")]
        wall_sec = time.monotonic() - self.began
        return Ended(self.process.returncode, usage.ru_utime + usage.ru_stime, wall_sec, peak_kib * 1024, *texts)


@contextlib.contextmanager
def running(argv, folder):
    """Runs a client for as long as the block runs, and ends it if it has not ended by itself."""
    client = Running(argv, folder)
    try:
        yield client
    finally:
        pinned.stop(client.process)
