#!/usr/bin/env python3
"""Checks `plimsoll plan`: the rate of a larger lab, predicted from runs of a small one, against its measured rate.

Each file of lab/plan-proof describes a base lab and, in the variant `larger`, the lab to predict. `plimsoll plan BASE... --machines`
reads only the runs of the base. A prediction that says only `at most` is no prediction, and counts as missed unless it is within the
limit all the same.
"""

import json
import subprocess
import typing

import judge
import pinned
import results

FOLDER = pinned.ROOT / "lab" / "plan-proof"
WITHIN = 0.10
# Five of six configurations.
SHARE_WITHIN = 5 / 6
# A lab file takes about a minute; one that takes five minutes hangs.
LAB_LIMIT_SEC = 300
# The variant of the larger lab in a lab file.
LARGER = "larger"


class Case(typing.NamedTuple):
    """A configuration: its lab file, and the question about the runs of its base."""

    name: str
    question: tuple


CASES = (
    Case("cpu", ("--machines", "api=3")),
    Case("link", ("--machines", "api=3")),
    Case("pool", ("--machines", "api=3")),
    Case("two-tiers", ("--machines", "api=3")),
    Case("three-tiers", ("--machines", "api=3")),
    Case("lock", ("--machines", "api=3")),
    Case("shared-lock-pools", ("--machines", "api=3")),
    Case("cores", ("--machines", "api=1", "--what-if", "api.cores=3x")),
    Case("mix", ("--machines", "api=3")),
)


def answer(argv, limit_sec):
    """Returns the document that a command prints."""
    argv = [pinned.require_plimsoll(), *argv]
    try:
        ended = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, timeout=limit_sec)
    except subprocess.TimeoutExpired as error:
        raise pinned.BenchError(f"{argv[1]} {argv[2]} took more than {error.timeout:.0f} s") from error
    if not ended.stdout.strip():
        raise pinned.BenchError(f"plimsoll {argv[1]} ended with {ended.returncode} and printed nothing")
    document = json.loads(ended.stdout)
    if "error" in document:
        raise pinned.BenchError(document["error"]["message"])
    return document


def measured(case, out):
    """Returns the runs of the base, and that of the larger lab."""
    document = answer(["lab", "run", FOLDER / f"{case.name}.toml", "--json", "--out", out], LAB_LIMIT_SEC)
    runs = {run["name"]: run for run in document["runs"]}
    larger = runs.pop(f"{case.name}/{LARGER}")
    unmade = [name for name, run in [*runs.items(), (LARGER, larger)] if run["found"] is None]
    if unmade:
        raise pinned.BenchError(f"{case.name}: {', '.join(unmade)} could not be run")
    return list(runs.values()), larger


def predicted(case, base):
    """Returns the prediction for the larger lab from the runs of the base."""
    document = answer(["plan", *(run["file"] for run in base), *case.question, "--json"], LAB_LIMIT_SEC)
    return (document["what_if"] or document)["capacity"]


def pressed(case, out):
    """Returns the prediction and the measurement of a configuration, and their difference."""
    base, larger = measured(case, out)
    capacity = predicted(case, base)
    error = capacity["per_sec"] / larger["throughput_per_sec"] - 1
    first = capacity["limits"][0]
    return {"name": case.name, "question": " ".join(case.question),
            "base": [{"name": run["name"], "per_sec": run["throughput_per_sec"], "found": run["found"]} for run in base],
            "predicted_per_sec": capacity["per_sec"], "at_most": capacity["at_most"], "cause": first["cause"],
            "limit": f"{first['resource'] or first['cause']}@{first['tier']}", "doubts": capacity["doubts"],
            "measured_per_sec": larger["throughput_per_sec"], "found": larger["found"], "error": error}


def is_within(one):
    """True if the error of the prediction is within the limit."""
    return abs(one["error"]) <= WITHIN


def row(one):
    """Returns a row of the table."""
    base = ", ".join(f"{run['per_sec']:,.0f} ({run['found']['limit']}@{run['found']['where']})" for run in one["base"])
    most = "at most " if one["at_most"] else ""
    error = f"{100 * one['error']:+.1f} %"
    return [one["name"], base, f"{most}{one['predicted_per_sec']:,.0f}", one["limit"], f"{one['measured_per_sec']:,.0f}",
            f"{one['found']['limit']}@{one['found']['where']}", error if is_within(one) else f"**{error}**"]


def measure():
    """Measures all configurations, or those of `--only`, then makes the table."""
    parser = results.arguments(__doc__.splitlines()[0])
    parser.add_argument("--only", choices=[case.name for case in CASES], action="append", help="only this one; repeatable")
    options = parser.parse_args()
    done = results.measured_before("plan", options)
    if done is not None:
        return done
    cases = [case for case in CASES if not options.only or case.name in options.only]
    found = [pressed(case, options.out / "plan-runs") for case in cases]
    within = sum(1 for one in found if is_within(one))
    met = within >= SHARE_WITHIN * len(found)
    text = f"## A larger lab, predicted and measured, in {len(found)} configurations\n\n"
    text += judge.markdown(["configuration", "base, requests/s", "predicted", "limit", "measured", "limit", "error"],
                           [row(one) for one in found]) + "\n"
    text += f"- {'met' if met else '**missed**'}: {within} of {len(found)} within {WITHIN:.0%}, five of six required\n"
    text += "".join(f"- {one['name']}: {doubt}\n" for one in found for doubt in one["doubts"] if one["at_most"]) + "\n"
    return results.save("plan", options, {"configurations": found}, text, met)


if __name__ == "__main__":
    results.main(measure)
