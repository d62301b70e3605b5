// Runs compared with one of them.

import type { Run } from "../document";
import { type Child, foreign, h, section } from "../dom";
import { atLeast, count, NOT_KNOWN, ratio, share } from "../format";
import type { ComparisonDocument, DiffDocument, HighestRatesDocument, IncomparableDocument } from "../generated/page";
import { spaced } from "../words";
import { flames } from "./flames";
import { latencyOfTwo } from "./latency";
import { ratios } from "./ratios";

function gate(found: DiffDocument): Child {
  if (found.gate === null) return null;
  const margin = ratio(found.margin);
  const words: Record<string, string> = {
    within: `The new run is not shown to be worse by more than the margin of ${margin}.`,
    beyond: `The new run is worse by more than the margin of ${margin}.`,
  };
  return h("p", { class: "lead" }, words[found.gate] ?? `Whether the new run is worse by more than the margin of ${margin} is not known.`);
}

/** The highest rates of two searches, worded as in the text report. */
function highestRates(rates: HighestRatesDocument): string {
  return `Highest rate within the conditions, in requests/s: old ${bracket(rates.against_held_per_sec, rates.against_broken_per_sec)}, `
    + `new ${bracket(rates.held_per_sec, rates.broken_per_sec)}.`;
}

function bracket(held: number | null, broken: number | null): string {
  if (held === null) return broken === null ? NOT_KNOWN : `below ${count(broken)}`;
  return broken === null ? atLeast(count, held, true) : `${count(held)} (to ${count(broken)})`;
}

/** Why two requests that look alike differ, worded as in the text report. */
const HIDDEN = "they differ in what is hidden or not shown here (values of queries and headers, bodies, weights, further requests, rows of a CSV file)";

function against(one: IncomparableDocument): string {
  const side = one.side === null ? "" : ` of the ${one.side} run`;
  if (one.old !== null && one.old === one.new) return `${spaced(one.why)}: ${HIDDEN}: ${one.old}. Send the same in both runs.`;
  if (one.old !== null || one.new !== null) return `${spaced(one.why)}: ${one.old ?? ""} before, ${one.new ?? ""} now`;
  return `${spaced(one.why)}${side}${one.value === null ? "" : ` (${share(one.value)})`}`;
}

export function diff(found: DiffDocument, runs: readonly Run[]): HTMLElement[] {
  const names = [found.new, found.old] as const;
  const of = (name: string): Run | undefined => runs.find((run) => run.name === name);
  const grave = found.not_comparable.some((one) => one.grave);
  return [section("compared", "The comparison",
    gate(found), found.highest_rates === null ? null : h("p", {}, highestRates(found.highest_rates)),
    found.not_comparable.length === 0 ? null : h("p", {}, grave ? "The two runs are hardly comparable:" : "The two runs differ in:"),
    found.not_comparable.length === 0 ? null : h("ul", { class: "notices" }, ...found.not_comparable.map((one) => h("li", {}, foreign(against(one))))),
    ratios("diff-throughput", names, found.best, found.rows), latencyOfTwo("diff-latency", names, found.latency),
    ...flames("diff-cpu", of(found.new), of(found.old)))];
}

const bounded = (name: string): HTMLElement =>
  h("p", { class: "note" }, "The load generator was the limit of ", foreign(name), ": its throughput is a lower bound.");

export function comparison(found: ComparisonDocument, runs: readonly Run[], id: string): HTMLElement {
  const of = (name: string): Run | undefined => runs.find((run) => run.name === name);
  return section(id, `Compared with ${found.against}`, found.lower_bound ? bounded(found.against) : null, ...found.runs.flatMap((one, index) => {
    const names = [one.name, found.against] as const;
    return [h("h3", { class: "part" }, foreign(one.name)),
      one.lower_bound ? bounded(one.name) : null,
      ratios(`${id}-${index}-throughput`, names, one.best, one.rows), latencyOfTwo(`${id}-${index}-latency`, names, one.latency),
      ...flames(`${id}-${index}-cpu`, of(one.name), of(found.against))];
  }));
}
