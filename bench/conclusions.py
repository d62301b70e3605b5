"""The conclusions that each experiment must reach, from the JSON of its `lab run`. Pure: no file, no process, no clock.

The pages docs/experiments/NAME.md and the reports that the experiments repeat share these conclusions. A quick pass leaves runs out, and
is only checked for the conclusions that its runs allow.
"""

import re

# By how much a second Redis, and three Tomcats instead of one, must raise QPS at least.
REDIS_GAIN = 1.2
TOMCAT_GAIN = 1.5
# The switches of filters-ablation that are not caches.
FILTERS = ("perf", "log", "whitelist")
# The gain of the last step of fixing the filters over the service as it was found, at least.
FIXED_GAIN = 4.0


def of(name, document, quick):
    """Returns [(the condition and what was found, whether it holds)] of an experiment; empty without a document."""
    return BY_NAME[name](document, quick) if document else []


def said(document, pattern):
    """Returns the first sentence about all rows that matches, or None."""
    return next((one for one in document.get("conclusions") or [] if re.search(pattern, one)), None)


def sentence(document, what, pattern):
    """Returns a conclusion that holds if one of those sentences matches."""
    return what, said(document, pattern) is not None


def run(document, name):
    """Returns the run of a plan, the file's own or a variant's, by its name; {} if it was not made."""
    return next((one for one in document["runs"] if one["name"].rsplit("/", 1)[-1] == name), {})


def asked(document, quick, *names):
    """Whether a pass makes these runs: a whole pass makes all, a quick one leaves some out."""
    return not quick or all(run(document, name) for name in names)


def words(named):
    """limit@where."""
    return f"{named['limit']}@{named['where']}"


def limited(document, name, limit, where):
    """Returns a conclusion about the limit of one run. Limits that the verdict does not separate from it are shown, and do not count."""
    found = run(document, name)
    first = words(found["found"]) if found.get("found") else "not measured"
    shown = ", not separated from ".join([first, *map(words, found.get("also") or [])])
    return f"{name} is limited by {limit}@{where}: {shown}", first == f"{limit}@{where}"


def quotient(value, other):
    """Returns the ratio; None if a value is not known."""
    return value / other if value and other else None


def at_least(what, ratio, least):
    """Returns a conclusion about a ratio."""
    return f"{what}, at least ×{least}: {times(ratio)}", ratio is not None and ratio >= least


def times(ratio):
    """Formats a ratio."""
    return "not measured" if ratio is None else f"×{ratio:.2f}"


def gain(document, name, base):
    """Returns the QPS of a run over that of another."""
    return quotient(run(document, name).get("throughput_per_sec"), run(document, base).get("throughput_per_sec"))


def cpu_vs_bandwidth(document, quick):
    """Checks the four rules; the last one needs two response sizes on one machine whose link is full."""
    rules = [
        ("more cores raise QPS where the CPU is full", r"^Where the CPU is full .* throughput grows with the cores"),
        ("more cores do not where the link is full", r"^Where the link is full, more cores do not raise throughput"),
        ("more cores do not where the API waits for a slow one, which is named",
         r"^More cores do not raise throughput though neither CPU nor link is full .* @ slow\.$"),
    ]
    if asked(document, quick, "large-391", "large-1000"):
        rules.append(("larger answers lower QPS where the link is full",
                      r"^Where the link is full, larger responses lower throughput"))
    return [sentence(document, what, pattern) for what, pattern in rules]


def compared(document, name, against):
    """Returns a run compared with another; {} if the document has no such comparison."""
    of_one = [one["runs"] for one in document["comparisons"] if one["against"] == against]
    return next((one for runs in of_one for one in runs if one["name"] == name), {})


def api_vs_native(document, _quick):
    """Checks how far gin is from net/http with and without its middlewares, and that the profile names the most expensive one."""
    ratios = [(compared(document, name, "net-http").get("best") or {}).get("throughput_ratio")
              for name in ("api-vs-native", "without-middlewares")]
    whole, bare = ratios
    cpu = compared(document, "api-vs-native", "without-middlewares").get("cpu") or {}
    dump_us = [one["difference_us"] for one in cpu.get("functions", []) if re.search(r"\bDump\b", one["function"])]
    more_us = max((us for us in dump_us if us), default=0.0)
    return [
        (f"gin's best QPS is below net/http's: {times(whole)}", whole is not None and whole < 1),
        (f"without middlewares it is nearer: {times(bare)}", None not in ratios and bare > whole),
        (f"the profiles name the dump as a cost: {more_us:.1f} µs a request", more_us > 0),
    ]


