#!/usr/bin/env python3
"""Every scenario of the lab, several times: the limit that it was built with, and the limit that the verdict names.

A scenario is right if `limit` and `where` are what its file expects (for a tie, all of them; for a pool, its size within 10 %).
A wrong verdict at *measured* or *proven* is worse than another wrong one, because those words mean that users can rely on it.
"""

import json
import subprocess

import judge
import pinned
import results

FOLDER = pinned.ROOT / "lab" / "scenarios"
RIGHT_LEAST = 0.95
SURE = ("measured", "proven")
# A scenario takes some 20 s; a whole pass that takes five times as long hangs.
PASS_LIMIT_SEC = 4500


def diagnosed(passes, out):
    """Returns the scenarios as `plimsoll lab diagnose` reports them."""
    argv = [pinned.require_plimsoll(), "lab", "diagnose", FOLDER, "--repeat", str(passes), "--json", "--out", out]
    try:
        ended = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, timeout=PASS_LIMIT_SEC * passes)
    except subprocess.TimeoutExpired as error:
        raise pinned.BenchError(f"the scenarios took more than {error.timeout:.0f} s") from error
    if not ended.stdout:
        raise pinned.BenchError(f"plimsoll lab diagnose ended with {ended.returncode} and printed nothing")
    return json.loads(ended.stdout)["scenarios"]


def words(named):
    """Formats limit@where, with the size of a pool."""
    if named is None:
        return "could not be run"
    several = named.get("either") or [named]
    size = f" of {named['size']:.0f}" if named.get("size") else ""
    return " and ".join(f"{one['limit']}{size}@{one['where']}" if one["where"] else one["limit"] for one in several)


def by_name(scenarios):
    """Returns the passes of each scenario, in the order of the folder."""
    found = {}
    for scenario in scenarios:
        found.setdefault(scenario["name"], []).append(scenario)
    return found


def row(name, passes):
    """Returns a row of the table; each different answer is listed once."""
    right = sum(1 for one in passes if one["right"])
    shown = dict.fromkeys(f"{words(one['found'])} ({one['confidence']})" for one in passes)
    mark = f"{right} of {len(passes)}" if right == len(passes) else f"**{right} of {len(passes)}**"
    return [name, words(passes[0]["expected"]), "; ".join(shown), mark]


def goals(scenarios):
    """Returns each goal, and whether it is met."""
    right = sum(1 for one in scenarios if one["right"])
    sure = [one["name"] for one in scenarios if not one["right"] and one["confidence"] in SURE]
    return [
        (f"{right} of {len(scenarios)} right, at least {RIGHT_LEAST:.0%} required",
         right >= RIGHT_LEAST * len(scenarios)),
        (f"wrong at measured or proven: {', '.join(sure) or 'none'}", not sure),
    ]


def measure():
    """Makes all passes, then the table."""
    options = results.arguments(__doc__.splitlines()[0], passes=3).parse_args()
    done = results.measured_before("scenarios", options)
    if done is not None:
        return done
    scenarios = diagnosed(options.passes, options.out / "scenario-runs")
    rows = [row(name, passes) for name, passes in by_name(scenarios).items()]
    found = goals(scenarios)
    text = f"## What limits, in {len(rows)} scenarios of the lab\n\n"
    text += judge.markdown(["scenario", "expected", "found", "right"], rows) + "\n"
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in found) + "\n"
    return results.save("scenarios", options, {"scenarios": scenarios}, text, all(met for _, met in found))


if __name__ == "__main__":
    results.main(measure)
