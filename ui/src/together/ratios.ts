// Throughput of two runs against each other, by connections.

import { figure } from "../charts/figure";
import { forestChart, verdictOf } from "../charts/forest";
import { atLeast, count, counted, type Format, interval, NOT_KNOWN, rate, ratio } from "../format";
import type { BestDocument, ComparisonRowDocument } from "../generated/page";
import { number } from "../table";

/** A ratio with the sign of its difference: `+12.3 %`. */
export const change: Format = (value) => {
  if (value === null || value === undefined) return NOT_KNOWN;
  const percent = 100 * (value - 1);
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`;
};

/** Compares the best steps of both in a sentence. */
export function bestInWords(names: readonly [string, string], best: BestDocument | null): string {
  if (best === null) return `One of the two served nothing: there is no best step to compare.`;
  const within = best.throughput_ratio_interval;
  const sure = verdictOf(within, 1, "better") !== null;
  const range = within === null ? "" : ` (95 % interval ${change(within[0])} to ${change(within[1])})`;
  return `At best ${names[0]} serves ${atLeast(rate, best.throughput_per_sec, best.lower_bound)} with ${counted(best.connections, "connection")}, `
    + `${names[1]} ${atLeast(rate, best.against_per_sec, best.against_lower_bound)} with ${counted(best.against_connections, "connection")}: ${change(best.throughput_ratio)}${range}`
    + `${within !== null && !sure ? ", which may be chance" : ""}.`;
}

export function ratios(name: string, names: readonly [string, string], best: BestDocument | null,
  rows: readonly ComparisonRowDocument[]): HTMLElement {
  const both = rows.filter((row) => row.throughput_ratio !== null);
  const all = [
    ...(best === null ? [] : [{ label: "best step", value: best.throughput_ratio, within: best.throughput_ratio_interval }]),
    ...both.map((row) => ({ label: counted(row.connections, "connection"), value: row.throughput_ratio, within: row.throughput_ratio_interval })),
  ];
  return figure(forestChart, {
    name, title: `Throughput of ${names[0]} against ${names[1]}`, caption: bestInWords(names, best), none: 1, sides: ["less", "more"] as const, tick: change,
    rows: all.map((row) => ({
      label: row.label, value: row.value, interval: row.within, good: verdictOf(row.within, 1, "better"), text: change(row.value),
    })),
    table: {
      columns: [number("connections"), number(names[0]), number(names[1]), number("ratio"), number("95 % interval"), number("success"), number("success of the other")],
      count: rows.length,
      row: (index: number) => {
        const row = rows[index];
        return row === undefined ? [] : [String(row.connections), atLeast(count, row.throughput_per_sec, row.lower_bound),
          atLeast(count, row.against_per_sec, row.against_lower_bound), change(row.throughput_ratio),
          interval(row.throughput_ratio_interval, change),
          ratio(row.success), ratio(row.against_success)];
      },
    },
  }).element;
}
