#!/usr/bin/env python3
"""The limit predicted from production against the limit measured: a Caddy in a lab, a real Prometheus that scrapes it and a real
node_exporter, a load that follows a day's curve in minutes up to half of the limit.

Two limits: the CPU quota of the host (requests that compute for 2 ms), and its link (pages of 20 kB). `plimsoll explain --prometheus`
predicts the rate at which each is full from that day alone. The measured limit is the plateau of a closed loop, before and after. The case
`tiny` has no goal: it shows what happens with requests that cost less than waking up for them.
"""

import json
import math
import os
import shlex
import signal
import statistics
import subprocess
import tempfile
import time

import judge
import pinned
import results

LAB = pinned.ROOT / "lab" / "production" / "api.toml"
# The path, the kind of resource that limits, and the connections that fill it.
CASES = {"cpu": ("/cpu?us=2000", "container_cpu", 8), "link": ("/page", "network_out", 8),
         "tiny": ("/small", "container_cpu", 16)}
WITHOUT_GOAL = ("tiny",)
STAGES = 12
LEAST, MOST = 0.1, 0.5
ERROR_MOST = 0.15
RATE = 'sum(rate(caddy_http_requests_total{handler=~"file_server|reverse_proxy"}[5s]))'
UP_LIMIT_SEC = 60


class Lab:
    """A lab that stays up until it is closed."""

    def __init__(self, folder, file=LAB):
        argv = [pinned.require_plimsoll(), "lab", "up", file, "--quiet"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder},
                                        preexec_fn=pinned.end_with_parent)
        self.ways = {}
        host = None
        for line in self.process.stdout:
            if line.startswith("    nsenter"):
                self.ways[host] = shlex.split(line)
            elif line.startswith("CPU is capped by"):
                return
            host = line.split()[0]
        raise pinned.BenchError("the lab did not come up; its message stands above")

    def text(self, host, *arguments, limit_sec):
        """Returns what Plimsoll prints when it runs on a host of the lab."""
        argv = [*self.ways[host], pinned.require_plimsoll(), *arguments]
        return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, timeout=limit_sec).stdout

    def call(self, host, *arguments, limit_sec):
        """Returns Plimsoll's JSON document."""
        return json.loads(self.text(host, *arguments, "--json", limit_sec=limit_sec))

    def close(self):
        """Ends the lab and everything in it."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(UP_LIMIT_SEC)


def held(lab, path, connections, seconds):
    """Returns requests per second of a closed loop that fills the limit."""
    run = lab.call("generator", "run", f"http://api:8080{path}", "-c", str(connections), "-d", f"{seconds}s",
                   "--no-probe", "--no-files", "--quiet", limit_sec=seconds + 60)
    return run["steps"][0]["throughput_per_sec"]


def day(limit, seconds):
    """Returns the stages of a day: from a tenth of the limit to half of it and back."""
    curve = [limit * (LEAST + (MOST - LEAST) * (1 - math.cos(2 * math.pi * at / STAGES)) / 2) for at in range(STAGES + 1)]
    return " ".join(f"ramp({max(1, round(a))},{max(1, round(b))},{seconds / STAGES:.1f}s)" for a, b in zip(curve, curve[1:]))


def predicted(lab, begun, ended):
    """Returns the document and the text of `explain` for that time."""
    asked = ["metrics", "explain", "--prometheus", "http://127.0.0.1:9090", "--rate", RATE, "--from", f"{begun:.0f}",
             "--to", f"{ended:.0f}", "--step", "3s", "--capacity", "network_out:eth0=20Mbit"]
    return lab.call(*asked, limit_sec=60), lab.text(*asked, limit_sec=60)


def measured(path, kind, connections, seconds):
    """Makes one pass: measures the limit before and after a day, and predicts it from the day."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        lab = Lab(folder)
        try:
            before = held(lab, path, connections, 10)
            begun = time.time()
            lab.call("generator", "run", f"http://api:8080{path}", "-R", day(before, seconds), "--no-probe", "--no-files",
                     "--quiet", limit_sec=seconds + 60)
            # The load ended before the process did.
            found, shown = predicted(lab, begun + 6, begun + seconds)
            after = held(lab, path, connections, 10)
        finally:
            lab.close()
    limit = statistics.mean([before, after])
    first = found["limit"]
    full_at = first["full_at_per_sec"]
    resource = next((one for one in found["resources"] if one["kind"] == kind), None)
    return {
        "held": [before, after],
        "predicted": full_at,
        "interval": first["full_at_interval"],
        "extrapolation": first["extrapolation"],
        "resource": first["resource"],
        "right_resource": bool(resource) and first["resource"] == resource["name"],
        "error": full_at / limit - 1 if full_at else None,
        "points": resource["points"] if resource else 0,
        "text": first["text"],
        "shown": shown,
    }


def row(name, one):
    """Returns a row of the table."""
    low, high = one["interval"] or (float("nan"), float("nan"))
    error = f"{one['error']:+.1%}" if one["error"] is not None else "none"
    held_text = " and ".join(f"{rate:,.0f}" for rate in one["held"])
    said = f"{one['predicted']:,.0f} ({low:,.0f} to {high:,.0f})" if one["predicted"] else one["text"]
    factor = f"{one['extrapolation']:.2f} ×" if one["extrapolation"] else ""
    return [name, held_text, said, error, factor, str(one["points"]), one["resource"] or "none"]


def goals(passes):
    """Returns each goal, and whether it is met."""
    return [(f"{name}: the resource that is full, within {ERROR_MOST:.0%} of what it holds",
             one["right_resource"] and one["error"] is not None and abs(one["error"]) <= ERROR_MOST)
            for name, one in passes if name not in WITHOUT_GOAL]


def measure():
    """Makes some passes of each case, then the table."""
    options = results.arguments(__doc__.splitlines()[0], passes=1, seconds=120, case="all").parse_args()
    done = results.measured_before("production", options)
    if done is not None:
        return done
    cases = CASES if options.case == "all" else {options.case: CASES[options.case]}
    passes = [(name, measured(*case, options.seconds)) for name, case in cases.items() for _ in range(options.passes)]
    found = goals(passes)
    text = f"## Limits predicted from a day of {options.seconds} s at up to half of the limit\n\n"
    header = ["case", "held, before and after", "predicted", "error", "beyond the highest rate", "points", "resource"]
    text += judge.markdown(header, [row(name, one) for name, one in passes]) + "\n"
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in found) + "\n"
    document = {"passes": [{"case": name, **one} for name, one in passes]}
    return results.save("production", options, document, text, all(met for _, met in found))


if __name__ == "__main__":
    results.main(measure)
