// The figures of every step in one table; for a run with one step, also a chart of its percentiles.

import { barsChart } from "../charts/bars";
import { figure } from "../charts/figure";
import { bestStep, underWay, type Run, type StepDocument } from "../document";
import { h, section } from "../dom";
import { atLeast, count, counted, grouped, interval, milliseconds, rate, ratio, seconds, whole } from "../format";
import { number, table, text } from "../table";
import { spaced } from "../words";

export function steps(run: Run): HTMLElement | null {
  const list = run.document.steps;
  if (list.length === 0) return null;
  const best = bestStep(run);
  const only = list.length === 1 ? list[0] : undefined;
  return section("steps", only ? "Figures" : "Steps",
    only && only.latency_ms.count > 0 ? figure(barsChart, percentiles(only)).element : null,
    table("Steps", {
      columns: [text("load"), number("throughput"), number("success"), number("mean"), number("p50"), number("p90"), number("p99"), number("max"),
        number("requests"), number("measured"), text("steadiness"), text("end")],
      count: list.length,
      row: (index) => {
        const step = list[index];
        if (step === undefined) return [];
        const { mean, p50, p90, p99, max } = step.latency_ms;
        return [load(step), atLeast(rate, step.throughput_per_sec, step.lower_bound), ratio(step.success_ratio), ...[mean, p50, p90, p99, max].map((one) => milliseconds(one)),
          whole(step.completed), seconds(step.duration_sec), spaced(step.steadiness),
          step.end === "cut" && underWay(run) ? "under way" : spaced(step.end)];
      },
      marked: (index) => list.length > 1 && list[index] === best,
    }),
    h("p", { class: "note" }, "A percentile of too few requests is not known: p99 needs 299 of them, p99.9 needs 2,995."));
}

function load(step: StepDocument): string {
  const depth = step.depth > 1 ? ` × ${grouped(step.depth)}` : "";
  return step.rate_per_sec === null ? `${counted(step.connections, "connection")}${depth}` : `${count(step.rate_per_sec)} requests/s offered`;
}

/** Percentiles on a logarithmic scale from the smallest latency to the largest. */
function percentiles(step: StepDocument) {
  const times = step.latency_ms;
  const rows: [string, number | null, [number, number] | null][] = [
    ["min", times.min, null], ["p50", times.p50, times.percentile_intervals.p50], ["p75", times.p75, times.percentile_intervals.p75],
    ["p90", times.p90, times.percentile_intervals.p90], ["p95", times.p95, times.percentile_intervals.p95],
    ["p99", times.p99, times.percentile_intervals.p99], ["p99.9", times.p999, times.percentile_intervals.p999], ["max", times.max, null],
  ];
  const low = (times.min ?? 0.001) / 1.5;
  const span = Math.log((times.max ?? 1) / low) || 1;
  return {
    name: "percentiles", title: "Latency",
    caption: `Half of the requests took at most ${milliseconds(times.p50)}, 99 % at most ${milliseconds(times.p99)}. The scale is logarithmic.`,
    groups: [{ title: "", bars: rows.map(([label, value]) => ({
      label, part: value === null || value <= 0 ? null : Math.log(value / low) / span, value: milliseconds(value),
    })) }],
    table: {
      columns: [text("percentile"), number("latency"), number("95 % interval")], count: rows.length,
      row: (index: number) => {
        const [label, value, pair] = rows[index] ?? ["", null, null];
        return [label, milliseconds(value), label === "min" || label === "max" ? "" : interval(pair, milliseconds)];
      },
    },
  };
}
