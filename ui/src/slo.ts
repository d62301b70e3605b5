// The conditions of an answer, each with what was measured.

import type { Mark } from "./charts/marks";
import { bestStep, type Run, type StepDocument } from "./document";
import { milliseconds, percentile, rate, ratio } from "./format";
import type { TimesDocument } from "./generated/page";

export interface Condition { held: boolean | null; text: string }

/** The step whose figures the conditions are about: the trial that held, else the best step. */
export function judgedStep(run: Run): StepDocument | null {
  const search = run.document.search;
  const held = search?.trials.filter((trial) =>
    trial.outcome === "held" && trial.step.rate_per_sec === search.held_per_sec) ?? [];
  return held[held.length - 1]?.step ?? bestStep(run);
}

export function timeAt(times: TimesDocument, at: number | null): number | null {
  const known: Record<string, number | null> = {
    50: times.p50, 75: times.p75, 90: times.p90, 95: times.p95, 99: times.p99, 99.9: times.p999, 100: times.max,
  };
  return at === null ? null : known[String(Number(at.toFixed(4)))] ?? null;
}

export function conditions(run: Run): Condition[] {
  const slo = run.document.answer.slo;
  if (slo === null) return [];
  const step = judgedStep(run);
  const list: Condition[] = slo.latency.map((limit) => ({
    held: limit.held,
    text: `${percentile(limit.percentile)} ${milliseconds(step && timeAt(step.latency_ms, limit.percentile))} `
      + `(limit ${milliseconds(limit.limit_ms)})`,
  }));
  if (slo.success_ratio !== null) {
    list.push({ held: slo.success_held, text: `success ${ratio(step?.success_ratio)} (at least ${ratio(slo.success_ratio)})` });
  }
  if (slo.throughput_per_sec !== null) {
    list.push({ held: slo.throughput_held, text: `throughput at least ${rate(slo.throughput_per_sec)}` });
  }
  return list;
}

/** The limits of latency as lines across a chart of it. */
export function latencyLimits(run: Run): Mark[] {
  return (run.document.answer.slo?.latency ?? []).flatMap((limit) => (limit.limit_ms === null ? [] : [{
    at: limit.limit_ms, label: `limit ${percentile(limit.percentile)} ≤ ${milliseconds(limit.limit_ms)}`, dash: true,
  }]));
}

export function sign(held: boolean | null): { mark: string; word: string } {
  if (held === null) return { mark: "?", word: "not known" };
  return held ? { mark: "✔", word: "held" } : { mark: "✘", word: "broken" };
}
