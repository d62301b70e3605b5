#!/usr/bin/env python3
"""Many connections while the server is restarted twice: nothing leaks, and every request is accounted for.

Each second, Plimsoll's open descriptors and resident memory are read from the kernel. A restart makes every connection fail
and reconnect at once, which would show a leak: afterwards, both must be what they were before. At the end the account must
close: requests intended are requests completed plus requests failed.
"""

import pathlib
import tempfile
import time

import answers
import client
import pinned
import results
import servers
import tools

RESTARTS = 2
# Descriptors in addition to the connections: files, the driver's own, timers. Below, the growth of memory that is allowed over the run.
SPARE_DESCRIPTORS = 64
MEMORY_GROWTH_RATIO = 1.05
MEMORY_GROWTH_BYTES = 2**20


def sample(running):
    """Returns descriptors and resident memory at this instant, or None if the process is ending."""
    pid = running.process.pid
    try:
        descriptors = len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return None
    resident_bytes = client.status_kib(pid, "VmRSS") * 1024
    at_sec = time.monotonic() - running.began
    return {"at_sec": at_sec, "descriptors": descriptors, "resident_bytes": resident_bytes} if resident_bytes else None


def watched(running, nginx, seconds):
    """Takes samples each second until the end, and restarts the server at equal distances."""
    due = [seconds * (index + 1) / (RESTARTS + 1) for index in range(RESTARTS)]
    taken, restarted_sec = [], []
    for tick in range(1, seconds + 60):
        time.sleep(max(0.0, running.began + tick - time.monotonic()))
        if not running.alive():
            break
        if due and tick >= due[0]:
            nginx.stop()
            nginx.start()
            restarted_sec.append(due.pop(0))
        found = sample(running)
        if found:
            taken.append(found)
    return taken, restarted_sec


def before_and_after(taken, restarted_sec, seconds):
    """Returns the largest descriptors and memory after warm-up but before the first restart, and after the last one."""
    warm_sec = restarted_sec[0] / 2
    recovered_sec = (restarted_sec[-1] + seconds) / 2
    early = [one for one in taken if warm_sec <= one["at_sec"] < restarted_sec[0]]
    late = [one for one in taken if recovered_sec <= one["at_sec"] < seconds]
    if not early or not late:
        raise pinned.BenchError("too few samples before the first restart or after the last; give more --seconds")
    names = ("descriptors", "resident_bytes")
    return [{name: max(one[name] for one in part) for name in names} for part in (early, late)]


def account(document):
    """Returns the requests by outcome."""
    steps = document["steps"]
    failed = {}
    for step in steps:
        for kind, count in step["failed"].items():
            failed[kind] = failed.get(kind, 0) + count
    intended, completed = (sum(step[name] for step in steps) for name in ("intended", "completed"))
    return {"intended": intended, "completed": completed, "failed": failed,
            "reconnects": sum(step["reconnects"] for step in steps),
            "missing": intended - completed - sum(failed.values())}


def goals(early, late, found, connections):
    """Returns (text, met) of each goal."""
    descriptors_max = min(early["descriptors"], connections) + SPARE_DESCRIPTORS
    memory_max = early["resident_bytes"] * MEMORY_GROWTH_RATIO + MEMORY_GROWTH_BYTES
    return [
        (f"{found['intended']} intended = {found['completed']} completed + {sum(found['failed'].values())} failed, "
         f"{found['missing']} missing", found["missing"] == 0),
        (f"{late['descriptors']} descriptors after the last restart, {early['descriptors']} before the first, "
         f"{connections} connections", late["descriptors"] <= descriptors_max),
        (f"{late['resident_bytes'] / 2**20:.1f} MiB after the last restart, {early['resident_bytes'] / 2**20:.1f} MiB "
         f"before the first; at most {memory_max / 2**20:.1f} MiB required", late["resident_bytes"] <= memory_max),
        ("requests were completed", found["completed"] > 0),
    ]


def render(document, options):
    """Returns the text, and whether all goals were met."""
    every = goals(document["early"], document["late"], document["account"], options.connections)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(document["account"]["failed"].items())) or "none"
    text = f"## {options.connections} connections for {options.seconds} s, the server restarted {RESTARTS} times\n\n"
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in every)
    text += f"- failed: {kinds}; reconnects {document['account']['reconnects']}\n"
    return text + f"\n```console\n{document['command']}\n```\n\n", all(met for _, met in every)


def measure():
    """Makes one long run against nginx, sampled from outside."""
    parser = results.arguments(__doc__.splitlines()[0], connections=15_000, seconds=60, driver="")
    options = parser.parse_args()
    name = f"soak-{options.driver}" if options.driver else "soak"
    before = results.measured_before(name, options)
    if before is not None:
        return before
    pinned.require_descriptors(options.connections)
    driver = ["--driver", options.driver] if options.driver else []
    load = ["-c", options.connections, "-d", f"{options.seconds}s", "-t", 1, *driver, "--no-probe", "--json"]
    with servers.nginx() as nginx, tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        argv = [pinned.require_plimsoll(), "run", nginx.url(), *load]
        with client.running(argv, folder) as running:
            taken, restarted_sec = watched(running, nginx, options.seconds)
            ended = running.finish(limit_sec=60, accepted=tools.MEASURED)
    early, late = before_and_after(taken, restarted_sec, options.seconds)
    command = tools.shown([pinned.PLIMSOLL, "run", "http://127.0.0.1:PORT/", *load])
    document = {"early": early, "late": late, "account": account(answers.plimsoll(ended)), "command": command,
                "restarted_sec": restarted_sec, "samples": taken}
    text, met = render(document, options)
    return results.save(name, options, document, text, met)


if __name__ == "__main__":
    results.main(measure)
