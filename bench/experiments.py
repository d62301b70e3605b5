#!/usr/bin/env python3
"""A quick pass of every experiment of the lab: does it end by itself and in time, and reach the conclusions that it must?

docs/experiments/NAME.md describes `lab/experiments/NAME.toml`. A quick pass only checks that all of it works; the figures on those
pages are from whole passes.
"""

import json
import subprocess
import time

import conclusions
import judge
import pinned
import results
import scenarios

FOLDER = pinned.ROOT / "lab" / "experiments"
LIMITS_SEC = {True: 120, False: 600}
# 0: as expected. 3: a verdict that the file does not expect, which is reported with it. Whether the experiment reaches its
# conclusions is checked separately.
ENDED_WELL = (0, 3)


def experiments():
    """Returns the names of the experiments."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if not found:
        raise pinned.BenchError(f"{FOLDER} holds no experiments")
    unasked = [name for name in found if name not in conclusions.BY_NAME]
    if unasked:
        raise pinned.BenchError(f"bench/conclusions.py does not say what {', '.join(unasked)} must conclude")
    return found


def made(name, quick, out):
    """Makes one run. Returns its exit code, its time in seconds, its document, and its conclusions."""
    argv = [pinned.require_plimsoll(), "lab", "run", name, "--json", "--out", out] + (["--quick"] if quick else [])
    began = time.monotonic()
    try:
        ended = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, cwd=pinned.ROOT,
                               timeout=3 * LIMITS_SEC[quick])
    except subprocess.TimeoutExpired as error:
        raise pinned.BenchError(f"{name} did not end within {error.timeout:.0f} s") from error
    seconds = time.monotonic() - began
    document = json.loads(ended.stdout) if ended.stdout.strip() else None
    return {"name": name, "code": ended.returncode, "seconds": seconds, "document": document,
            "conclusions": conclusions.of(name, document, quick)}


def holds(run):
    """Returns how many conclusions hold, and how many there are."""
    return sum(1 for _, met in run["conclusions"] if met), len(run["conclusions"])


def is_met(run, quick):
    """True if it ended well and in time, and all its conclusions hold."""
    held, asked = holds(run)
    return run["code"] in ENDED_WELL and run["seconds"] <= LIMITS_SEC[quick] and 0 < asked == held


def row(run, quick):
    """Returns a row of the table."""
    held, asked = holds(run)
    hold = f"{held} of {asked}" if 0 < asked == held else f"**{held} of {asked}**"
    return [run["name"], f"{run['seconds']:.0f} s", f"{LIMITS_SEC[quick]} s", str(run["code"]), hold,
            "met" if is_met(run, quick) else "**missed**"]


def case_row(case):
    """Returns a row of the table of an experiment's runs."""
    throughput = case["throughput_per_sec"]
    expected = {None: "–", True: "right"}.get(case["right"]) or f"**{scenarios.words(case['expected'])}**"
    return [case["name"], "–" if throughput is None else f"{throughput:,.0f}", scenarios.words(case["found"]),
            case["confidence"] or "–", expected]


def shown(run):
    """Returns an experiment's conclusions, also in Plimsoll's words, and the table of its runs."""
    text = f"### {run['name']}\n\n"
    if run["document"] is None:
        return text + f"It printed nothing, with exit code {run['code']}.\n\n"
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in run["conclusions"]) + "\n"
    text += "".join(f"> {said}\n\n" for said in run["document"].get("conclusions") or [])
    rows = [case_row(case) for case in run["document"]["runs"]]
    return text + judge.markdown(["run", "QPS", "limit", "confidence", "expected"], rows) + "\n"


def measure():
    """Makes all experiments, then the table and the conclusions of each."""
    options = results.arguments(__doc__.splitlines()[0], whole=0).parse_args()
    done = results.measured_before("experiments", options)
    if done is not None:
        return done
    quick = not options.whole
    runs = [made(name, quick, options.out / "experiment-runs") for name in experiments()]
    text = f"## Experiments, a {'quick' if quick else 'whole'} pass of each\n\n"
    text += judge.markdown(["experiment", "took", "at most", "exit code", "conclusions", "goal"],
                           [row(run, quick) for run in runs]) + "\n"
    text += "".join(map(shown, runs))
    return results.save("experiments", options, {"runs": runs}, text, all(is_met(run, quick) for run in runs))


if __name__ == "__main__":
    results.main(measure)
