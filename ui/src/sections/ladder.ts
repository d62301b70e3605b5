// The ladder: throughput and latency over connections.

import { figure } from "../charts/figure";
import { lineChart, type LineModel, withValues } from "../charts/line";
import { bestStep, kneeOf, ladder as ladderOf, type Run, type StepDocument } from "../document";
import { section } from "../dom";
import { atLeast, count, counted, interval, milliseconds, rate, ratio, whole } from "../format";
import { latencyLimits } from "../slo";
import { number, text } from "../table";
import { spaced } from "../words";

export function ladder(run: Run): HTMLElement | null {
  const steps = ladderOf(run).filter((step) => step.connections > 0).sort((a, b) => a.connections - b.connections);
  if (steps.length < 2) return null;
  return section("ladder", "The ladder",
    figure(lineChart, throughput(run, steps)).element,
    figure(lineChart, latency(run, steps)).element);
}

function shared(steps: readonly StepDocument[]) {
  const x = steps.map((step) => step.connections);
  return { x, xTicks: thinned(x), xLog: true, xFormat: whole, xLabel: "connections" };
}

/** Returns the connections whose labels do not overlap on a logarithmic axis. */
function thinned(values: readonly number[]): number[] {
  const kept: number[] = [];
  const span = Math.log2((values[values.length - 1] ?? 1) / (values[0] ?? 1)) || 1;
  for (const value of values) {
    const last = kept[kept.length - 1];
    if (last === undefined || Math.log2(value / last) >= span / 12) kept.push(value);
  }
  return kept;
}

function throughput(run: Run, steps: readonly StepDocument[]): LineModel {
  const { answer } = run.document;
  const best = bestStep(run);
  const knee = kneeOf(run);
  const values = steps.map((step) => step.throughput_per_sec);
  return {
    ...shared(steps),
    name: "ladder-throughput", title: "Throughput by connections", caption: growth(run, steps), format: rate, tickFormat: count,
    series: [{ label: "requests/s", values, colour: "--blue", points: true, width: 2 }],
    whiskers: steps.flatMap((step) => step.throughput_interval
      ? [{ x: step.connections, low: step.throughput_interval[0], high: step.throughput_interval[1] }] : []),
    verticals: knee === null ? [] : [{ at: knee, label: "knee" }],
    horizontals: answer.slo?.throughput_per_sec
      ? [{ at: answer.slo.throughput_per_sec, label: `at least ${count(answer.slo.throughput_per_sec)}`, dash: true }] : [],
    ring: best && best.throughput_per_sec !== null ? { x: best.connections, y: best.throughput_per_sec } : null,
    table: {
      columns: [number("connections"), number("throughput"), number("95 % interval"), number("success"), text("steadiness"), text("end"), text("")],
      count: steps.length,
      row: (index) => {
        const step = steps[index];
        return step === undefined ? [] : [whole(step.connections), atLeast(rate, step.throughput_per_sec, step.lower_bound),
          interval(step.throughput_interval, count), ratio(step.success_ratio), spaced(step.steadiness), spaced(step.end),
          [step === best ? "best" : "", step.connections === knee ? "knee" : ""].filter(Boolean).join(", ")];
      },
      marked: (index) => steps[index] === best,
    },
  };
}

/** Describes throughput over connections. */
function growth(run: Run, steps: readonly StepDocument[]): string {
  const { answer } = run.document;
  const best = bestStep(run);
  const last = steps[steps.length - 1];
  const parts: string[] = [plateau(run, steps)];
  if (best) parts.push(`The best step has ${counted(best.connections, "connection")} and ${atLeast(rate, best.throughput_per_sec, best.lower_bound)}.`);
  const [peak, end] = [answer.plateau_per_sec, last?.throughput_per_sec ?? null];
  // A lower bound may be lower because of the generator.
  if (peak !== null && end !== null && !last?.lower_bound && end < 0.9 * peak) {
    parts.push(`At ${counted(last?.connections ?? 0, "connection")} it is ${((1 - end / peak) * 100).toFixed(0)} % lower than at its best.`);
  }
  return parts.join(" ");
}

/** Says where throughput stops growing, worded as in the text report. */
function plateau(run: Run, steps: readonly StepDocument[]): string {
  const { knee_connections: knee, lower_bound: isLower } = run.document.answer;
  if (knee === null) return withoutKnee(run, steps);
  return isLower ? `With this generator throughput is within 5 % of its best from ${counted(knee, "connection")} on; where the target's own stops growing is not known.`
    : `Throughput stops growing at ${counted(knee, "connection")}: more connections add less than 5 %.`;
}

/** Says why there is no knee. The finding `throughput_highest` exists if throughput was still growing, not if too little is known. */
function withoutKnee(run: Run, steps: readonly StepDocument[]): string {
  const claim = run.document.findings.find((one) => one.id === "throughput_highest");
  const at = claim === undefined ? undefined : steps.find((step) => step.throughput_per_sec === claim.value);
  if (at === undefined) return "No plateau is known: fewer than two steps were held to their end with successful responses.";
  const which = at === steps[steps.length - 1] ? "the last step" : "the last step that was held to its end with successful responses";
  return `Throughput was still growing at ${counted(at.connections, "connection")}, ${which}.`;
}

function latency(run: Run, steps: readonly StepDocument[]): LineModel {
  const best = bestStep(run);
  const line = (label: string, key: "p50" | "p90" | "p99" | "p999", colour: string) => ({
    label, colour, points: true, values: steps.map((step) => step.latency_ms[key]),
  });
  const first = steps[0]?.latency_ms.p99 ?? null;
  const last = steps[steps.length - 1];
  const end = last?.latency_ms.p99 ?? null;
  const caption = first === null || end === null
    ? "Percentiles of latency; those of too few requests are not known."
    : `p99 goes from ${milliseconds(first)} at ${counted(steps[0]?.connections ?? 0, "connection")} to `
      + `${milliseconds(end)} at ${counted(last?.connections ?? 0, "connection")}.`;
  return {
    ...shared(steps),
    name: "ladder-latency", title: "Latency by connections", caption, format: milliseconds, yLog: true,
    series: withValues([line("p50", "p50", "--blue"), line("p90", "p90", "--teal"), line("p99", "p99", "--purple"),
      line("p99.9", "p999", "--gold")]),
    horizontals: latencyLimits(run),
    table: {
      columns: ["connections", "mean", "p50", "p90", "p99", "p99.9", "max", "95 % interval of p99"].map(number),
      count: steps.length,
      row: (index) => {
        const step = steps[index];
        if (step === undefined) return [];
        const times = step.latency_ms;
        return [whole(step.connections), ...[times.mean, times.p50, times.p90, times.p99, times.p999, times.max].map((one) => milliseconds(one)),
          interval(times.percentile_intervals.p99, milliseconds)];
      },
      marked: (index) => steps[index] === best,
    },
  };
}

