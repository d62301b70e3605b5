#!/usr/bin/env python3
"""The answer of `plimsoll URL` against nginx, next to a ladder of wrk over the same steps.

The limit of the URL is nginx's own (5 ms an answer, 5000 a second at most). Against a location that costs next to nothing, the load
generator would be the limit, and the ladders would compare the two generators. The machine's speed drifts over minutes, so wrk's ladder
is run before and after, and each step's two figures are averaged. Both ladders are read with one rule: the plateau is the best
throughput, the knee the smallest concurrency within 5 % of it.
"""

import tempfile

import answers
import client
import judge
import pinned
import results
import servers
import tools

STEPS = 10
PACED = "/paced"
BUDGET_SEC = 90
MARGIN = 0.05


def knee_of(ladder):
    """Returns (knee, plateau) of {connections: throughput}."""
    plateau = max(ladder.values())
    return min(at for at, found in ladder.items() if found >= (1 - MARGIN) * plateau), plateau


def run_to_end(argv, limit_sec, accepted=(0,)):
    """Runs a client to its end without sampling it."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, client.running(argv, folder) as running:
        return running.finish(limit_sec, accepted)


def wrk_ladder(url, steps, seconds):
    """Returns requests per second by wrk at each concurrency."""
    def at(step):
        argv = ["wrk", "-t1", f"-c{step}", f"-d{seconds}s", "--latency", url]
        return answers.wrk_throughput(run_to_end(argv, seconds + 60))
    return {step: at(step) for step in steps}


def plimsoll_ladder(document):
    """Returns {connections: throughput} of the steps with a number of connections instead of a rate."""
    return {step["connections"]: step["throughput_per_sec"]
            for step in document["steps"] if step["connections"] and not step.get("rate_per_sec")}


def compared(document, wall_sec, theirs):
    """Returns both knees and plateaus, and their ratios."""
    knee, plateau = knee_of(theirs)
    answer = document["answer"]
    return {
        "answer_sec": wall_sec,
        "plimsoll": {"knee_connections": answer["knee_connections"], "plateau_per_sec": answer["plateau_per_sec"]},
        "wrk": {"knee_connections": knee, "plateau_per_sec": plateau},
        "knee_ratio": answer["knee_connections"] / knee,
        "plateau_ratio": answer["plateau_per_sec"] / plateau,
        "verdict": document["verdict"]["limit"],
        "generator_healthy": document["generator"]["healthy"],
    }


def render(result, ours, theirs):
    """Returns the text of the result, and whether its goals were met."""
    rows = [[at, f"{ours[at]:.0f}" if at in ours else "not run", f"{found:.0f}"] for at, found in theirs.items()]
    rows += [[name, f"{result['plimsoll'][key]:.0f}", f"{result['wrk'][key]:.0f}"]
             for name, key in (("**knee**", "knee_connections"), ("**plateau**", "plateau_per_sec"))]
    text = "## The whole answer next to a wrk ladder (requests/s)\n\n"
    text += judge.markdown(["connections", "plimsoll", "wrk"], rows) + "\n"
    goals = [
        (f"answer after {result['answer_sec']:.1f} s, at most {BUDGET_SEC} s required",
         result["answer_sec"] <= BUDGET_SEC),
        (f"knee {result['knee_ratio']:.2f} × wrk's, within 5 % required", abs(result["knee_ratio"] - 1) <= MARGIN),
        (f"plateau {result['plateau_ratio']:.3f} × wrk's, within 5 % required",
         abs(result["plateau_ratio"] - 1) <= MARGIN),
    ]
    text += "".join(f"- {'met' if met else '**missed**'}: {what}\n" for what, met in goals)
    return text + "\n", all(held for _, held in goals)


def measure():
    """Runs wrk, Plimsoll and wrk again, then makes the table."""
    options = results.arguments(__doc__.splitlines()[0], seconds=5).parse_args()
    done = results.measured_before("knee", options)
    if done is not None:
        return done
    steps = [2**power for power in range(STEPS)]
    with servers.nginx() as nginx:
        url = nginx.url(path=PACED)
        before = wrk_ladder(url, steps, options.seconds)
        answer = [pinned.require_plimsoll(), url, "--json"]
        ended = run_to_end(answer, BUDGET_SEC * 3, tools.MEASURED)
        after = wrk_ladder(url, steps, options.seconds)
    document = answers.plimsoll(ended)
    if document["answer"].get("knee_connections") is None or document["answer"].get("plateau_per_sec") is None:
        raise pinned.BenchError(f"plimsoll gave no knee or no plateau: {document['answer']}")
    theirs = {at: (before[at] + after[at]) / 2 for at in steps}
    result = compared(document, ended.wall_sec, theirs)
    text, met = render(result, plimsoll_ladder(document), theirs)
    rest = {"wrk_before": before, "wrk_after": after, "plimsoll_document": document}
    return results.save("knee", options, {"result": result, **rest}, text, met)


if __name__ == "__main__":
    results.main(measure)
