#!/usr/bin/env python3
"""How well a search finds the highest rate within its conditions: ten searches of each target, and long runs around what they found.

Each target is a lab file of bench/search/. A search is one `plimsoll lab run`; its answer is the rate that held and the rate that broke.
The truth is found by bisection with long loads of Poisson arrivals: it lies between the highest rate that keeps its conditions over the
whole time and the lowest that does not. An answer contains it if the middle of these two lies between the rates of the answer. If one end
was not found, the truth is not known, and the next call searches for it again. Results are kept in bench/out/search.json, so that an
interrupted benchmark continues.

On a machine that changes within minutes there is no one truth. With `--around`, each search is followed by two long loads instead: one at
the rate that held, which has to hold, and one at the rate that broke, which has to break. `bench/speed.py` runs during each search, so
that the spread of the answers can be compared with that of the machine.

For a server that differs from one start to the next, such as a JVM, `--kept` makes all searches and long loads of a target in one lab
that stays up.

    python3 bench/search.py [--runs 10] [--seconds 60] [--targets pool,cpu] [--budget 5m] [--around] [--kept] [--limit SECONDS]
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import tomllib

import pinned
import production
import speed

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ROOT / "bench" / "search"
KEPT = ROOT / "bench" / "out" / "search.json"
# The truth is searched between these multiples of the median answer, until its ends differ by this ratio.
AROUND = (0.90, 1.12)
WITHIN = 1.015
# The time limit of a lab; a budget or a long load of the truth is shorter.
RUN_LIMIT_SEC = 3600
# The budget of a search in a lab file.
BUDGET = "90s"


def lab(binary, file, folder):
    """Runs a lab file that makes one run. Returns the JSON of the run."""
    command = [binary, "lab", "run", str(file), "--json", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_SEC, check=False)
    # For a rate that breaks, or is not known to hold, the document says more than the exit code.
    if done.returncode not in (0, 3, 4):
        raise SystemExit(f"search: {' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    run = next(pathlib.Path(folder).glob("*.plimsoll"))
    shown = subprocess.run([binary, "report", str(run), "--json"], capture_output=True, text=True, check=False)
    return json.loads(shown.stdout)


def variant(file, load, folder):
    """Writes a lab file of the same lab, with the same warm-up, under another load."""
    text = file.read_text(encoding="utf-8")
    head, rest = text.split("[load]\n", 1)
    end = rest.index("[")
    warm = [line for line in rest[:end].splitlines() if line.startswith("warm = ")]
    # Paths in a lab file begin at its own folder.
    text = "\n".join([f"{head}[load]", load, *warm, rest[end:]]).replace("${dir}", str(file.parent))
    path = pathlib.Path(folder) / file.name
    path.write_text(text, encoding="utf-8")
    return path


def within(file, budget, folder):
    """Writes a lab file of the same lab with another budget for its search."""
    text = file.read_text(encoding="utf-8").replace("search = true\n", f'search = true\nbudget = "{budget}"\n')
    path = pathlib.Path(folder) / file.name
    path.write_text(text.replace("${dir}", str(file.parent)), encoding="utf-8")
    return path


class Fresh:
    """A lab of its own for each search and each load."""

    def __init__(self, binary, file):
        self.binary, self.file = binary, file

    def search(self, budget):
        """Returns the document of a search."""
        with tempfile.TemporaryDirectory() as folder:
            return lab(self.binary, within(self.file, budget, folder) if budget else self.file, folder)

    def load(self, rate, seconds):
        """Returns the document of a load of Poisson arrivals at one rate."""
        with tempfile.TemporaryDirectory() as folder:
            load = f'rate = {rate:.1f}\narrivals = "poisson"\nstep = "{seconds}s"'
            return lab(self.binary, variant(self.file, load, folder), folder)

    def close(self):
        """Does nothing, because each lab has ended."""


class Kept:
    """One lab for all searches and loads."""

    def __init__(self, binary, file):
        pinned.PLIMSOLL = pathlib.Path(binary)
        made = tomllib.loads(file.read_text(encoding="utf-8"))
        headers = made["target"].get("headers", {}).items()
        self.target = [made["target"]["url"], *(part for name, value in headers for part in ("-H", f"{name}: {value}")),
                       "--p99", made["slo"]["p99"], "--success", made["slo"]["success"]]
        self.folder = tempfile.TemporaryDirectory()
        self.lab = production.Lab(self.folder.name, file)
        if warm := made["load"].get("warm"):
            self._call("run", "-c", "64", "-d", warm)

    def search(self, budget):
        """Returns the document of a search."""
        return self._call("search", "--budget", budget or BUDGET)

    def load(self, rate, seconds):
        """Returns the document of a load of Poisson arrivals at one rate."""
        return self._call("run", "-R", f"{rate:.1f}", "--arrivals", "poisson", "-d", f"{seconds}s")

    def close(self):
        """Ends the lab."""
        self.lab.close()
        self.folder.cleanup()

    def _call(self, command, *arguments):
        return self.lab.call("generator", command, *self.target, *arguments, "--no-files", "--quiet", limit_sec=RUN_LIMIT_SEC)


def search(way, budget):
    """Makes one search. Returns the rates at both ends, what broke, and the time that all of it took."""
    began = time.monotonic()
    with speed.Speed() as machine:
        document = way.search(budget)
    took = time.monotonic() - began
    found = document["search"] or {}
    keys = ("held_per_sec", "broken_per_sec", "breach", "end", "drift")
    return {key: found.get(key) for key in keys} | {
        "seconds": took, "trials": len(found.get("trials", [])), "reference_us": machine.microseconds}


def holds(way, rate, seconds):
    """Whether a long load at this rate keeps the conditions of the file."""
    document = way.load(rate, seconds)
    slo, step = document["answer"]["slo"], document["steps"][0]
    late = [limit for limit in slo["latency"]
            if (value := percentile(step, limit["percentile"])) is None or value > limit["limit_ms"]]
    success = step["success_ratio"] >= (slo["success_ratio"] or 0)
    # A queue that still grows at the end has not reached its limit yet.
    grows = step["throughput_per_sec"] < 0.99 * rate
    return not late and success and not grows


def percentile(step, percent):
    return step["latency_ms"][f"p{percent:g}".replace(".", "")]


def truth(way, middle, seconds):
    """Returns the highest rate near `middle` that holds, and the lowest that does not; `None` for an end that was not found."""
    low, high = (part * middle for part in AROUND)
    if not holds(way, low, seconds):
        return None, low
    if holds(way, high, seconds):
        return high, None
    while high / low > WITHIN:
        rate = (low * high) ** 0.5
        if holds(way, rate, seconds):
            low = rate
        else:
            high = rate
    return low, high


def around(way, run, seconds):
    """Whether long loads right after a search hold at its lower end and break at its upper end; `None` for an end that is missing."""
    ends = (("held_per_sec", True), ("broken_per_sec", False))
    return [run[key] and holds(way, run[key], seconds) == expected for key, expected in ends]


def measured(way, options):
    """Makes one search, with the long loads around it if `--around` asks for them."""
    run = search(way, options.budget)
    if options.around:
        run["around"] = around(way, run, options.seconds)
    return run


def is_known(found):
    """Whether both ends of a truth were found."""
    return bool(found) and None not in found


def inside(one, runs):
    """Returns the truth, and how many answers contain it."""
    if any("around" in run for run in runs):
        return "long loads at both ends", f"{sum(all(run['around']) for run in runs)} of {len(runs)}"
    if not is_known(one.get("truth")):
        return "not known", "not known"
    low, high = one["truth"]
    hits = [run for run in runs if run["held_per_sec"] <= (low * high) ** 0.5 <= run["broken_per_sec"]]
    return f"{low:,.0f} to {high:,.0f}", f"{len(hits)} of {len(runs)}"


def spread(values):
    """Returns the range of the values as a part of their median."""
    return (max(values) - min(values)) / statistics.median(values)


def summary(kept):
    """Returns a row for each target. The last spread is that of (middle · cost of the reference): the answers at one machine speed."""
    lines = ["| target | searches | middle, median | spread | of the machine | of both | seconds | truth | inside | what broke |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, one in kept.items():
        runs = [run for run in one["runs"] if run["held_per_sec"] and run["broken_per_sec"]]
        if not runs:
            continue
        middles = [(run["held_per_sec"] * run["broken_per_sec"]) ** 0.5 for run in runs]
        costs = [run.get("reference_us") for run in runs]
        machine = ["", ""] if None in costs else [
            f"{spread(values):.1%}" for values in (costs, [rate * cost for rate, cost in zip(middles, costs)])]
        cells = [name, f"{len(runs)} of {len(one['runs'])}", f"{statistics.median(middles):,.0f}", f"{spread(middles):.1%}", *machine,
                 f"{statistics.median(run['seconds'] for run in runs):.0f}", *inside(one, runs),
                 ", ".join(sorted({run["breach"] or "" for run in runs}))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def title(name, options):
    """Returns the key under which the searches of a target are kept."""
    return ", ".join(filter(None, (name, options.budget, options.around and "around", options.kept and "kept")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "plimsoll"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=60, help="how long one load of the truth lasts")
    parser.add_argument("--targets", default=",".join(sorted(file.stem for file in FILES.glob("*.toml"))))
    parser.add_argument("--budget", help="the time of a search; 90 s unless it is given, 50 min at most")
    parser.add_argument("--around", action="store_true", help="two long loads after each search, in place of one truth")
    parser.add_argument("--kept", action="store_true", help="all searches of a target in one lab that stays up")
    parser.add_argument("--limit", type=float, default=float("inf"), help="begin nothing more after so many seconds")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    KEPT.parent.mkdir(parents=True, exist_ok=True)

    def keep():
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")

    names = options.targets.split(",")
    with contextlib.ExitStack() as ended:
        ways = {name: (Kept if options.kept else Fresh)(options.binary, FILES / f"{name}.toml") for name in names}
        for way in ways.values():
            ended.callback(way.close)
        measure(ways, kept, keep, options)
    print(summary(kept))


def measure(ways, kept, keep, options):
    """Measures what is not kept yet: the searches, then the truth of each target."""
    ends = time.monotonic() + options.limit
    # Interleaved, so that a slow quarter of an hour affects all targets.
    for number in range(options.runs):
        for name, way in ways.items():
            one = kept.setdefault(title(name, options), {"runs": []})
            if len(one["runs"]) <= number and time.monotonic() < ends:
                one["runs"].append(measured(way, options))
                keep()
                print(name, one["runs"][-1], flush=True)
    for name, way in ways.items() if not options.around else ():
        one = kept.get(title(name, options), {"runs": []})
        runs = [run for run in one["runs"] if run["held_per_sec"] and run["broken_per_sec"]]
        if len(one["runs"]) < options.runs or not runs or is_known(one.get("truth")) or time.monotonic() > ends:
            continue
        middle = statistics.median((run["held_per_sec"] * run["broken_per_sec"]) ** 0.5 for run in runs)
        # The truth does not depend on the budget of a search, but on the server that was started.
        known = None if options.kept else kept.get(name, {}).get("truth")
        one["truth"] = known if is_known(known) else truth(way, middle, options.seconds)
        keep()


if __name__ == "__main__":
    main()
