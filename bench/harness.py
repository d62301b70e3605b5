"""What every benchmark stands on: nginx on one core, a client on another, and an honest count of both.

The requests are counted by nginx, the CPU time by the kernel, so no tool is judged by its own figures. Every process
is started here, held by its handle and ended by it; nothing is looked for by name.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import http.client
import json
import os
import pathlib
import platform
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLIMSOLL = ROOT / "target" / "release" / "plimsoll"
BODY = '{"status":"ok"}'
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class BenchError(Exception):
    """A measurement that could not be made, with what to do about it."""


def cores():
    """The core for clients and the core for servers."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise BenchError("two cores are needed, one for the client and one for the server; only one is allowed here")
    return allowed[0], allowed[1]


def raise_descriptor_limit():
    """Lifts the soft limit of open files to the hard one, for this process and its children."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def end_with_parent():
    """Run in a child before exec: a server must not outlive a benchmark that was killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(argv, core, **options):
    """Starts a process pinned to a core. taskset replaces itself, so the handle is the program's own."""
    pinned = ["taskset", "-c", str(core), *map(str, argv)]
    try:
        return subprocess.Popen(pinned, preexec_fn=end_with_parent, **options)
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


@dataclasses.dataclass
class Client:
    """What the kernel says of a client that has ended, and what the client said."""

    returncode: int
    cpu_sec: float
    wall_sec: float
    peak_bytes: int
    stdout: str
    stderr: str


