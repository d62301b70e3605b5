// The load over time: throughput, latency, failures and concurrency. Charts of this section share range and cursor.

import { figure, type FigureHandle } from "../charts/figure";
import { heat } from "../charts/heat";
import { lineChart, type LineModel, type Series, withValues } from "../charts/line";
import type { Run } from "../document";
import { count, type Format, grouped, instant, list, milliseconds, rate, whole } from "../format";
import type { TimeLink } from "../link";
import { latencyLimits } from "../slo";
import { number, type TableModel } from "../table";
import { peak } from "./hostline";
import { bandsOf, eventsOf } from "./spans";

/** The windows on the time axis. A null between two windows that are not adjacent makes a gap in the lines. */
interface Course { x: number[]; at: (number | null)[] }

function course(run: Run): Course {
  const { at_sec: begins, window_sec: window } = run.timeline;
  const length = window ?? 1;
  const x: number[] = [];
  const at: (number | null)[] = [];
  begins.forEach((begin, index) => {
    const before = begins[index - 1];
    if (before !== undefined && begin - before > length * 1.5) {
      x.push(before + length);
      at.push(null);
    }
    x.push(middle(run, index));
    at.push(index);
  });
  return { x, at };
}

/** Returns the middle of a load window on the time axis, in seconds. */
const middle = ({ timeline }: Run, index: number): number => (timeline.at_sec[index] ?? 0) + (timeline.window_sec ?? 1) / 2;

type Values = readonly (number | null)[];

/** The most columns of latency classes in the table, so that it stays readable. */
const CLASS_COLUMNS = 10;

/** Adds the cells of the heat map as columns of a table: the responses of a window by latency, neighbouring classes merged. */
function classTable(run: Run, lines: TableModel): TableModel {
  const { latency, latency_bounds_ms: bounds } = run.timeline;
  const each = Math.max(1, Math.ceil((bounds.length - 1) / CLASS_COLUMNS));
  const firsts = bounds.slice(0, -1).flatMap((_, at) => (at % each === 0 ? [at] : []));
  const sums = (index: number): number[] => {
    const cells = latency[index];
    const list = firsts.map(() => 0);
    cells?.counts.forEach((one, offset) => {
      const column = Math.floor((cells.from + offset) / each);
      list[column] = (list[column] ?? 0) + one;
    });
    return list;
  };
  return {
    ...lines,
    columns: [...lines.columns, ...firsts.map((at) => {
      const end = bounds[Math.min(at + each, bounds.length - 1)];
      return number(`${milliseconds(bounds[at])} to ${milliseconds(end)}`);
    })],
    row: (index) => [...lines.row(index), ...sums(index).map(grouped)],
  };
}

function model(run: Run, link: TimeLink, parts: {
  name: string; title: string; caption: string; format: Format; tickFormat?: Format;
  series: (Omit<Series, "values"> & { values: Values })[];
}): LineModel {
  const { x, at } = course(run);
  const begins = run.timeline.at_sec;
  return {
    ...parts, link, x, xFormat: instant, xLabel: "time", bands: bandsOf(run), verticals: eventsOf(run),
    series: withValues(parts.series).map((one) => ({ ...one, values: at.map((index) => (index === null ? null : one.values[index] ?? null)) })),
    table: {
      columns: ["time", ...parts.series.map((one) => one.label)].map(number),
      count: begins.length,
      row: (index) => [instant(begins[index]), ...parts.series.map((one) => parts.format(one.values[index]))],
    },
  };
}

/** Latency as lines over a heat map of all responses. */
function latencyModel(run: Run, link: TimeLink): LineModel {
  const { timeline } = run;
  const slow = peak(timeline.p99_ms);
  const horizontals = latencyLimits(run);
  const heatMap = "The stronger the colour of a cell, the more of the responses of its time are in it."
    + (horizontals.length === 0 ? "" : ` Dashed: ${list(horizontals.map((limit) => limit.label))}.`);
  const lines = model(run, link, {
    name: "time-latency", title: "Latency", format: milliseconds,
    caption: slow === null ? `In no window did enough requests end for p99. ${heatMap}`
      : `p99 is highest at ${instant(middle(run, slow.index))}, with ${milliseconds(slow.value)}. ${heatMap}`,
    series: [{ label: "p50", values: timeline.p50_ms, colour: "--ink" },
      { label: "p99", values: timeline.p99_ms, colour: "--purple", width: 2 }],
  });
  const bounds = timeline.latency_bounds_ms;
  const [low, high] = [bounds[0], bounds[bounds.length - 1]];
  const limits = horizontals.map((limit) => limit.at);
  return {
    ...lines, table: classTable(run, lines.table), yLog: true, height: 260, under: heat(timeline), horizontals,
    // All classes, and room for the label of each limit.
    ...(low !== undefined && high !== undefined ? { yRange: [
      Math.max(1e-4, Math.min(low, ...limits.map((limit) => limit / 1.5))), Math.max(2e-4, high, ...limits.map((limit) => limit * 1.5)),
    ] as [number, number] } : {}),
  };
}

function models(run: Run, link: TimeLink): LineModel[] {
  const { timeline } = run;
  const begin = (index: number): string => instant(middle(run, index));
  const served = peak(timeline.throughput_per_sec);
  const open = timeline.steps.some((step) => step.rate_per_sec !== null);
  const bad = timeline.unsuccessful.reduce((sum, one) => sum + one, 0);
  const worst = peak(timeline.unsuccessful);
  const inFlight = peak(timeline.in_flight);
  const latency = latencyModel(run, link);
  return [
    model(run, link, {
      name: "time-throughput", title: "Throughput", format: rate, tickFormat: count,
      caption: served === null ? "No response came." : `Throughput is highest at ${begin(served.index)}, with ${rate(served.value)}.`,
      series: [...(open ? [{ label: "due", values: timeline.due_per_sec, colour: "--soft", dash: true }] : []),
        { label: "responses", values: timeline.throughput_per_sec, colour: "--blue", fill: true }],
    }),
    latency,
    ...(bad === 0 ? [] : [model(run, link, {
      name: "time-unsuccessful", title: "Requests without success", format: whole,
      caption: `${grouped(bad)} requests ended without success, most of them at ${begin(worst?.index ?? 0)}.`,
      series: [{ label: "without success", values: timeline.unsuccessful, colour: "--red", fill: true }],
    })]),
    model(run, link, {
      name: "time-concurrency", title: "Requests in flight and connections", format: whole,
      caption: inFlight === null ? "No request was sent." : `At most ${grouped(inFlight.value)} requests were in flight, at ${begin(inFlight.index)}.`
        + (bad === 0 ? " None ended without success." : ""),
      series: [{ label: "in flight", values: timeline.in_flight, colour: "--blue" },
        { label: "connections", values: timeline.connections, colour: "--teal", dash: true },
        ...(timeline.backlog.some((one) => one > 0) ? [{ label: "due, not sent", values: timeline.backlog, colour: "--red" }] : [])],
    }),
  ];
}

/** Draws the charts of the load; empty if no window was recorded. */
export function loadCharts(run: Run, link: TimeLink): { handles: FigureHandle<LineModel>[]; models: (run: Run) => LineModel[] } {
  const of = (one: Run): LineModel[] => (one.timeline.at_sec.length === 0 ? [] : models(one, link));
  return { handles: of(run).map((one) => figure(lineChart, one)), models: of };
}
