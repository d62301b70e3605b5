#!/usr/bin/env python3
"""Peak memory of the client at 10,000 connections: Plimsoll and wrk."""

import harness
import tools


def one_run(tool, connections, seconds):
    """A fresh nginx for each, so that no port of the last client is still waiting for its end."""
    accepted = tools.MEASURED if tool == "plimsoll" else (0,)
    with harness.nginx_server() as nginx:
        argv = tools.CLOSED_LOOP[tool](nginx.url, connections, seconds)
        client, requests = harness.counted(nginx, argv, seconds + 120, accepted)
    row = {"tool": tool, "connections": connections, "accepted": nginx.accepted_connections,
           "requests": requests, "peak_bytes": client.peak_bytes}
    if tool == "plimsoll":
        document = tools.read_plimsoll(client)
        row["failed"] = [step["failed"] for step in document["steps"]]
    return row


def measure():
    """One run of each, side by side. There is no goal: the figures speak."""
    options = harness.arguments(__doc__, connections=10_000, seconds=10)
    if harness.raise_descriptor_limit() < options.connections + 1000:
        raise harness.BenchError(f"{options.connections} connections need a higher hard limit of open files (ulimit -Hn)")
    runs = [one_run(tool, options.connections, options.seconds) for tool in ("plimsoll", "wrk")]
    rows = [[run["tool"], f"{run['peak_bytes'] / 2**20:.1f}", f"{run['peak_bytes'] / run['connections'] / 1024:.2f}",
             run["accepted"], run["requests"]] for run in runs]
    text = f"## Peak memory at {options.connections} connections\n\n"
    text += harness.markdown_table(["tool", "MiB", "KiB a connection", "connections nginx accepted", "requests"], rows) + "\n"
    text += f"Plimsoll takes {runs[0]['peak_bytes'] / runs[1]['peak_bytes']:.2f} × wrk's.\n\n"
    return harness.save("memory", options.out, {"runs": runs}, text, True)


if __name__ == "__main__":
    harness.main(measure)
