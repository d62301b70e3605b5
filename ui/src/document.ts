// The document in the page, and what several sections ask of it.

import type { PageDocument, PageRunDocument, StepDocument, UsageDocument } from "./generated/page";

export type Run = PageRunDocument;
export type { PageDocument, StepDocument };

/** The document that was written into the page; null in a page without one. */
export function embedded(): PageDocument | null {
  const text = document.getElementById("plimsoll")?.textContent;
  return text ? (JSON.parse(text) as PageDocument) : null;
}

let goesOn = false;

/** Says whether the run that is shown goes on. */
export function setUnderWay(on: boolean): void {
  goesOn = on;
}

/** True for a run that goes on; one that was killed is not sealed either. */
export function underWay(run: Run): boolean {
  return goesOn && !run.document.run.sealed;
}

/** Every step that was measured, those of a search too, each once and in the order of the run. */
export function allSteps(run: Run): StepDocument[] {
  const byIndex = new Map<number, StepDocument>();
  for (const step of run.document.steps) byIndex.set(step.index, step);
  for (const trial of run.document.search?.trials ?? []) byIndex.set(trial.step.index, trial.step);
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

/** Steps of a ladder: a closed loop, each with more connections than the one before. */
export function ladder(run: Run): StepDocument[] {
  return run.document.steps.filter((step) => step.rate_per_sec === null);
}

/** The step of the highest throughput. */
export function highest(steps: readonly StepDocument[]): StepDocument | null {
  return steps.reduce<StepDocument | null>((best, step) =>
    (step.throughput_per_sec ?? -1) > (best?.throughput_per_sec ?? -1) ? step : best, null);
}

/** The step that the answer speaks of; null where no request succeeded. */
export function bestStep(run: Run): StepDocument | null {
  return run.document.steps.find((step) => step.index === run.headline.step) ?? null;
}

/** The fewest connections with the throughput of the plateau. Where the generator was the limit, that is not where the target stops growing. */
export function kneeOf(run: Run): number | null {
  const { answer } = run.document;
  return answer.lower_bound ? null : answer.knee_connections;
}

/** The position in `steps` at which hosts are shown: where throughput was highest. */
export function busiestPosition(run: Run): number | null {
  const { answer, steps } = run.document;
  const step = steps.find((one) => one.connections === answer.plateau_connections && one.rate_per_sec === null)
    ?? highest(steps) ?? steps[0];
  return step === undefined ? null : steps.indexOf(step);
}

/** What stands before a figure: "≥" where the load generator was the limit, as in the text. */
const BOUNDS: Record<string, string> = { exact: "", generator_limited: "≥ ", unfinished: "at least " };

/** The throughput that the answer names, as the text does: its bound is a prefix of the figure, empty for what was measured. */
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

/** The uses of resources of a host at one step, those first that are nearest to their capacity. */
export function usesAt(usage: readonly UsageDocument[], position: number | null): UsageDocument[] {
  return usage.filter((use) => use.step === position).sort((a, b) => (filled(b) ?? -1) - (filled(a) ?? -1));
}

/** The part of its capacity that is used; null where either is not known. */
export function filled(use: { used: number | null; capacity: number | null }): number | null {
  return use.used === null || use.capacity === null || use.capacity <= 0 ? null : use.used / use.capacity;
}

/** Resources that a limit may be of. */
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
/** Kinds of a place that are no part of a host, but take its CPU. */
const TAKERS = new Set(["other_process", "other_guests", "others"]);

/** Whether the verdict names this use of a resource: that of the process, thread or device of its place, where it has one. */
export function limits(run: Run, host: string, use: { resource: string; of: string }): boolean {
  const { limit, place } = run.document.verdict;
  if (place.host !== host || !(LIMITED[limit] ?? []).includes(use.resource)) return false;
  if (TAKERS.has(place.kind)) return use.of === "";
  if (place.kind !== "host") return place.name !== "" && isOf(run, host, use.of, place.name);
  return use.of === "" || use.resource === "allowed_cores" || !["cpu", "quota"].includes(limit);
}

/** A part by its name alone or with its number, `java`, `12 java`; or a thread of the processes of that name, `12/14 main`. */
export function isOf(run: Run, host: string, part: string, name: string): boolean {
  if (part === name || part.endsWith(` ${name}`)) return true;
  const pid = /^(\d+)\//.exec(part)?.[1];
  return pid !== undefined && run.document.tiers.some((tier) =>
    tier.host === host && tier.process === name && tier.pids.includes(Number(pid)));
}
