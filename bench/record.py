#!/usr/bin/env python3
"""Merges the texts of bench/out into one summary and, given a date, into the newest section of RESULTS.md.

RESULTS.md is a record: a new section stands above the older ones, and one of the same date and commit is replaced.
The figures are those on disk, so a text can be made again without measuring again.
"""

import argparse
import json
import pathlib
import re

import cases
import judge
import pinned
import results

ORDER = (*(case.name for case in cases.CASES), "latency", "knee", "probe", "soak-epoll", "soak-io_uring", "soak", "scenarios",
         "experiments", "plan", "production")
RESULTS = pinned.ROOT / "bench" / "RESULTS.md"
SECTION = re.compile(r"^## .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def documents(folder):
    """Returns [(document, text)] of all results, in the table's order."""
    found = [name for name in ORDER if (folder / f"{name}.json").exists()]
    return [(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")),
             (folder / f"{name}.md").read_text(encoding="utf-8")) for name in found]


def missing(folder):
    """Returns the cases without a result. They are named, so that they are not taken for a success."""
    return [case.name for case in cases.CASES if not (folder / f"{case.name}.json").exists()] + [
        name for name in ("latency", "knee", "probe", "scenarios", "experiments", "plan", "production")
        if not (folder / f"{name}.json").exists()]


def machine_line(found):
    """Returns a line with the machine, the tools and the builds of the figures."""
    machine = found[-1][0]["machine"]
    tools = [name for name in ("nginx", "wrk", "ab", "oha", "h2load", "k6", "hey") if name in machine]
    versions = ", ".join(f"{name} {machine[name]}" for name in tools)
    builds = {document["binary_sha256"][:12] for document, _ in found}
    build = f"one build ({builds.pop()})" if len(builds) == 1 else f"{len(builds)} different builds"
    host = f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}"
    return f"{host}; {versions}; {build} of Plimsoll."


def settings_line(found):
    """Returns a line with the number and length of the rounds, so that quick looks are recognisable."""
    of_cases = {(document["settings"]["rounds"], document["settings"]["seconds"])
                for document, _ in found if "case" in document}
    shown = " or ".join(f"{rounds} interleaved rounds with a window of {sec} s" for rounds, sec in sorted(of_cases))
    return f"CPU a request: medians of {shown}.\n" if shown else ""


def overview(found):
    """Returns a table of every goal of the cases, with the figure and the driver that decide it."""
    lines = []
    for document, _ in found:
        for goal in document.get("goals", []):
            lines.append([document["title"], judge.NAMES[goal["figure"]], *judge.verdict_cells(goal)])
    header = ["case", "figure", "Plimsoll's", "found", "goal", "verdict"]
    return f"## Goals\n\n{judge.markdown(header, lines)}\n" if lines else ""


def body(folder):
    """Returns all texts below one line about the machine, without a heading."""
    found = documents(folder)
    if not found:
        raise pinned.BenchError(f"{folder} holds no results; run bench/run.sh")
    text = f"{machine_line(found)}\n{settings_line(found)}\n{overview(found)}"
    text += "".join(words for _, words in found)
    absent = missing(folder)
    return text + (f"Not measured: {', '.join(absent)}.\n" if absent else "")


def recorded(old, heading, text):
    """Returns RESULTS.md with a section in front of the older ones; a section of the same heading is replaced."""
    section = f"{heading}\n\n{re.sub(r'^## ', '### ', text, flags=re.MULTILINE).rstrip()}\n\n"
    first = SECTION.search(old)
    head = old[:first.start()] if first else old.rstrip() + "\n\n"
    older = [part for part in SECTION.findall(old) if part.splitlines()[0] != heading]
    return (head + section + "".join(older)).rstrip() + "\n"


def write():
    """Writes the summary and, given a date, RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=results.OUT, help="folder of the results")
    parser.add_argument("--date", default="", help="day of the measurement; RESULTS.md is written only with it")
    options = parser.parse_args()
    text = body(options.out)
    (options.out / "summary.md").write_text(f"# Plimsoll and other tools\n\n{text}", encoding="utf-8")
    if options.date:
        commit = documents(options.out)[-1][0]["machine"]["commit"]
        heading = f"## {options.date}, commit {commit}"
        RESULTS.write_text(recorded(RESULTS.read_text(encoding="utf-8"), heading, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    results.main(write)
