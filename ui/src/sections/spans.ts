// The steps and the events of a run, as marks on the axis of time.

import type { Band, Mark } from "../charts/marks";
import type { Run } from "../document";
import { count, grouped, overloadOf } from "../format";
import type { StepSpanDocument } from "../generated/page";
import type { Range } from "../link";
import { judgedStep } from "../slo";

export function bandsOf(run: Run): Band[] {
  // An overload has no best step: its figures are those of all steps.
  const best = run.document.overload === null ? judgedStep(run)?.index : undefined;
  return run.timeline.steps.map((step) => ({
    from: step.began_sec ?? 0, to: step.ended_sec ?? step.began_sec ?? 0, label: label(step),
    strong: step.index === best && run.timeline.steps.length > 1,
  }));
}

function label(step: StepSpanDocument): string {
  if (step.overload_factor !== null) return overloadOf(step.overload_factor, step.onset);
  return step.rate_per_sec === null ? grouped(step.connections) : `${count(step.rate_per_sec)}/s`;
}

/** Returns the events as marks. Sampling at rest is before the load and needs no mark. */
export function eventsOf(run: Run): Mark[] {
  return run.document.events.flatMap((event) =>
    event.at_sec === null || event.kind === "rested" ? [] : [{ at: event.at_sec, label: event.kind.replaceAll("_", " "), dash: true }]);
}

/** Returns the range from the start of the run to the end of what was recorded. */
export function wholeRange(run: Run): Range {
  const { timeline } = run;
  const ends = [
    (timeline.at_sec[timeline.at_sec.length - 1] ?? 0) + (timeline.window_sec ?? 0),
    (timeline.hosts_at_sec[timeline.hosts_at_sec.length - 1] ?? 0) + (timeline.host_window_sec ?? 0),
    ...run.document.events.map((event) => event.at_sec ?? 0),
    ...timeline.steps.map((step) => step.drained_sec ?? step.ended_sec ?? 0),
  ];
  return { min: 0, max: Math.max(1, ...ends) };
}