def named(text, label):
    """Whether a sentence about a list of rows names this one."""
    return None not in (text, label) and re.search(rf"(?:: |, ){re.escape(label)} \(", text) is not None


def two_apis(document, _quick):
    """Checks what doubles and what does not, the break-even between them, and that each API has a pool."""
    doubled = said(document, r" through web double what one carries: ")
    short = said(document, r" through web do not double what one carries: ")
    rows = {round(one["held_ms"]): one for one in document.get("rows") or [] if one["held_ms"] is not None}
    labels = {held_ms: row["label"] for held_ms, row in rows.items()}
    found = [(f"a second API doubles QPS at {held_ms} ms", named(doubled, labels.get(held_ms))) for held_ms in (200, 70)]
    found += [(f"it does not at {held_ms} ms", named(short, labels.get(held_ms))) for held_ms in (14, 0)]
    fast = rows.get(0, {})
    alone = [one["throughput_per_sec"] for one in fast.get("alone", [])]
    of_one = quotient(fast.get("throughput_per_sec"), min(alone, default=None))
    evens = [one["held_ms"] for one in document.get("break_evens") or [] if one["held_ms"]]
    return found + [
        (f"at 0 ms both carry less than one alone: {times(of_one)}", of_one is not None and of_one < 1),
        ("the break-even is below 70 ms: " + (", ".join(f"{held:.1f} ms" for held in evens) or "none found"),
         any(0 < held < 70 for held in evens)),
        sentence(document, "each API has a pool", r"^Each of api1 and api2 has a pool of about "),
    ]


def everything_on(ledger):
    """Returns the QPS of the combination with the most switches on."""
    return max(ledger["cells"], key=lambda cell: len(cell["on"]))["throughput_per_sec"] if ledger["cells"] else None


def filters_ablation(document, quick):
    """Checks what to fix first, and the gain of all fixes. A quick pass runs each combination once, so that it cannot separate the log
    from the record."""
    ledgers = {one["state"]: one for one in (document.get("switches") or {}).get("ledgers", [])}
    nothing = {"order": [], "cells": []}
    found, last = (ledgers.get(state, nothing) for state in ("filters-ablation", "4-log-batched-200"))
    order = [step["switch"] for step in found["order"]]
    first = order[:2] if quick else order[:1] + [tie for step in found["order"][:1] for tie in step["ties"]]
    fixed = quotient(everything_on(last), everything_on(found))
    return [
        (f"the log is to be fixed first: {' or '.join(first) or 'not measured'}, of {', '.join(order)}", "log" in first),
        ("of the filters the whitelist, which is only asked, last", [one for one in order if one in FILTERS][-1:] == ["whitelist"]),
        at_least("the last step raises QPS with everything on", fixed, FIXED_GAIN),
    ]


def tiers_100k(document, quick):
    """Checks the limits of the important rows, how tiers scale, and the machines for the target."""
    found = [
        limited(document, "4-nginx1-tomcat4", "bandwidth", "web1"),
        limited(document, "6-redis1", "cpu", "redis1"),
        at_least("a second Redis raises QPS", gain(document, "6-redis2", "6-redis1"), REDIS_GAIN),
    ]
    found += [limited(document, name, "cpu", where) for name, where in (("2-tomcat1", "tomcat1"), ("6-redis1-pinned", "redis4"))
              if asked(document, quick, name)]
    if asked(document, quick, "4-nginx1-tomcat1", "4-nginx1-tomcat3"):
        logins = gain(document, "4-nginx1-tomcat3", "4-nginx1-tomcat1")
        found.append(at_least("three Tomcats carry more logins than one", logins, TOMCAT_GAIN))
    tiers = {one["tier"]: one for one in (document.get("machines") or {}).get("tiers", [])}
    needed = {name: tiers.get(name, {}).get("machines") for name in ("nginx", "tomcat", "dubbo", "redis")}
    decides = [need["resource"] for need in tiers.get("nginx", {}).get("needs", [])][:1]
    return found + [
        ("machines of each tier for the target: " + ", ".join(f"{name} {count or '–'}" for name, count in needed.items()),
         all(needed.values())),
        (f"nginx's are counted by its link: {', '.join(decides) or 'nothing'}",
         decides != [] and decides[0].startswith("bandwidth")),
    ]


BY_NAME = {
    "api-vs-native": api_vs_native,
    "cpu-vs-bandwidth": cpu_vs_bandwidth,
    "filters-ablation": filters_ablation,
    "tiers-100k": tiers_100k,
    "two-apis-behind-nginx": two_apis,
}
