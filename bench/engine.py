#!/usr/bin/env python3
"""One case of the table in cases.py: CPU time per request of Plimsoll and its peers, in interleaved rounds."""

import contextlib

import answers
import cases
import judge
import pinned
import results
import rounds
import servers
import steady
import tools

# From this many connections on, ports in TIME_WAIT would leave too few for the next client.
FRESH_SERVER_FROM = 5000


def one_run(case, nginx, contender, seconds):
    """Runs one contender for one round. Returns a row of figures."""
    asked = steady.asked_sec(case.connections, seconds)
    argv = tools.command(contender, case, nginx.url(case.site, case.path), asked)
    ours = contender.startswith("plimsoll")
    row, ended = steady.measure(nginx, argv, case.connections, seconds, tools.MEASURED if ours else (0,))
    row["stdout"] = "" if ours and not case.script else ended.stdout[-2000:]
    if ours and not case.script:
        document = answers.plimsoll(ended)
        row["account"] = answers.plimsoll_account(document, row["whole_run"]["requests"])
        row["p50_us"] = document["steps"][0]["latency_ms"]["p50"] * 1000
        row["probe_cores"] = sum(host["probe_cores"] or 0 for host in document["hosts"])
    elif case.percentiles:
        row["p50_us"] = answers.wrk_percentiles_ms(ended)["p50"] * 1000
    return row


@contextlib.contextmanager
def server(case):
    """Runs nginx, after checking that it answers as the case expects."""
    with servers.nginx() as nginx:
        nginx.require_answer(case.site, case.path, "POST" if case.post else "GET", case.answer_bytes)
        yield nginx


def runs(case, contenders, options):
    """Runs all rounds: against one nginx, or each against its own if ports are short."""
    if case.connections >= FRESH_SERVER_FROM:
        def measure(contender):
            with server(case) as nginx:
                return one_run(case, nginx, contender, options.seconds)
        return rounds.run(options.rounds, contenders, measure)
    with server(case) as nginx:
        return rounds.run(options.rounds, contenders, lambda name: one_run(case, nginx, name, options.seconds))


def commands(case, contenders, options):
    """Returns the command line of each contender, as it is printed."""
    url = f"{servers.SCHEMES[case.site]}://127.0.0.1:PORT{case.path}"
    asked = steady.asked_sec(case.connections, options.seconds)
    return {name: tools.shown(tools.command(name, case, url, asked)) for name in contenders}


def measure():
    """Runs the rounds of one case, then prints its table."""
    parser = results.arguments(__doc__, rounds=5, seconds=5, drivers=",".join(cases.DRIVERS))
    parser.add_argument("case", choices=list(cases.BY_NAME), help="name of a case")
    options = parser.parse_args()
    before = results.measured_before(options.case, options)
    if before is not None:
        return before
    case = cases.BY_NAME[options.case]
    pinned.require_descriptors(case.connections)
    drivers = [name for name in options.drivers.split(",") if name] or [""]
    contenders = cases.contenders(case, drivers)
    rows, failed = runs(case, contenders, options)
    document = {"case": case.name, "title": case.title, "contenders": contenders,
                "commands": commands(case, contenders, options), "goals": judge.judged(case, rows, contenders),
                "failed": failed, "runs": rows}
    text, met = judge.render(document, case)
    return results.save(case.name, options, document, text, met)


if __name__ == "__main__":
    results.main(measure)
