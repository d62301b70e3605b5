// The conditions of an answer, each with its measured value.

import type { Mark } from "./charts/marks";
import { bestStep, highest, type Run, type StepDocument } from "./document";
import { milliseconds, percentile } from "./format";
import type { ConditionDocument } from "./generated/page";

/**
 * Returns the step whose figures represent the run: the trial at the highest rate that held, else the best step, else the step with the
 * highest throughput.
 */
export function judgedStep(run: Run): StepDocument | null {
  const search = run.document.search;
  const held = search?.trials.filter((trial) =>
    trial.outcome === "held" && trial.step.rate_per_sec === search.held_per_sec) ?? [];
  return held[held.length - 1]?.step ?? bestStep(run) ?? highest(run.document.steps);
}

/** Returns the conditions, worded as in the text report. */
export function conditions(run: Run): ConditionDocument[] {
  return run.document.answer.slo?.conditions ?? [];
}

/** Returns the latency limits as horizontal lines of a latency chart. */
export function latencyLimits(run: Run): Mark[] {
  return (run.document.answer.slo?.latency ?? []).flatMap((limit) => (limit.limit_ms === null ? [] : [{
    at: limit.limit_ms, label: `limit ${percentile(limit.percentile)} ≤ ${milliseconds(limit.limit_ms)}`, dash: true,
  }]));
}

export function sign(held: boolean | null): { mark: string; word: string } {
  if (held === null) return { mark: "?", word: "not known" };
  return held ? { mark: "✔", word: "held" } : { mark: "✘", word: "broken" };
}