def high_water_bytes(pid):
    """The process's own peak of resident memory so far, or 0 when it has gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def wait_with_usage(process, limit_sec):
    """Waits for the end; returns exit code, CPU seconds, peak bytes.

    A child starts its ru_maxrss at the resident size of this interpreter, from before exec. Below that floor the
    figure is the interpreter's, so the last VmHWM seen while the child ran is taken instead.
    """
    floor_bytes = high_water_bytes("self")
    deadline, seen_bytes = time.monotonic() + limit_sec, 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise BenchError(f"{process.args[3]} did not end within {limit_sec} s")
        seen_bytes = max(seen_bytes, high_water_bytes(process.pid))
        time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    exact_bytes = usage.ru_maxrss * 1024
    peak_bytes = exact_bytes if exact_bytes > floor_bytes else seen_bytes
    return process.returncode, usage.ru_utime + usage.ru_stime, peak_bytes


def run_client(argv, limit_sec, accepted=(0,)):
    """Runs a client on the client's core, in an empty folder, to its end."""
    client_core, _ = cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        out, err = pathlib.Path(folder, "stdout"), pathlib.Path(folder, "stderr")
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            began = time.monotonic()
            process = start(argv, client_core, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
            try:
                code, cpu_sec, peak_bytes = wait_with_usage(process, limit_sec)
            finally:
                stop(process)
            wall_sec = time.monotonic() - began
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
    if code not in accepted:
        raise BenchError(f"{' '.join(map(str, argv))} ended with {code}:\n{texts[1] or texts[0]}")
    return Client(code, cpu_sec, wall_sec, peak_bytes, *texts)


class Nginx:
    """A running nginx with one worker, and its own count of requests."""

    def __init__(self, process, port):
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"
        self.accepted_connections = 0
        self._own_requests = 0

    def _status(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", "/stub")
            text = connection.getresponse().read().decode("ascii")
        self._own_requests += 1
        counts = re.search(r"^\s*(\d+)\s+\d+\s+(\d+)\s*$", text, re.MULTILINE)
        accepted, total = map(int, counts.groups())
        # Each of this harness's own questions is a connection of its own.
        self.accepted_connections = accepted - self._own_requests
        active = int(re.search(r"Active connections:\s*(\d+)", text).group(1))
        return active, total - self._own_requests

    def settled_requests(self):
        """Requests of clients so far, asked again until this question's is the only connection."""
        for _ in range(200):
            active, total = self._status()
            if active == 1:
                return total
            time.sleep(0.05)
        raise BenchError("nginx still has connections ten seconds after the client ended")

    def ready(self):
        """Whether it answers. A refused connection was no request."""
        try:
            self._status()
        except OSError:
            return False
        return True


def nginx_config(folder, port, descriptors):
    """One worker, no logs, no end to a keep-alive connection, an answer from memory.

    `/paced` answers after 5 ms and at most 5000 times a second, so its limit is nginx's own and known beforehand.
    """
    return f"""
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off;
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections {descriptors - 64}; multi_accept on; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    default_type application/json;
    limit_req_zone $server_addr zone=paced:1m rate=5000r/s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=65535;
        location = /stub {{ stub_status; }}
        location = /paced {{
            limit_req zone=paced burst=100000;
            limit_req_log_level info;
            echo_sleep 0.005;
            echo '{BODY}';
        }}
        location / {{ return 200 '{BODY}'; }}
    }}
}}
"""


def free_port():
    """A port of loopback that nobody listens on at this moment."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_nginx(nginx, folder):
    """Returns once it answers; says what it logged when it does not."""
    for _ in range(200):
        if nginx.process.poll() is not None:
            break
        if nginx.ready():
            return
        time.sleep(0.05)
    log = pathlib.Path(folder, "error.log")
    raise BenchError(f"nginx did not start: {log.read_text() if log.exists() else 'no log'}")


@contextlib.contextmanager
def nginx_server():
    """nginx on the server's core for as long as the block runs."""
    _, server_core = cores()
    descriptors = min(raise_descriptor_limit(), 200_000)
    with tempfile.TemporaryDirectory(prefix="plimsoll-nginx-") as folder:
        port = free_port()
        config = pathlib.Path(folder, "nginx.conf")
        config.write_text(nginx_config(folder, port, descriptors), encoding="ascii")
        path = os.environ["PATH"] + ":/usr/sbin"
        argv = ["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", config]
        process = start(argv, server_core, env={**os.environ, "PATH": path}, stderr=subprocess.DEVNULL)
        try:
            nginx = Nginx(process, port)
            await_nginx(nginx, folder)
            yield nginx
        finally:
            stop(process)


@contextlib.contextmanager
def plimsoll_target():
    """Plimsoll's reference server on the server's core; yields its address, `host:port`."""
    _, server_core = cores()
    raise_descriptor_limit()
    argv = [require_plimsoll(), "target", "--port", "0"]
    process = start(argv, server_core, stdout=subprocess.PIPE, text=True)
    try:
        first_line = process.stdout.readline()
        found = re.search(r"\d+\.\d+\.\d+\.\d+:\d+", first_line)
        if not found:
            raise BenchError(f"the target did not say its address on its first line: {first_line!r}")
        yield found.group(0)
    finally:
        stop(process)
        process.stdout.close()


def require_plimsoll():
    """The release binary, or what to do to get it."""
    if not PLIMSOLL.exists():
        raise BenchError(f"{PLIMSOLL} is missing; run cargo build --release --locked")
    return PLIMSOLL


def counted(nginx, argv, limit_sec, accepted=(0,)):
    """Runs a client against nginx; returns it with the requests nginx counted meanwhile."""
    before = nginx.settled_requests()
    client = run_client(argv, limit_sec, accepted)
    return client, nginx.settled_requests() - before


def interleaved(rounds, tools):
    """(round, tool) for every tool in every round; each round begins with another tool, so none is always first."""
    for index in range(rounds):
        shift = index % len(tools)
        for tool in tools[shift:] + tools[:shift]:
            yield index, tool


def median(values):
    """The middle one of some values, as one figure of several rounds."""
    return statistics.median(values)


def markdown_table(header, rows):
    """A table of already formatted cells."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def goal(text, held):
    """One line of verdict under a table."""
    return f"- {'held' if held else '**missed**'}: {text}\n"


def save(name, folder, document, text, held):
    """Writes NAME.json and NAME.md, prints the text, returns the exit code: 3 when a goal was missed."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"benchmark": name, "machine": machine(), "goals_held": held, **document}
    (folder / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if held else 3


def arguments(description, **defaults):
    """Parses `--out` and one numeric flag for each default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "out", help="folder of the results")
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"default {default}")
    return parser.parse_args()


def main(measure):
    """Runs a benchmark's function, which returns its exit code; 1 when it could not be made."""
    try:
        sys.exit(measure())
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)


def first_line(argv):
    """What a tool says of its version, in a line."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "not known"
    return ((answer.stdout + answer.stderr).strip().splitlines() or ["not known"])[0]


def machine():
    """Where the figures come from."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return {
        "processor": model.group(1) if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "commit": first_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "plimsoll": first_line([str(PLIMSOLL), "--version"]),
        "nginx": first_line(["/usr/sbin/nginx", "-v"]),
        "wrk": first_line(["wrk", "-v"]),
        "ab": first_line(["ab", "-V"]),
    }


if __name__ == "__main__":
    print("# Plimsoll beside other tools\n")
    print("".join(f"- {name}: {value}\n" for name, value in machine().items()))
