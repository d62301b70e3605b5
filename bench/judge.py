"""Turns rows of measurements into a table and a line for each goal. Pure: no file, no process, no clock."""

import rounds

NAMES = {"us_per_request": "CPU a request", "peak_bytes": "peak memory", "p50_us": "p50"}


def best(rows, ours, figure):
    """Returns (contender, median) of Plimsoll's cheapest form, or None if none was measured."""
    found = [(rounds.median(rows, contender, figure), contender) for contender in ours]
    found = [(value, contender) for value, contender in found if value is not None]
    return min(found)[::-1] if found else None


def judged(case, rows, contenders):
    """Returns one document for each goal of a case whose peer takes part."""
    ours = [name for name in contenders if name not in case.peers]
    return [one_goal(goal, rows, ours) for goal in case.goals if goal.peer in contenders]


def one_goal(goal, rows, ours):
    """Returns the goal, what was found, and whether that is enough. A goal that was not measured is not met."""
    chosen, theirs = best(rows, ours, goal.figure), rounds.median(rows, goal.peer, goal.figure)
    result = {"figure": goal.figure, "peer": goal.peer, "at_most": goal.at_most, "met": False}
    if chosen is None or theirs is None:
        return {**result, "found": None}
    contender, value = chosen
    away = goal.figure == "p50_us"
    found = value - theirs if away else value / theirs
    over = (abs(found) if away else found) - goal.at_most
    return {**result, "contender": contender, "found": found, "over": over, "met": over <= 0,
            "rounds": rounds.spread(rows, contender, goal.peer, goal.figure)}


def verdict_cells(result):
    """Returns Plimsoll's form, what was found, the goal, and "met", "missed by x" or "not measured"."""
    peer, found, away = result["peer"], result["found"], result["figure"] == "p50_us"
    goal = f"{peer} ± {result['at_most']:.1f} µs" if away else f"≤ {result['at_most']:.2f} × {peer}"
    if found is None:
        return ["–", "–", goal, "**not measured**"]
    shown = f"{peer} {found:+.1f} µs" if away else f"{found:.2f} × {peer}"
    missed = f"**missed by {result['over']:.1f} µs**" if away else f"**missed by {result['over']:.2f}**"
    return [result["contender"], shown, goal, "met" if result["met"] else missed]


def verdict(result):
    """Returns a goal as a line."""
    contender, found, goal, word = verdict_cells(result)
    name = NAMES[result["figure"]]
    if result["found"] is None:
        return f"- {word}: {name}, goal {goal}\n"
    between = " (rounds: {:.2f} to {:.2f})".format(*result["rounds"]) if "×" in goal and result["rounds"] else ""
    return f"- {word}: {name} {found}, goal {goal}; {contender}{between}\n"


def cell(value, digits, scale=1.0):
    """Formats a figure; a dash if there is none."""
    return "–" if value is None else f"{value * scale:.{digits}f}"


def table(case, rows, contenders):
    """Returns a table with a row for each contender."""
    first = case.peers[0]
    base = rounds.median(rows, first, "us_per_request")
    header = ["tool", "µs/request", f"× {first}", "server µs", "both µs", "requests/s", "of its core", "peak MiB"]
    header += ["p50 µs"] if case.percentiles else []
    header += ["looking, of a core"] if case.probed else []
    lines = []
    for contender in contenders:
        cost = rounds.median(rows, contender, "us_per_request")
        ratio = cost / base if cost is not None and base else None
        line = [contender, cell(cost, 2), cell(ratio, 2),
                cell(rounds.median(rows, contender, "server_us_per_request"), 2),
                cell(rounds.median(rows, contender, "both_us_per_request"), 2),
                cell(rounds.median(rows, contender, "requests_per_sec"), 0),
                cell(rounds.median(rows, contender, "core_ratio"), 2),
                cell(rounds.median(rows, contender, "peak_bytes"), 1, 2**-20)]
        line += [cell(rounds.median(rows, contender, "p50_us"), 1)] if case.percentiles else []
        line += [cell(rounds.median(rows, contender, "probe_cores"), 4)] if case.probed else []
        lines.append(line)
    return markdown(header, lines)


def markdown(header, lines):
    """Returns a table of formatted cells."""
    every = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in every) + "\n"


def account(rows):
    """Says whether nginx's count equals Plimsoll's in every run that has both counts. Without such a run, returns no line."""
    accounts = [row["account"] for row in rows if "account" in row]
    exact = sum(one["exact"] for one in accounts)
    if not accounts:
        return "", True
    word = "met" if exact == len(accounts) else "**missed**"
    text = f"- {word}: nginx's count is completed + unanswered exactly in {exact} of {len(accounts)} runs\n"
    return text, exact == len(accounts)


def render(document, case):
    """Returns the text of a case, and whether all its goals were met."""
    rows = document["runs"]
    text = f"## {case.title}\n\n{table(case, rows, document['contenders'])}\n"
    text += "".join(map(verdict, document["goals"]))
    count_text, count_met = account(rows)
    text += count_text
    text += unmeasured(document["failed"])
    commands = "\n".join(document["commands"].values())
    text += f"\n```console\n{commands}\n```\n\n"
    return text, count_met and not document["failed"] and all(goal["met"] for goal in document["goals"])


def unmeasured(failed):
    """Returns a line for each contender without figures, with the reason."""
    return "".join(f"- **not measured**: {name}: {first_line(why)}\n" for name, why in failed.items())


def first_line(text):
    """Returns the first line of an error, short enough for a list."""
    return (text.strip().splitlines() or [""])[0][:200]
