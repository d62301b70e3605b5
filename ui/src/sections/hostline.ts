// What the charts of hosts over time share: the order of hosts, colours, and the axis of time.

import type { LineModel } from "../charts/line";
import type { Run } from "../document";
import { instant } from "../format";
import type { TimeLink } from "../link";
import { number } from "../table";
import { bandsOf, eventsOf } from "./spans";

export const COLOURS = ["--blue", "--teal", "--purple", "--gold", "--sky", "--soft"];
/** The most lines in a chart, because more are hard to distinguish. The table has all. */
export const LINES = 6;

/** Returns the hosts that have charts: the host that limits comes first, the generator last. */
export function hostsOf(run: Run): string[] {
  const { curves, resources } = run.timeline;
  const hosts = [...new Set([...resources, ...curves].map((one) => one.host))];
  const { host: limiting } = run.document.verdict.place;
  const order = (host: string): number => (host === limiting ? 0 : host === "generator" ? 2 : 1);
  return hosts.sort((a, b) => order(a) - order(b));
}

export function mean(values: readonly (number | null)[]): number {
  const known = values.filter((value): value is number => value !== null);
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Returns the highest value and its window; null if nothing was sampled. */
export function peak(values: readonly (number | null)[]): { value: number; index: number } | null {
  let best: { value: number; index: number } | null = null;
  values.forEach((value, index) => { if (value !== null && (best === null || value > best.value)) best = { value, index }; });
  return best;
}

/** A column of the table below a chart, with its values as text. */
export interface Column { label: string; cell: (index: number) => string }

/** Returns the middle of a host window on the time axis, in seconds. */
export const middle = ({ timeline }: Run, index: number): number => (timeline.hosts_at_sec[index] ?? 0) + (timeline.host_window_sec ?? 0) / 2;

/** A chart over the windows of the hosts. */
export function hostLine(run: Run, link: TimeLink, columns: readonly Column[],
  parts: Pick<LineModel, "name" | "title" | "caption" | "format" | "series" | "yRange">): LineModel {
  const { hosts_at_sec: at } = run.timeline;
  return {
    ...parts, link, x: at.map((_, index) => middle(run, index)), xFormat: instant, xLabel: "time", height: 170,
    bands: bandsOf(run), verticals: eventsOf(run),
    table: {
      columns: ["time", ...columns.map((column) => column.label)].map(number),
      count: at.length,
      row: (index) => [instant(at[index]), ...columns.map((column) => column.cell(index))],
    },
  };
}
