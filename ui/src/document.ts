// The embedded document, and queries that several sections share.

import type { PageDocument, PageRunDocument, StepDocument, UsageDocument } from "./generated/page";

export type Run = PageRunDocument;
export type { PageDocument, StepDocument };

/** Returns the document embedded in the page; null for a page without one. */
export function embedded(): PageDocument | null {
  const text = document.getElementById("plimsoll")?.textContent;
  return text ? (JSON.parse(text) as PageDocument) : null;
}

let goesOn = false;

/** Sets whether the run on the page is under way. */
export function setUnderWay(on: boolean): void {
  goesOn = on;
}

/** Whether a run is under way. A run that was killed is not sealed either. */
export function underWay(run: Run): boolean {
  return goesOn && !run.document.run.sealed;
}

/** Returns every measured step, those of a search too, each once and in the order of the run. */
export function allSteps(run: Run): StepDocument[] {
  const byIndex = new Map<number, StepDocument>();
  for (const step of run.document.steps) byIndex.set(step.index, step);
  for (const trial of run.document.search?.trials ?? []) byIndex.set(trial.step.index, trial.step);
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

/** Returns the steps of a ladder: a closed loop, each with more connections than the one before. */
export function ladder(run: Run): StepDocument[] {
  return run.document.steps.filter((step) => step.rate_per_sec === null);
}

/** Returns the step with the highest throughput. */
export function highest(steps: readonly StepDocument[]): StepDocument | null {
  return steps.reduce<StepDocument | null>((best, step) =>
    (step.throughput_per_sec ?? -1) > (best?.throughput_per_sec ?? -1) ? step : best, null);
}

/** Returns the step that the answer is about; null if no request succeeded. */
export function bestStep(run: Run): StepDocument | null {
  return run.document.steps.find((step) => step.index === run.headline.step) ?? null;
}

/**
 * Returns the fewest connections with the throughput of the plateau; null if the generator was the limit, because the target's own
 * throughput may grow further.
 */
export function kneeOf(run: Run): number | null {
  const { answer } = run.document;
  return answer.lower_bound ? null : answer.knee_connections;
}

/** Returns the position in `steps` at which hosts are shown: the plateau, else the highest throughput. */
export function busiestPosition(run: Run): number | null {
  const { answer, steps } = run.document;
  const step = steps.find((one) => one.connections === answer.plateau_connections && one.rate_per_sec === null)
    ?? highest(steps) ?? steps[0];
  return step === undefined ? null : steps.indexOf(step);
}

/** The prefix of a figure for each bound, as in the text report. */
const BOUNDS: Record<string, string> = { exact: "", generator_limited: "≥ ", unfinished: "at least " };

/** Returns the throughput in the answer, as in the text report; `bound` is its prefix, empty for an exact figure. */
export function headline(run: Run): { perSec: number | null; bound: string; what: string } {
  const { per_sec: perSec, bound, what } = run.headline;
  return { perSec, bound: perSec === null ? "" : BOUNDS[bound] ?? "", what };
}

/** The first paragraph of the text report, as one line. */
export function lead(run: Run): string {
  const lines = run.text.split("\n");
  const end = lines.findIndex((line) => line.trim() === "");
  return lines.slice(0, end < 0 ? lines.length : end)
    .filter((line) => !/^\s*[✔✘?]/u.test(line))
    .map((line) => line.trim()).join(" ");
}

/** Returns the resource uses of a host at one step, those nearest to their capacity first. */
export function usesAt(usage: readonly UsageDocument[], position: number | null): UsageDocument[] {
  return usage.filter((use) => use.step === position).sort((a, b) => (filled(b) ?? -1) - (filled(a) ?? -1));
}

/** Returns the used part of the capacity; null if either is not known. */
export function filled(use: { used: number | null; capacity: number | null }): number | null {
  return use.used === null || use.capacity === null || use.capacity <= 0 ? null : use.used / use.capacity;
}

/** The resources to which each limit may refer. */
const LIMITED: Record<string, string[]> = {
  cpu: ["cpu", "core", "allowed_cores"],
  thread: ["thread"],
  quota: ["quota", "cpu"],
  bandwidth: ["bandwidth_out", "bandwidth_in", "bandwidth_both"],
  packets: ["packets_out", "packets_in"],
  memory: ["memory"],
  disk: ["disk", "disk_read", "disk_write"],
  connections: ["descriptors", "accept_queue", "connections"],
  pool: ["pool"],
};
/** The kinds of place that use the CPU of a host without being a part of it. */
const TAKERS = new Set(["other_process", "other_guests", "others"]);

/** Whether the verdict names this resource use. If its place is a process, thread or device, the use must belong to that. */
export function limits(run: Run, host: string, use: { resource: string; of: string }): boolean {
  const { limit, place } = run.document.verdict;
  if (place.host !== host || !(LIMITED[limit] ?? []).includes(use.resource)) return false;
  if (TAKERS.has(place.kind)) return use.of === "";
  if (place.kind !== "host") return place.name !== "" && isOf(run, host, use.of, place.name);
  return use.of === "" || use.resource === "allowed_cores" || !["cpu", "quota"].includes(limit);
}

/** Whether a part has this name, alone or with its number (`java`, `12 java`), or is a thread of a process of that name (`12/14 main`). */
export function isOf(run: Run, host: string, part: string, name: string): boolean {
  if (part === name || part.endsWith(` ${name}`)) return true;
  const pid = /^(\d+)\//.exec(part)?.[1];
  return pid !== undefined && run.document.tiers.some((tier) =>
    tier.host === host && tier.process === name && tier.pids.includes(Number(pid)));
}
