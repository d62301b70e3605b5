"""The command lines of the compared tools. `answers.py` parses their output."""

import pathlib
import shlex
import shutil

import pinned

# Plimsoll's exit codes when it measured: all held, an SLO was broken, refused as evidence.
MEASURED = (0, 3, 4)
HERE = pathlib.Path(__file__).resolve().parent
BODY_FILE = HERE / "scripts" / "order.json"
JSON_TYPE = "application/json"
# ab keeps a record of each request, so -n needs a limit; no machine here reaches this one.
AB_REQUESTS_PER_SEC_MAX = 400_000


def wrk(case, url, seconds):
    """One thread, because wrk does not accept more threads than connections."""
    return ["wrk", *wrk_options(case, seconds), url, *wrk_arguments(case)]


def wrk_options(case, seconds):
    """The options that wrk and `plimsoll wrk` share."""
    script = script_of(case)
    flags = ["-s", HERE / "scripts" / script] if script else []
    return ["-t1", f"-c{case.connections}", f"-d{seconds}s", "--latency", *flags]


def script_of(case):
    """Returns the script that wrk needs where others have options, or None."""
    if case.script:
        return case.script
    if case.pipeline > 1:
        return "pipeline.lua"
    if case.post:
        return "post.lua"
    return "percentiles.lua" if case.percentiles else None


def wrk_arguments(case):
    """Returns the script's own arguments: the file with the body, or the number of pipelined requests."""
    if case.pipeline > 1:
        return ["--", case.pipeline]
    return ["--", BODY_FILE] if case.post else []


def ab(case, url, seconds):
    """ab's -t sets a maximum of 50,000 requests unless -n follows."""
    post = ["-p", BODY_FILE, "-T", JSON_TYPE] if case.post else []
    bound = ["-t", seconds, "-n", seconds * AB_REQUESTS_PER_SEC_MAX]
    return ["ab", "-k", "-q", "-r", *bound, "-c", case.connections, *post, url]


def oha(case, url, seconds):
    """Without oha's display, which would change its engine."""
    post = ["-m", "POST", "-D", BODY_FILE, "-T", JSON_TYPE] if case.post else []
    return ["oha", "--no-tui", "-c", case.connections, "-z", f"{seconds}s", *post, url]


def h2load(case, url, seconds):
    """h2load does not verify certificates."""
    version = ["-m", case.streams] if case.site == "h2" else ["--h1"]
    return ["h2load", "-t", 1, "-c", case.connections, "-D", seconds, *version, url]


def gcannon(case, url, seconds):
    """gcannon keeps a history in its home, which is the folder of the run here."""
    return ["env", "HOME=.", "gcannon", url, "-t", 1, "-c", case.connections, "-d", f"{seconds}s", "--json"]


def plimsoll(case, url, seconds, driver=None, looking=False):
    """A closed loop with one worker. Plimsoll does not sample hosts unless `looking`, because no other tool does."""
    chosen = ["--driver", driver] if driver else []
    post = ["-m", "POST", "-b", f"@{BODY_FILE}", "-H", f"Content-Type: {JSON_TYPE}"] if case.post else []
    streams = ["--http2", "--streams", case.streams] if case.site == "h2" else []
    insecure = [] if case.site == "plain" else ["--insecure"]
    pipeline = ["--pipeline", case.pipeline] if case.pipeline > 1 else []
    load = ["-c", case.connections, "-d", f"{seconds}s", "-t", 1]
    blind = [] if looking else ["--no-probe"]
    return [pinned.PLIMSOLL, "run", url, *load, *chosen, *post, *streams, *insecure, *pipeline, *blind, "--json"]


def plimsoll_wrk(case, url, seconds):
    """Plimsoll with wrk's own command line."""
    return [pinned.PLIMSOLL, "wrk", *wrk_options(case, seconds), url, *wrk_arguments(case)]


PEERS = {"wrk": wrk, "ab": ab, "oha": oha, "h2load": h2load, "gcannon": gcannon}
# In no package: measured where it is installed, left out elsewhere.
OPTIONAL = ("gcannon",)


def takes_part(contender):
    """Returns False for an optional peer that is not installed."""
    return contender not in OPTIONAL or shutil.which(contender, path=pinned.environment()["PATH"]) is not None


def command(contender, case, url, seconds):
    """Returns the command line of a contender: a peer's name, or Plimsoll's with a driver or with wrk's command line."""
    if contender in PEERS:
        return PEERS[contender](case, url, seconds)
    pinned.require_plimsoll()
    _, _, form = contender.partition(" ")
    if form == "wrk":
        return plimsoll_wrk(case, url, seconds)
    if case.probed:
        return plimsoll(case, url, seconds, looking=form != "--no-probe")
    return plimsoll(case, url, seconds, form or None)


def shown(argv):
    """Formats a command line for print: paths relative to the repository, one port for all."""
    words = (str(word).replace(str(pinned.PLIMSOLL), "plimsoll") for word in argv)
    return shlex.join(word.replace(f"{pinned.ROOT}/", "") for word in words)
