"""Load generators of several machines, as `fleet_compare.py` runs them: one job, and what each tool reports of it."""

import contextlib
import csv
import json
import pathlib
import re
import subprocess
import time

import broker
import frames
import pinned

PERCENTILES = (50, 99, 99.9)
# Each tool's rate is read at this time after its first request.
FIRST_SEC = 5
PORT = 8000
# The most that a tool may take to start and to end, in addition to the time of the load.
AROUND_SEC = 60

LOCUST_FILE = """
from locust import FastHttpUser, constant_throughput, task


class Client(FastHttpUser):
    wait_time = constant_throughput(1)

    @task
    def ask(self):
        self.client.get("/")
"""

K6_SCRIPT = """
import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: [%s],
  scenarios: {even: {executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%ds', preAllocatedVUs: %d, maxVUs: %d}},
};
export default function () { http.get('%s'); }
export function handleSummary(data) { return {stdout: JSON.stringify(data.metrics)}; }
"""


class Job:
    """An even rate against one target, made by all generators together."""

    def __init__(self, machines, folder, rate, seconds):
        self.machines, self.folder, self.rate, self.seconds = machines, pathlib.Path(folder), rate, seconds
        self.url = f"http://{machines.server.address}:{PORT}/"

    @property
    def limit_sec(self):
        """The longest time that a tool may take."""
        return self.seconds + AROUND_SEC


def started(argv, folder, name, **options):
    """Starts a process that writes its output to the folder."""
    with open(folder / f"{name}.out", "wb") as out, open(folder / f"{name}.err", "wb") as err:
        try:
            return subprocess.Popen([str(word) for word in argv], cwd=folder, stdout=out, stderr=err, env=pinned.environment(),
                                    preexec_fn=pinned.end_with_parent, **options)
        except FileNotFoundError as error:
            raise pinned.BenchError(f"could not start {name}: {error}") from error


