"""Machines of a fleet as network namespaces on one bridge, each with its own address and optionally its own monotonic clock.

They end with the processes that hold them. They cannot reach another network.
"""

import contextlib
import random
import subprocess

import pinned

SERVER = "10.77.0.1"
PREFIX = 16
# The largest difference between the monotonic clocks of a machine and of the server: five hours.
CLOCKS_APART_SEC = 18_000


def called(argv):
    """Runs a command to its end."""
    ended = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise pinned.BenchError(f"{' '.join(map(str, argv))}: {ended.stderr.strip()}; machines need root")
    return ended.stdout


class Host:
    """One machine: a process that holds its namespaces."""

    def __init__(self, address, clock_sec=0):
        self.address, self.clock_sec = address, clock_sec
        clock = ["--time", "--monotonic", clock_sec, "--boottime", clock_sec, "--fork", "--kill-child"] if clock_sec else []
        argv = ["unshare", "--net", *clock, "sh", "-c", "echo $$; exec sleep infinity"]
        self.holder = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True,
                                       preexec_fn=pinned.end_with_parent)
        line = self.holder.stdout.readline()
        if not line:
            raise pinned.BenchError("unshare made no namespaces; its message stands above; machines need root")
        self.pid = int(line)
        kinds = ["--net", "--time"] if clock_sec else ["--net"]
        # The words that begin a command on this host. nsenter replaces itself with the command if it enters no clock.
        self.way = ["nsenter", "--target", str(self.pid), *kinds, "--"]
        self.on_this("ip", "link", "set", "lo", "up")

    def on_this(self, *argv):
        """Runs a command on this host to its end."""
        return called([*self.way, *argv])

    def close(self):
        """Ends the host and its namespaces."""
        pinned.stop(self.holder)
        self.holder.stdout.close()


class Hosts:
    """A server and generators behind one bridge, which belongs to the server."""

    def __init__(self, stack, count, clocks):
        self.server = self._host(stack, SERVER)
        self.server.on_this("ip", "link", "add", "bridge", "type", "bridge")
        self.server.on_this("ip", "address", "add", f"{SERVER}/{PREFIX}", "dev", "bridge")
        self.server.on_this("ip", "link", "set", "bridge", "up")
        draw = random.Random(count)
        seconds = [draw.randrange(1, CLOCKS_APART_SEC) if clocks else 0 for _ in range(count)]
        self.generators = [self._generator(stack, *one) for one in enumerate(seconds, 1)]

    @staticmethod
    def _host(stack, address, clock_sec=0):
        host = Host(address, clock_sec)
        stack.callback(host.close)
        return host

    def _generator(self, stack, number, clock_sec):
        address = f"10.77.{1 + number // 250}.{1 + number % 250}"
        host = self._host(stack, address, clock_sec)
        called(["ip", "link", "add", "name", f"to-{number}", "netns", self.server.pid, "type", "veth",
                "peer", "name", "eth0", "netns", host.pid])
        self.server.on_this("ip", "link", "set", f"to-{number}", "master", "bridge", "up")
        host.on_this("ip", "address", "add", f"{address}/{PREFIX}", "dev", "eth0")
        host.on_this("ip", "link", "set", "eth0", "up")
        return host


@contextlib.contextmanager
def hosts(count, clocks=False):
    """Makes `count` generators and their server for as long as the block runs."""
    with contextlib.ExitStack() as stack:
        yield Hosts(stack, count, clocks)
