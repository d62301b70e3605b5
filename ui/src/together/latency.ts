// How latency differs between two runs, percentile by percentile.

import { figure } from "../charts/figure";
import { type ForestModel, forestChart, verdictOf } from "../charts/forest";
import { counted, interval, milliseconds, percentile, rate, signed } from "../format";
import { number } from "../table";
import type { LatencyDifferencesDocument } from "../generated/page";

interface Difference { percentile: number | null; one: number | null; other: number | null; by: number | null; within: readonly [number, number] | null }

const difference = signed(milliseconds);

/** A chart of latency differences by percentile; null without rows. `names` are the run and the run that it is compared with. */
export function differences(name: string, where: string, names: readonly [string, string], rows: readonly Difference[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const known = rows.filter((row) => verdictOf(row.within, 0, "worse") !== null);
  const slower = known.filter((row) => (row.by ?? 0) > 0).length;
  const verdicts = [slower > 0 ? `${slower} higher` : "", known.length > slower ? `${known.length - slower} lower` : "",
    known.length < rows.length ? `${rows.length - known.length} within chance` : ""].filter(Boolean).join(", ");
  const model: ForestModel = {
    name, title: `Latency of ${names[0]} minus that of ${names[1]}`, none: 0, sides: ["faster", "slower"], tick: difference,
    caption: `${where}, with 95 % intervals of each percentile alone. Of ${counted(rows.length, "percentile")}: ${verdicts}.`,
    rows: rows.map((row) => ({
      label: percentile(row.percentile), value: row.by, interval: row.within, good: verdictOf(row.within, 0, "worse"),
      text: difference(row.by),
    })),
    table: {
      columns: [number("percentile"), number(names[0]), number(names[1]), number("difference"), number("95 % interval")],
      count: rows.length,
      row: (index) => {
        const row = rows[index];
        return row === undefined ? [] : [percentile(row.percentile), milliseconds(row.one), milliseconds(row.other), difference(row.by),
          interval(row.within, difference)];
      },
    },
  };
  return figure(forestChart, model).element;
}

export function latencyOfTwo(name: string, names: readonly [string, string], found: LatencyDifferencesDocument | null): HTMLElement | null {
  if (found === null) return null;
  const where = found.connections === null ? `At ${rate(found.rate_per_sec)} offered` : `At ${counted(found.connections, "connection")}, which both had`;
  return differences(name, where, names, found.percentiles.map((one) => ({
    percentile: one.percentile, one: one.ms, other: one.against_ms, by: one.difference_ms, within: one.difference_ms_interval,
  })));
}

