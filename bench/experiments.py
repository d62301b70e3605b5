#!/usr/bin/env python3
"""Every experiment of the lab, a quick pass of each: does it end by itself and in time, and conclude what it must?

`lab/experiments/NAME.toml` is what docs/experiments/NAME.md tells of. A quick pass is for seeing that all of it works; the
figures on those pages are from whole ones.
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
# 0: as expected. 3: a verdict that the file does not expect, which is reported with it. Whether the experiment says what it is
# there to say is asked for itself.
ENDED_WELL = (0, 3)


def experiments():
    """Their names."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if not found:
        raise pinned.BenchError(f"{FOLDER} holds no experiments")
    unasked = [name for name in found if name not in conclusions.BY_NAME]
    if unasked:
        raise pinned.BenchError(f"bench/conclusions.py does not say what {', '.join(unasked)} must conclude")
    return found


def made(name, quick, out):
    """One run: its exit code, the seconds that it took, its document, and what it must conclude."""
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
    """How many conclusions hold, and of how many."""
    return sum(1 for _, met in run["conclusions"] if met), len(run["conclusions"])


def is_met(run, quick):
    """True if it ended well and in time, and concluded all that it must."""
    held, asked = holds(run)
    return run["code"] in ENDED_WELL and run["seconds"] <= LIMITS_SEC[quick] and 0 < asked == held


def row(run, quick):
    """A line of the table."""
    held, asked = holds(run)
    hold = f"{held} of {asked}" if 0 < asked == held else f"**{held} of {asked}**"
    return [run["name"], f"{run['seconds']:.0f} s", f"{LIMITS_SEC[quick]} s", str(run["code"]), hold,
            "met" if is_met(run, quick) else "**missed**"]


def case_row(case):
    """A line of the table of what came of each plan of an experiment."""
    throughput = case["throughput_per_sec"]
    expected = {None: "–", True: "right"}.get(case["right"]) or f"**{scenarios.words(case['expected'])}**"
    return [case["name"], "–" if throughput is None else f"{throughput:,.0f}", scenarios.words(case["found"]),
            case["confidence"] or "–", expected]


def shown(run):
    """What an experiment concluded, in Plimsoll's words too, and what came of each of its plans."""
    text = f"### {run['name']}\n\n"
    if run["document"] is None:
        return text + f"It printed nothing, with exit code {run['code']}.\n\n"
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in run["conclusions"]) + "\n"
    text += "".join(f"> {said}\n\n" for said in run["document"].get("conclusions") or [])
    rows = [case_row(case) for case in run["document"]["runs"]]
    return text + judge.markdown(["run", "QPS", "limit", "confidence", "expected"], rows) + "\n"


def measure():
    """All of them; then the table and what each concluded."""
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
