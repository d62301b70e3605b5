"""Interleaved rounds and their medians, which make figures comparable on a machine whose speed drifts."""

import statistics
import sys

from pinned import BenchError


def interleaved(count, contenders):
    """Yields (round, contender) for each contender in every round. Each round begins with another one, so that none is always first."""
    for index in range(count):
        shift = index % len(contenders)
        for contender in contenders[shift:] + contenders[:shift]:
            yield index, contender


def run(count, contenders, measure):
    """Calls `measure(contender)` in interleaved rounds. Returns the rows, and why a contender failed.

    A contender that failed is not tried again. The others are measured all the same, and the table says what is missing.
    """
    rows, failed = [], {}
    for index, contender in interleaved(count, contenders):
        if contender in failed:
            continue
        try:
            rows.append({"round": index, "contender": contender, **measure(contender)})
        except BenchError as error:
            failed[contender] = str(error)
            print(f"bench: {contender}: {error}", file=sys.stderr)
    return rows, failed


def of(rows, contender, figure):
    """Returns a figure of a contender in every round that has it."""
    return [row[figure] for row in rows if row["contender"] == contender and row.get(figure) is not None]


def median(rows, contender, figure):
    """Returns the median over a contender's rounds, or None if it was not measured."""
    values = of(rows, contender, figure)
    return statistics.median(values) if values else None


def spread(rows, contender, peer, figure):
    """Returns the smallest and the largest ratio to a peer among the rounds that have both."""
    theirs = {row["round"]: row[figure] for row in rows if row["contender"] == peer and row.get(figure)}
    ratios = [row[figure] / theirs[row["round"]] for row in rows
              if row["contender"] == contender and row["round"] in theirs and row.get(figure) is not None]
    return (min(ratios), max(ratios)) if ratios else None
