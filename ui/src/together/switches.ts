// What each switch costs a request.

import { figure } from "../charts/figure";
import { forestChart, verdictOf } from "../charts/forest";
import { foreign, h, section } from "../dom";
import { count, interval, milliseconds, rate, share } from "../format";
import type { AblationDocument, LedgerDocument } from "../generated/page";
import { number, table, text } from "../table";

const us = (value: number | null | undefined): string => milliseconds(value === null || value === undefined ? value : value / 1e3);
const signed = (value: number | null): string => (value === null ? us(value) : `${value < 0 ? "−" : "+"}${us(Math.abs(value))}`);

function ledger(one: LedgerDocument, index: number): (HTMLElement | null)[] {
  const [first] = one.costs;
  const costs = figure(forestChart, {
    name: `switch-costs-${index}`, title: "What each switch adds to a request", none: 0, sides: ["saves", "costs"] as const,
    caption: first === undefined ? "No switch has a known cost." : `${first.switch} costs most: ${signed(first.cost_us)} of a request`
      + `${first.cost_us_interval === null ? ", from one round, so without an interval" : ", with its 95 % interval"}.`,
    rows: one.costs.map((cost) => ({
      label: cost.switch, value: cost.cost_us, interval: cost.cost_us_interval, good: verdictOf(cost.cost_us_interval, 0, "worse"), text: signed(cost.cost_us),
    })),
    table: {
      columns: [text("switch"), number("cost"), number("95 % interval")], count: one.costs.length,
      row: (at: number) => { const cost = one.costs[at]; return cost === undefined ? [] : [cost.switch, signed(cost.cost_us), interval(cost.cost_us_interval, us)]; },
    },
  }).element;
  const order = table("The order in which to fix them", {
    columns: [text("switch off"), number("a request then takes"), number("requests/s then"), text("")], count: one.order.length,
    row: (at) => { const fix = one.order[at]; return fix === undefined ? [] : [fix.switch, us(fix.time_us), count(fix.throughput_per_sec), fix.measured ? "measured" : "predicted"]; },
  });
  const cells = table("Combinations", {
    columns: [text("on"), number("runs"), number("time of a request"), number("95 % interval"), number("throughput")], count: one.cells.length,
    row: (at) => {
      const cell = one.cells[at];
      return cell === undefined ? [] : [cell.on.length === 0 ? "none" : cell.on.join(", "), String(cell.runs), us(cell.time_us), interval(cell.time_us_interval, us), rate(cell.throughput_per_sec)];
    },
  });
  return [one.state === null ? null : h("h3", { class: "part" }, foreign(one.state)), one.costs.length === 0 ? null : costs,
    one.order.length === 0 ? null : h("h4", {}, "Fix first"), one.order.length === 0 ? null : order, h("h4", {}, "Combinations"), cells,
    one.noise === null ? null : h("p", { class: "note" }, `From one run to the next the time varies by ${share(one.noise)} (one standard deviation).`)];
}

export function switches(found: AblationDocument): HTMLElement {
  return section("switches", "What switches cost", ...found.ledgers.flatMap(ledger));
}
