"""Results on disk: a JSON document and a text for each benchmark, with the machine and the build they come from."""

import argparse
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

import pinned

OUT = pinned.ROOT / "bench" / "out"
VERSIONS = {"nginx": ["nginx", "-v"], "wrk": ["wrk", "-v"], "ab": ["ab", "-V"], "oha": ["oha", "--version"],
            "h2load": ["h2load", "--version"], "k6": ["k6", "version"]}
# hey and gcannon print no version; the version of hey is that of its Debian package.
PACKAGES = {"hey": "hey"}


def arguments(description, **defaults):
    """Returns a parser of `--out`, `--unless-measured` and one flag for each default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder of the results")
    parser.add_argument("--unless-measured", action="store_true",
                        help="do nothing if the folder holds this result of this very binary with these settings")
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"default {default}")
    return parser


def binary_sha256():
    """Returns a hash of the measured binary, because the commit does not identify the build."""
    return hashlib.sha256(pinned.require_plimsoll().read_bytes()).hexdigest()


def settings(options):
    """Returns the flags that change a result."""
    return {name: value for name, value in vars(options).items() if name not in ("out", "unless_measured", "case")}


def measured_before(name, options):
    """Returns the exit code of a result that need not be measured again, else None."""
    path = options.out / f"{name}.json"
    if not options.unless_measured or not path.exists():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    same = document["binary_sha256"] == binary_sha256() and document["settings"] == settings(options)
    if not same or document.get("failed"):
        return None
    print(f"bench: {name}: measured before with this binary", file=sys.stderr)
    return 0 if document["goals_met"] else 3


def save(name, options, document, text, met):
    """Writes NAME.json and NAME.md, and prints the text. Returns the exit code: 3 if a goal was missed."""
    options.out.mkdir(parents=True, exist_ok=True)
    document = {"benchmark": name, "machine": machine(), "binary_sha256": binary_sha256(),
                "settings": settings(options), "goals_met": met, **document}
    (options.out / f"{name}.json").write_text(json.dumps(document, indent=2, default=str) + "\n", encoding="utf-8")
    (options.out / f"{name}.md").write_text(text, encoding="utf-8")
    print(text, flush=True)
    return 0 if met else 3


def main(measure):
    """Runs a benchmark's function, which returns its exit code; exits with 1 if the benchmark could not be made."""
    try:
        sys.exit(measure())
    except pinned.BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)


def answer_of(argv):
    """Returns the first line that a tool prints about its version."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False, env=pinned.environment())
    except (OSError, subprocess.TimeoutExpired):
        return "not installed"
    lines = (answer.stdout + answer.stderr).strip().splitlines()
    return lines[0] if lines else "not known"


def version_of(argv):
    """Returns the version number in that line, if it has one."""
    found = re.search(r"\d+\.\d+(\.\d+)?", answer_of(argv))
    return found.group(0) if found else "not installed"


def machine():
    """Returns the machine and the versions of the tools."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return {
        "processor": model.group(1) if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "commit": answer_of(["git", "-C", str(pinned.ROOT), "describe", "--always", "--dirty"]),
        **{name: version_of(argv) for name, argv in VERSIONS.items()},
        **{name: version_of(["dpkg-query", "-W", "-f", "${Version}", package]) for name, package in PACKAGES.items()},
    }
