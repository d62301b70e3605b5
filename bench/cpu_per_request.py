#!/usr/bin/env python3
"""Client CPU a request: wrk, ab, hey and Plimsoll, each alone on one core, nginx on the other."""

import harness
import tools

CONNECTIONS = (100, 1000)
RATIO_TO_WRK_MAX = 0.90


def one_run(nginx, tool, connections, seconds):
    """One tool for one round, as a row of raw figures."""
    accepted = tools.MEASURED if tool == "plimsoll" else (0,)
    argv = tools.CLOSED_LOOP[tool](nginx.url, connections, seconds)
    client, requests = harness.counted(nginx, argv, seconds + 60, accepted)
    if requests == 0:
        raise harness.BenchError(f"nginx counted no request of {tool}:\n{client.stdout}\n{client.stderr}")
    row = {
        "tool": tool,
        "connections": connections,
        "cpu_sec": client.cpu_sec,
        "requests": requests,
        "us_per_request": client.cpu_sec / requests * 1e6,
        "requests_per_sec": requests / seconds,
    }
    if tool == "plimsoll":
        row["count"] = count_check(tools.read_plimsoll(client), requests)
    return row


def count_check(document, nginx_requests):
    """Whether Plimsoll's account is nginx's: what was answered and what was in flight at the end."""
    steps = document["steps"]
    completed = sum(step["completed"] for step in steps)
    unanswered = sum(step["failed"].get("unanswered", 0) for step in steps)
    return {
        "nginx": nginx_requests,
        "completed": completed,
        "unanswered": unanswered,
        "failed": {kind: count for step in steps for kind, count in step["failed"].items()},
        "driver": document["generator"]["driver"],
        "healthy": document["generator"]["healthy"],
        "exact": nginx_requests == completed + unanswered,
    }


def medians(runs, connections):
    """Per tool: µs a request, its ratio to wrk's, and requests per second."""
    at = {tool: [run for run in runs if (run["tool"], run["connections"]) == (tool, connections)]
          for tool in tools.CLOSED_LOOP}
    us = {tool: harness.median(run["us_per_request"] for run in mine) for tool, mine in at.items()}
    qps = {tool: harness.median(run["requests_per_sec"] for run in mine) for tool, mine in at.items()}
    return [{"tool": tool, "connections": connections, "us_per_request": us[tool],
             "ratio_to_wrk": us[tool] / us["wrk"], "requests_per_sec": qps[tool]} for tool in us]


def render(summary, checks, rounds, seconds):
    """The text of the result and whether its goals held."""
    rows = [[row["connections"], row["tool"], f"{row['us_per_request']:.2f}", f"{row['ratio_to_wrk']:.2f}",
             f"{row['requests_per_sec']:.0f}"] for row in summary]
    text = f"## Client CPU a request (medians of {rounds} interleaved rounds of {seconds} s)\n\n"
    text += harness.markdown_table(["connections", "tool", "µs/request", "× wrk", "requests/s"], rows) + "\n"
    ours = [row for row in summary if row["tool"] == "plimsoll"]
    held = True
    for row in ours:
        cheap = row["ratio_to_wrk"] <= RATIO_TO_WRK_MAX
        held &= cheap
        text += harness.goal(f"{row['connections']} connections: {row['ratio_to_wrk']:.2f} × wrk, "
                             f"at most {RATIO_TO_WRK_MAX:.2f} wanted", cheap)
    exact = sum(check["exact"] for check in checks)
    text += harness.goal(f"nginx's count is completed + unanswered exactly in {exact} of {len(checks)} runs",
                         exact == len(checks))
    return text + "\n", held and exact == len(checks)


def measure():
    """All rounds, then the table."""
    options = harness.arguments(__doc__, rounds=5, seconds=5)
    runs = []
    with harness.nginx_server() as nginx:
        for connections in CONNECTIONS:
            for index, tool in harness.interleaved(options.rounds, list(tools.CLOSED_LOOP)):
                runs.append({"round": index, **one_run(nginx, tool, connections, options.seconds)})
    summary = [row for connections in CONNECTIONS for row in medians(runs, connections)]
    checks = [run["count"] for run in runs if "count" in run]
    text, held = render(summary, checks, options.rounds, options.seconds)
    return harness.save("cpu_per_request", options.out, {"summary": summary, "runs": runs}, text, held)


if __name__ == "__main__":
    harness.main(measure)
