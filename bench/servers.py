"""The servers under load, each on the server's core: nginx with one worker, and Plimsoll's own target."""

import contextlib
import http.client
import pathlib
import re
import ssl
import subprocess
import tempfile
import time
import urllib.request

import client
import nginx_config
import pinned

SITES = ("plain", "tls", "h2")
SCHEMES = {"plain": "http", "tls": "https", "h2": "https"}


class Nginx:
    """A running nginx with its own count of requests, over all its ports."""

    def __init__(self, ports, config, folder):
        self.ports = ports
        self.config = config
        self.folder = pathlib.Path(folder)
        self.process = None
        self._own_requests = 0
        # If root starts nginx, its worker runs as another user, which must be able to read the large file.
        self.folder.chmod(0o755)

    def url(self, site="plain", path="/"):
        """Returns the URL of a location."""
        return f"{SCHEMES[site]}://127.0.0.1:{self.ports[site]}{path}"

    def cpu_sec(self):
        """Returns the CPU time of its processes so far."""
        return client.cpu_sec_of(self.process.pid)

    def status(self):
        """Returns (connections of clients, requests of clients) so far, without the harness's own requests."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["plain"], timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/stub")
            text = connection.getresponse().read().decode("ascii")
        self._own_requests += 1
        total = int(re.search(r"^\s*\d+\s+\d+\s+(\d+)\s*$", text, re.MULTILINE).group(1))
        active = int(re.search(r"Active connections:\s*(\d+)", text).group(1))
        return active - 1, total - self._own_requests

    def require_answer(self, site, path, method, body_bytes):
        """Raises an error unless the answer is 200 and of the expected size, so that no tool is measured on an error page."""
        context = ssl._create_unverified_context()  # Its certificate is the one made a moment ago.
        request = urllib.request.Request(self.url(site, path), method=method, data=b"{}" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                found = len(answer.read())
        except OSError as error:
            raise pinned.BenchError(f"nginx does not answer {method} {path} as the case means it: {error}") from error
        self._own_requests += 1
        if found != body_bytes:
            raise pinned.BenchError(f"nginx answers {method} {path} with {found} bytes, {body_bytes} are meant")

    def settled_requests(self):
        """Returns the requests of clients so far, once no client is connected any more."""
        for _ in range(400):
            active, total = self.status()
            if active == 0:
                return total
            time.sleep(0.05)
        raise pinned.BenchError("nginx still has connections twenty seconds after the client ended")

    def start(self):
        """Starts nginx and waits until it answers; an error has its log. Its counts begin anew."""
        _, core = pinned.cores()
        argv = ["nginx", "-p", self.folder, "-e", f"{self.folder}/error.log", "-c", self.config]
        self.process = pinned.start(argv, core, stderr=subprocess.DEVNULL)
        self._own_requests = 0
        for _ in range(200):
            if self.process.poll() is not None:
                break
            if self._answers():
                return
            time.sleep(0.05)
        log = self.folder / "error.log"
        raise pinned.BenchError(f"nginx did not start: {log.read_text() if log.exists() else 'no log'}")

    def _answers(self):
        """Whether nginx answers. A refused connection is no request, so the count of own requests stays right."""
        try:
            self.status()
        except OSError:
            return False
        return True

    def stop(self):
        """Ends nginx; it may be started again on the same ports."""
        pinned.stop(self.process)


@contextlib.contextmanager
def nginx():
    """Runs nginx for as long as the block runs."""
    descriptors = min(pinned.raise_descriptor_limit(), 32_768)
    with tempfile.TemporaryDirectory(prefix="plimsoll-nginx-") as folder:
        ports = {site: pinned.free_port() for site in SITES}
        server = Nginx(ports, nginx_config.write(folder, ports, descriptors), folder)
        try:
            server.start()
            yield server
        finally:
            if server.process:
                server.stop()


@contextlib.contextmanager
def target():
    """Runs Plimsoll's reference server; yields its address, `host:port`."""
    _, core = pinned.cores()
    pinned.raise_descriptor_limit()
    argv = [pinned.require_plimsoll(), "target", "--port", "0"]
    process = pinned.start(argv, core, stdout=subprocess.PIPE, text=True)
    try:
        first_line = process.stdout.readline()
        found = re.search(r"\d+\.\d+\.\d+\.\d+:\d+", first_line)
        if not found:
            raise pinned.BenchError(f"the target did not say its address on its first line: {first_line!r}")
        yield found.group(0)
    finally:
        pinned.stop(process)
        process.stdout.close()
