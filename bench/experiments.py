#!/usr/bin/env python3
"""Every experiment of the lab, a quick pass of each: does it end by itself and in time, with the exit code of what it found?

`lab/experiments/NAME.toml` is what docs/experiments/NAME.md tells of. A quick pass is for seeing that all of it works; the
figures on those pages are from whole ones.
"""

import subprocess
import time

import judge
import pinned
import results

FOLDER = pinned.ROOT / "lab" / "experiments"
LIMITS_SEC = {True: 120, False: 600}
# 0: as expected. 3: something was found that the file does not expect, which is told and is no failure of the run.
ENDED_WELL = (0, 3)


def experiments():
    """Their names."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if not found:
        raise pinned.BenchError(f"{FOLDER} holds no experiments")
    return found


def made(name, quick, out):
    """One run: its exit code, the seconds that it took, and its text."""
    argv = [pinned.require_plimsoll(), "lab", "run", name, "--out", out] + (["--quick"] if quick else [])
    began = time.monotonic()
    try:
        ended = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False, cwd=pinned.ROOT,
                               timeout=3 * LIMITS_SEC[quick])
    except subprocess.TimeoutExpired as error:
        raise pinned.BenchError(f"{name} did not end within {error.timeout:.0f} s") from error
    return {"name": name, "code": ended.returncode, "seconds": time.monotonic() - began, "text": ended.stdout}


def is_met(run, quick):
    """True if it ended well and in time."""
    return run["code"] in ENDED_WELL and run["seconds"] <= LIMITS_SEC[quick]


def measure():
    """All of them; then the table and what each printed."""
    options = results.arguments(__doc__.splitlines()[0], whole=0).parse_args()
    done = results.measured_before("experiments", options)
    if done is not None:
        return done
    quick = not options.whole
    runs = [made(name, quick, options.out / "experiment-runs") for name in experiments()]
    rows = [[run["name"], f"{run['seconds']:.0f} s", f"{LIMITS_SEC[quick]} s", str(run["code"]),
             "met" if is_met(run, quick) else "**missed**"] for run in runs]
    text = f"## Experiments, a {'quick' if quick else 'whole'} pass of each\n\n"
    text += judge.markdown(["experiment", "took", "at most", "exit code", "goal"], rows) + "\n"
    text += "".join(f"### {run['name']}\n\n```\n{run['text'].rstrip()}\n```\n\n" for run in runs)
    return results.save("experiments", options, {"runs": runs}, text, all(is_met(run, quick) for run in runs))


if __name__ == "__main__":
    results.main(measure)
