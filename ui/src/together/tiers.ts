// The same tiers with different numbers of machines.

import { figure } from "../charts/figure";
import { lineChart } from "../charts/line";
import { foreign, h, section } from "../dom";
import { count, counted, milliseconds, rate, share, whole } from "../format";
import type { TiersDocument, TierScalingDocument } from "../generated/page";
import { number, table, text } from "../table";
import { limitAt } from "../words";

export type Link = (name: string) => Node | string;

function scaling(one: TierScalingDocument, index: number): HTMLElement {
  const [first, last] = [one.points[0], one.points[one.points.length - 1]];
  const part = last && last[2] > 0 ? last[1] / last[2] : null;
  return figure(lineChart, {
    name: `scaling-${index}`, title: `Throughput by machines of ${one.tier}`,
    caption: first && last ? `From ${counted(first[0], "machine")} to ${counted(last[0], "machine")} throughput goes from ${rate(first[1])} to ${rate(last[1])}, `
      + `${share(part)} of what a linear growth would give${one.others === "" ? "" : `; others: ${one.others}`}.` : "",
    x: one.points.map((point) => point[0]), xTicks: one.points.map((point) => point[0]), xFormat: whole, xLabel: "machines", format: rate, tickFormat: count,
    series: [{ label: "measured", values: one.points.map((point) => point[1]), colour: "--blue", points: true, width: 2 },
      { label: "linear", values: one.points.map((point) => point[2]), colour: "--soft", dash: true }],
    table: {
      columns: [number("machines"), number("measured"), number("linear")], count: one.points.length,
      row: (at) => { const point = one.points[at]; return point === undefined ? [] : [whole(point[0]), rate(point[1]), rate(point[2])]; },
    },
  }).element;
}

type Row = TiersDocument["rows"][number];

/** Says how well each tier of a run scaled, with its name if `several` tiers did. The ratio of two lower bounds is not a bound. */
function scaled(row: Row, several: boolean): string {
  const sign = (from: boolean): string => (row.lower_bound === from ? "" : from ? "≤ " : "≥ ");
  return row.efficiencies.map((one) => `${several ? `${one.tier} ` : ""}${sign(one.from_lower_bound)}${share(one.efficiency)}`).join(", ");
}

export function tiers(found: TiersDocument, link: Link): HTMLElement {
  const names = [...new Set(found.rows.flatMap((row) => row.tiers.map((tier) => tier.tier)))];
  const several = new Set(found.rows.flatMap((row) => row.efficiencies.map((one) => one.tier))).size > 1;
  return section("tiers", "Tiers side by side", table("One row for each run", {
    columns: [text("run"), number("requests/s"), number("mean"), ...names.flatMap((name) => [number(name), number(`CPU of ${name}`)]), number("per machine"), text("limit")],
    count: found.rows.length,
    row: (index) => {
      const row = found.rows[index];
      if (row === undefined) return [];
      const uses = names.flatMap((name) => {
        const tier = row.tiers.find((one) => one.tier === name);
        return tier === undefined ? ["–", "–"] : [whole(tier.machines), share(tier.cpu)];
      });
      return [link(row.name), `${row.lower_bound ? "≥ " : ""}${count(row.throughput_per_sec)}`, milliseconds(row.mean_ms), ...uses,
        scaled(row, several), limitAt(row.limit, row.limiting_tier)];
    },
  }), h("p", { class: "note" }, foreign("Per machine: throughput per machine, compared with the run with the fewest machines of that tier and all else equal.")),
  found.without_row.length === 0 ? null
    : h("p", { class: "note" }, foreign(`Without a row, because in none of their steps did 95 % of the requests succeed: ${found.without_row.join(", ")}.`)),
  ...found.scalings.map(scaling));
}
