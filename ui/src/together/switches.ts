// What each switch costs a request.

import { figure } from "../charts/figure";
import { forestChart, verdictOf } from "../charts/forest";
import { foreign, h, section } from "../dom";
import { capital, count, grouped, interval, joined, milliseconds, rate, sentence, share, signed } from "../format";
import type { AblationDocument, LedgerDocument } from "../generated/page";
import { number, table, text } from "../table";

const us = (value: number | null | undefined): string => milliseconds(value === null || value === undefined ? value : value / 1e3);
const difference = signed(us);

/** Says which switch costs most. */
function dearest(first: LedgerDocument["costs"][number] | undefined): string {
  if (first === undefined || first.cost_us === null) return "No switch has a known cost.";
  const certainty = first.cost_us_interval === null ? "without an interval" : "with its 95 % interval";
  return first.cost_us > 0 ? `${first.switch} costs most: it adds ${us(first.cost_us)} to a request, ${certainty}.`
    : `No switch adds time to a request; that of ${first.switch} is ${difference(first.cost_us)}, ${certainty}.`;
}

/** `cache and log interact: together 12 µs per request (10 to 14) on top of the sum of both.` */
function interaction(one: LedgerDocument["interactions"][number]): string {
  const extra = one.extra_us ?? 0;
  const [low, high] = one.extra_us_interval ?? [null, null];
  const within: [number, number] | null = low === null || high === null ? null : extra < 0 ? [-high, -low] : [low, high];
  return `${one.switch} and ${one.with ?? "all others"} interact: together ${us(Math.abs(extra))} per request`
    + `${within === null ? "" : ` (${interval(within, us)})`} ${extra > 0 ? "on top of" : "less than"} the sum of both.`;
}

/** Notes on the costs, worded as in the text report. */
function remarks(one: LedgerDocument): string[] {
  return [
    ...one.interactions.map(interaction),
    ...(one.unknown.length === 0 ? [] : [`The cost of ${one.unknown.join(", ")} is not known: no two combinations differ in it alone.`]),
    ...(one.runs_at_most === 0 ? [] : [`In ${grouped(one.runs_at_most)} of the runs the load generator was the limit: their combinations take less time than stated, so costs `
      + "and savings are uncertain."]),
    ...(one.no_noise === null ? [] : [sentence(capital(one.no_noise))]),
  ];
}

function ledger(one: LedgerDocument, index: number, also: readonly number[]): (HTMLElement | null)[] {
  const costs = figure(forestChart, {
    name: `switch-costs-${index}`, title: "What each switch adds to a request", none: 0, sides: ["saves", "costs"] as const, tick: difference, also,
    caption: dearest(one.costs[0]),
    rows: one.costs.map((cost) => ({
      label: cost.switch, value: cost.cost_us, interval: cost.cost_us_interval, good: verdictOf(cost.cost_us_interval, 0, "worse"), text: difference(cost.cost_us),
    })),
    table: {
      columns: [text("switch"), number("cost"), number("95 % interval")], count: one.costs.length,
      row: (at: number) => { const cost = one.costs[at]; return cost === undefined ? [] : [cost.switch, difference(cost.cost_us), interval(cost.cost_us_interval, us)]; },
    },
  }).element;
  const fixed = (fix: LedgerDocument["order"][number]): string =>
    [fix.measured ? "measured" : "predicted", ...(fix.ties.length === 0 ? [] : [`or ${fix.ties.join(" or ")}, which these runs do not distinguish from it`])].join("; ");
  const order = table("The order in which to fix them", {
    columns: [text("switch off"), number("a request then takes"), number("requests/s then"), text("")], count: one.order.length,
    row: (at) => { const fix = one.order[at]; return fix === undefined ? [] : [fix.switch, us(fix.time_us), count(fix.throughput_per_sec), fixed(fix)]; },
  });
  const cells = table("Combinations", {
    columns: [text("on"), number("runs"), number("time of a request"), number("95 % interval"), number("throughput")], count: one.cells.length,
    row: (at) => {
      const cell = one.cells[at];
      return cell === undefined ? [] : [cell.on.length === 0 ? "none" : cell.on.join(", "), String(cell.runs), us(cell.time_us), interval(cell.time_us_interval, us), rate(cell.throughput_per_sec)];
    },
  });
  return [one.state === null ? null : h("h3", { class: "part" }, foreign(one.state)), one.costs.length === 0 ? null : costs,
    ...remarks(one).map((text) => h("p", { class: "note" }, foreign(joined(text)))),
    one.order.length === 0 ? null : h("h4", {}, "Fix first"), one.order.length === 0 ? null : order, h("h4", {}, "Combinations"), cells,
    one.noise === null ? null : h("p", { class: "note" }, `From one run to the next the time varies by ${share(one.noise)} (one standard deviation).`)];
}

export function switches(found: AblationDocument): HTMLElement {
  const all = found.ledgers.flatMap((one) => one.costs.flatMap((cost) => [cost.cost_us, ...(cost.cost_us_interval ?? [])]));
  const also = all.filter((value): value is number => value !== null);
  return section("switches", "What switches cost", ...found.ledgers.flatMap((one, index) => ledger(one, index, also)));
}