def ended(processes, limit_sec, accepted=(0,)):
    """Waits for all processes; an error names the one that failed."""
    deadline = time.monotonic() + limit_sec
    try:
        for name, process in processes.items():
            process.wait(max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired as error:
        raise pinned.BenchError(f"{name} did not end within {limit_sec} s") from error
    finally:
        for process in processes.values():
            pinned.stop(process)
    failed = {name: process.returncode for name, process in processes.items() if process.returncode not in accepted}
    if failed:
        raise pinned.BenchError(f"ended with an error: {failed}")


def plimsoll(job):
    """A fleet: a broker of three nodes and the conductor on the server, an agent on each generator."""
    server = job.machines.server
    with contextlib.ExitStack() as stack:
        up = stack.enter_context(broker.broker(job.folder, server.way, server.address))
        ways = [host.way for host in job.machines.generators]
        stack.enter_context(broker.agents(job.folder, up.address, ways, f"{server.address}:{PORT}"))
        load = [job.url, "-R", job.rate, "-d", f"{job.seconds}s", "-t", 1]
        run = stack.enter_context(broker.run(job.folder, up.address, len(ways), load, server.way))
        document = run.document(job.limit_sec)
        step, file = document["steps"][0], run.file()
        service = frames.Percentiles(file, "service")
        return {"requests": frames.totals(file)["sent"], "first_rate": frames.rate(file, FIRST_SEC),
                "percentiles_ms": {at: service(at) for at in PERCENTILES}, "apart_ms": document["fleet"][0]["apart_ns"] / 1e6,
                "failed": step["failed"]}


def vegeta(job):
    """One process on each generator, started in a loop, and Vegeta's report of all result files together."""
    rates = shares(job.rate, len(job.machines.generators))
    processes = {}
    for number, (host, rate) in enumerate(zip(job.machines.generators, rates), 1):
        argv = [*host.way, "vegeta", "attack", f"-rate={rate}/1s", f"-duration={job.seconds}s", f"-output={number}.bin",
                "-targets=targets"]
        (job.folder / "targets").write_text(f"GET {job.url}\n", encoding="ascii")
        processes[f"vegeta-{number}"] = started(argv, job.folder, f"vegeta-{number}")
    ended(processes, job.limit_sec)
    files = [f"{number}.bin" for number in range(1, len(processes) + 1)]
    report = json.loads(printed(["vegeta", "report", "-type=json", *files], job.folder))
    plot = printed(["vegeta", "report", "-type=hdrplot", *files], job.folder)
    sent = sorted(int(line.split(",", 1)[0]) for line in printed(["vegeta", "encode", "-to=csv", *files], job.folder).splitlines())
    return {"requests": report["requests"], "first_rate": sum(at < sent[0] + FIRST_SEC * 1e9 for at in sent) / FIRST_SEC,
            "percentiles_ms": {at: hdrplot_ms(plot, at) for at in PERCENTILES}, "mean_rate": report["rate"],
            "failed": report["requests"] - report["status_codes"].get("200", 0)}


def shares(whole, count):
    """Splits a whole number into whole parts that add up to it."""
    return [whole * (at + 1) // count - whole * at // count for at in range(count)]


def printed(argv, folder):
    """Returns what a command prints."""
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env=pinned.environment())
    if done.returncode:
        raise pinned.BenchError(f"{argv[0]} {argv[1]}: {done.stderr[-300:]}")
    return done.stdout


def hdrplot_ms(text, percentile):
    """Returns a percentile from Vegeta's table: the value of the first row that reaches it."""
    for value, quantile in re.findall(r"^([\d.]+)\s+([\d.]+)\s+\d+\s+[\d.]+\s*$", text, re.MULTILINE):
        if float(quantile) >= percentile / 100 - 1e-9:
            return float(value)
    raise pinned.BenchError(f"vegeta's table has no p{percentile}")


def locust(job):
    """A master on the server and a worker on each generator, with one user for each request per second."""
    server, count = job.machines.server, len(job.machines.generators)
    (job.folder / "locustfile.py").write_text(LOCUST_FILE, encoding="ascii")
    common = ["locust", "-f", "locustfile.py"]
    master = [*server.way, *common, "--headless", "--master", "--master-bind-host", server.address, "--expect-workers", count,
              "-H", job.url.rstrip("/"), "-u", job.rate, "-r", job.rate, "-t", f"{job.seconds}s", "--stop-timeout", 10,
              "--csv", "locust", "--csv-full-history", "--only-summary"]
    processes = {"locust-master": started(master, job.folder, "locust-master")}
    for number, host in enumerate(job.machines.generators, 1):
        worker = [*host.way, *common, "--worker", "--master-host", server.address]
        processes[f"locust-{number}"] = started(worker, job.folder, f"locust-{number}")
    ended(processes, job.limit_sec)
    total = csv_rows(job.folder / "locust_stats.csv")[-1]
    return {"requests": int(total["Request Count"]), "first_rate": locust_rate(csv_rows(job.folder / "locust_stats_history.csv")),
            "percentiles_ms": {at: float(total[f"{at}%"]) for at in PERCENTILES}, "mean_rate": float(total["Requests/s"]),
            "failed": int(total["Failure Count"])}


def csv_rows(path):
    """Returns the rows of a table as dictionaries by column."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def locust_rate(history):
    """Returns the rate in its history FIRST_SEC after the first row with requests."""
    rows = [row for row in history if row["Name"] == "Aggregated" and int(row["Total Request Count"] or 0) > 0]
    at = int(rows[0]["Timestamp"]) + FIRST_SEC
    return float(next(row for row in rows if int(row["Timestamp"]) >= at)["Requests/s"])


def k6(job):
    """One process on each generator with its segment of the test, started in a loop, as k6's operator for Kubernetes does.

    Each process prints a summary. Counts are added up; percentiles cannot be merged, so their mean is used.
    """
    count = len(job.machines.generators)
    trends = ", ".join(f"'p({at})'" for at in PERCENTILES)
    script = K6_SCRIPT % (trends, job.rate, job.seconds, job.rate, 4 * job.rate, job.url)
    (job.folder / "script.js").write_text(script, encoding="ascii")
    bounds = [f"{at}/{count}" if at % count else str(at // count) for at in range(count + 1)]
    processes = {}
    for number, host in enumerate(job.machines.generators, 1):
        argv = [*host.way, "k6", "run", "--quiet", "--no-color", "--no-usage-report", "--address", "", "--execution-segment",
                f"{bounds[number - 1]}:{bounds[number]}", "--execution-segment-sequence", ",".join(bounds), "script.js"]
        processes[f"k6-{number}"] = started(argv, job.folder, f"k6-{number}")
    ended(processes, job.limit_sec)
    each = [json.loads((job.folder / f"{name}.out").read_text(encoding="utf-8")) for name in processes]
    values = [{name: metric["values"] for name, metric in metrics.items()} for metrics in each]
    times = [one["http_req_duration"] for one in values]
    return {"requests": round(sum(one["http_reqs"]["count"] for one in values)), "first_rate": None,
            "percentiles_ms": {at: sum(one[f"p({at})"] for one in times) / count for at in PERCENTILES},
            "failed": round(sum(one["http_req_failed"]["passes"] for one in values))}


TOOLS = {"plimsoll, fleet": plimsoll, "Locust, distributed": locust, "Vegeta, merged": vegeta, "k6, a process each": k6}
