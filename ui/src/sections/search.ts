// The search for the highest rate within the conditions.

import { figure } from "../charts/figure";
import { trialsChart } from "../charts/trials";
import type { Run } from "../document";
import { foreign, h, section } from "../dom";
import { atLeast, counted, milliseconds, percentile, rate, ratio, seconds } from "../format";
import { number, text } from "../table";
import { breach, outcome } from "../words";

const ENDS: Record<string, string> = {
  found: "The search ended because the two rates are near enough to each other.",
  unfinished: "The search did not finish: its time ended, it was stopped, or its trials contradict each other. More time narrows the interval.",
  generator_limited: "The search ended because the load generator was the limit.",
  never_held: "No rate held the conditions.",
};

export function search(run: Run): HTMLElement | null {
  const found = run.document.search;
  if (found === null || found.trials.length === 0) return null;
  const { trials, outage } = found;
  const why = (index: number): string => {
    const trial = trials[index];
    if (!trial?.breach) return "";
    return trial.breach_percentile === null ? breach(trial.breach) : `${breach(trial.breach)} (${percentile(trial.breach_percentile)})`;
  };
  const between = found.held_per_sec === null ? "No rate held."
    : found.broken_per_sec === null ? `${rate(found.held_per_sec)} held, and no rate above it broke a condition.`
    : `${rate(found.held_per_sec)} held, ${rate(found.broken_per_sec)} did not.`;
  const model = {
    name: "trials", title: "Trials", caption: `${counted(trials.length, "rate")} were tried. ${between}`.replace("1 rate were", "1 rate was"),
    trials: trials.map((trial, index) => ({
      rate: trial.step.rate_per_sec ?? 0, outcome: trial.outcome,
      label: `${rate(trial.step.rate_per_sec)}: ${outcome(trial.outcome)} ${why(index)}`,
    })),
    held: found.held_per_sec, broken: found.broken_per_sec,
    table: {
      columns: [number("trial"), number("offered"), text("outcome"), text("what broke"), number("served"), number("p50"), number("p99"), number("success")],
      count: trials.length,
      row: (index: number) => {
        const trial = trials[index];
        if (trial === undefined) return [];
        const { step } = trial;
        return [String(index + 1), rate(step.rate_per_sec), outcome(trial.outcome), why(index), atLeast(rate, step.throughput_per_sec, step.lower_bound),
          milliseconds(step.latency_ms.p50), milliseconds(step.latency_ms.p99), ratio(step.success_ratio)];
      },
      marked: (index: number) => trials[index]?.outcome === "held" && trials[index]?.step.rate_per_sec === found.held_per_sec,
    },
  };
  return section("search", "The search", figure(trialsChart, model).element,
    h("p", {}, ENDS[found.end] ?? foreign(found.end)),
    found.drift === null ? null : h("p", {}, `The maximum moved during the search: ${rate(found.drift.held_per_sec)} held at one time, `
      + `${rate(found.drift.broken_per_sec)} broke at another.`),
    found.hysteresis_per_sec === null ? null
      : h("p", {}, `${rate(found.hysteresis_per_sec)} held, but not right after an overload.`),
    outage === null ? null
      : h("p", {}, `The ladder brought the target down: it served ${rate(outage.served_per_sec)} within the conditions before, and `
        + `${seconds(outage.watched_sec)} after the ladder most requests at ${rate(outage.tried_per_sec)} still failed.`
        + (outage.stuck ? ` A queue of all that was not answered would have been gone after ${seconds(outage.queue_sec)}: `
          + "something else keeps it down." : "")));
}
