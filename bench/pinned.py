"""Processes pinned to a core, held and ended by their handles; no process is looked up by name."""

import contextlib
import ctypes
import os
import pathlib
import resource
import signal
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLIMSOLL = ROOT / "target" / "release" / "plimsoll"
# Where cargo and go put the tools they install, and where Debian puts servers.
TOOL_FOLDERS = (pathlib.Path.home() / ".cargo" / "bin", pathlib.Path.home() / "go" / "bin", pathlib.Path("/usr/sbin"))
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class BenchError(Exception):
    """A measurement that could not be made; the message says what to do about it."""


def environment():
    """Returns this process's environment, with the folders in which setup-bench installs."""
    path = os.pathsep.join([os.environ.get("PATH", "/usr/bin:/bin"), *map(str, TOOL_FOLDERS)])
    return {**os.environ, "PATH": path}


def cores():
    """Returns the core for clients and the core for servers."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise BenchError("two cores are needed, one for the client and one for the server; only one is allowed here")
    return allowed[0], allowed[1]


def raise_descriptor_limit():
    """Raises the soft limit of open files to the hard one, for this process and its children."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def require_descriptors(connections):
    """Raises an error if the hard limit of open files does not allow this many connections."""
    if raise_descriptor_limit() < connections + 500:
        raise BenchError(f"{connections} connections need a higher hard limit of open files (ulimit -Hn)")


def require_plimsoll():
    """Returns the release binary, or raises an error that says how to build it."""
    if not PLIMSOLL.exists():
        raise BenchError(f"{PLIMSOLL} is missing; run cargo build --release --locked")
    return PLIMSOLL


def end_with_parent():
    """Runs in a child before exec: a server must not outlive a benchmark that was killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(argv, core, **options):
    """Starts a process pinned to a core. taskset replaces itself, so the handle is the program's own."""
    pinned = ["taskset", "-c", str(core), *map(str, argv)]
    try:
        return subprocess.Popen(pinned, preexec_fn=end_with_parent, env=environment(), **options)
    except FileNotFoundError as error:
        raise BenchError(f"could not start {argv[0]}: {error}; run make setup-bench") from error


def stop(process):
    """Ends a process by its handle, with force if it has not gone after five seconds."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port():
    """Returns a port of loopback on which no process listens at this moment."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
