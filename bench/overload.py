#!/usr/bin/env python3
"""Whether `plimsoll overload` distinguishes services that collapse from services that do not, when it has to find their maximum itself.

The labs of lab/overload without their rate: each run searches for the highest rate within the conditions, for `--budget` at most, and
overloads that rate. Two labs collapse or stay down, two degrade gracefully, as their files expect. Runs are interleaved, `--together` of
them at the same time. Each is a line of bench/out/overload.jsonl, so that an interrupted benchmark continues.

    python3 bench/overload.py [--repeats 3] [--labs NAME,NAME] [--budget 90s] [--limit SECONDS]
    python3 bench/overload.py --summary
"""

import argparse
import concurrent.futures
import itertools
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import judge
import pinned

FOLDER = pinned.ROOT / "lab" / "overload"
KEPT = pinned.ROOT / "bench" / "out" / "overload.jsonl"
LABS = {"unbounded-queue": ("collapses", "metastable"), "bounded-queue": ("graceful",),
        "client-retries": ("collapses", "metastable"), "nginx-limits": ("graceful",)}
RUN_LIMIT_SEC = 1200


def searched(name, budget, folder):
    """Writes the lab file with a search in place of its rate, and without its variants."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").split("[[variant]]\n", 1)[0]
    text = re.sub(r"^rate = \d+\n", "", text, flags=re.MULTILINE)
    text = text.replace("[overload]\n", f'[load]\nsearch = true\nbudget = "{budget}"\n[overload]\n')
    path = pathlib.Path(folder) / f"{name}.toml"
    # Paths in a lab file begin at its own folder.
    text = text.replace("${dir}", str(FOLDER)).replace("${services}", str(pinned.ROOT / "lab" / "services" / "bin"))
    path.write_text(text, encoding="utf-8")
    return path


def one_run(name, budget):
    """Makes one run. Returns the rate, the class, and the goodput that was left."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        argv = [pinned.require_plimsoll(), "lab", "run", searched(name, budget, folder), "--json", "--quiet", "--out", folder]
        began = time.monotonic()
        ended = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=RUN_LIMIT_SEC)
        took = time.monotonic() - began
        files = sorted(pathlib.Path(folder).glob("*.plimsoll"))
        if ended.returncode not in (0, 3, 4) or not files:
            raise pinned.BenchError(f"{name}: plimsoll ended with {ended.returncode}: {(ended.stderr or ended.stdout)[-800:]}")
        shown = subprocess.run([pinned.PLIMSOLL, "report", files[0], "--json"], capture_output=True, text=True, check=False)
    document = json.loads(shown.stdout)
    return {"lab": name, "seconds": took, "code": ended.returncode, "search": document.get("search"), "overload": document["overload"]}


def percents(steps):
    """Formats the goodput left in each overload."""
    return ", ".join("not known" if one["kept"] is None else f"{one['kept']:.0%}" for one in steps) or "none"


def row(name, own):
    """Returns a row of the table."""
    rates = [one["overload"]["rate_per_sec"] for one in own]
    right = sum(1 for one in own if one["overload"]["class"] in LABS[name])
    classes = ", ".join(one["overload"]["class"] for one in own)
    left = "; ".join(percents(one["overload"]["steps"]) for one in own)
    return [name, " or ".join(LABS[name]), ", ".join(f"{rate:,.0f}" if rate else "none" for rate in rates), left, classes,
            f"{right} of {len(own)}", f"{statistics.median(one['seconds'] for one in own):.0f}"]


def summary(kept):
    """Returns a row for each lab."""
    header = ["lab", "becomes of it", "rate found", "goodput left at 1.2×, 1.5×, 2×, ramp to 2×", "class", "right", "seconds"]
    grouped = {name: [one for one in kept if one["lab"] == name] for name in LABS}
    return judge.markdown(header, [row(name, own) for name, own in grouped.items() if own])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--labs", default=",".join(LABS))
    parser.add_argument("--budget", default="90s", help="of each search")
    parser.add_argument("--together", type=int, default=1, help="labs at the same time")
    parser.add_argument("--limit", type=float, default=float("inf"), help="begin nothing more after so many seconds")
    parser.add_argument("--summary", action="store_true", help="the table of what is there")
    options = parser.parse_args()
    ends = time.monotonic() + options.limit
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()] if KEPT.exists() else []
    names = options.labs.split(",")
    groups = [names[first:first + options.together] for first in range(0, len(names), options.together)]
    for _, group in [] if options.summary else itertools.product(range(options.repeats), groups):
        due = [name for name in group if sum(1 for one in kept if one["lab"] == name) < options.repeats]
        if not due or time.monotonic() >= ends:
            continue
        with concurrent.futures.ThreadPoolExecutor(len(due)) as pool:
            for future in [pool.submit(one_run, name, options.budget) for name in due]:
                kept.append(future.result() | {"together": len(due)})
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(kept[-1]) + "\n")
                found = kept[-1]["overload"]
                print(kept[-1]["lab"], found["class"], found["doubt"], found["rate_per_sec"], f"{kept[-1]['seconds']:.0f} s", flush=True)
    print(summary(kept))


if __name__ == "__main__":
    main()
