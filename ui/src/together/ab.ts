// Two services, loaded in turn.

import { figure } from "../charts/figure";
import { forestChart } from "../charts/forest";
import { facts, foreign, h, section } from "../dom";
import { count, counted, interval, milliseconds, percentile, rate, ratio, seconds, share } from "../format";
import type { AbDocument, AbEffectDocument, AbFigureDocument } from "../generated/page";
import { number, text } from "../table";
import { spaced } from "../words";
import { differences } from "./latency";
import { change } from "./ratios";

/** Whether B is better, as the table says; null where that is open, or both are the same. */
const judged = (verdict: string): boolean | null => (verdict === "better" ? true : verdict === "worse" ? false : null);

function named(one: AbFigureDocument): string {
  const names: Record<string, string> = { throughput_per_sec: "throughput", max_rate_per_sec: "highest rate", cpu_us: "CPU time of a request" };
  return names[one.figure] ?? percentile(one.percentile);
}

function amount(one: AbFigureDocument, value: number | null): string {
  if (one.figure === "latency_ms") return milliseconds(value);
  return one.figure === "cpu_us" ? milliseconds(value === null ? null : value / 1e3) : rate(value);
}

function gate(found: AbDocument): string {
  const margin = share(found.margin);
  if (found.fails_more) return "More requests of B fail than of A.";
  if (found.gate === "within") return `B is not worse than A by more than the margin of ${margin}.`;
  return found.gate === "beyond" ? `B is worse than A by more than the margin of ${margin}.` : `Whether B is worse than A by more than ${margin} is not known.`;
}

const perCent = (part: number): string => `${(100 * part).toFixed(1)} %`;

/** What of the loads changes the ratio, in the words of the text report. */
function effect(one: AbEffectDocument): string {
  const size = Math.abs(one.size ?? 0);
  // Half of the size: by that the place in a round changes one load, and that is what a balanced order leaves of a carry-over.
  const half = perCent(size / 2);
  return one.effect === "order"
    ? `The second load of a round differs from the first by ${half} (99 % sure). The random order takes this out of the ratio.`
    : `What ran before matters: the ratio differs by ${perCent(size)} by which side was loaded before (99 % sure), so it may be off by ${half}. `
      + "Leave time between loads (--pause 5s), or start the services for each load (--a, --b).";
}

export function ab(found: AbDocument): HTMLElement[] {
  const [main] = found.figures;
  const all = figure(forestChart, {
    name: "ab-figures", title: "B against A", none: 1, sides: ["less", "more"] as const, tick: change,
    caption: main === undefined ? "No figure is known yet." : `The ${named(main)} of B is ${change(main.ratio)} against that of A. The intervals hold together in 95 % of comparisons.`
      + (found.figures.some((one) => one.ratio_interval === null) ? " A hollow mark has no interval." : ""),
    rows: found.figures.map((one) => ({
      label: named(one), value: one.ratio, interval: one.ratio_interval, good: judged(one.verdict), text: change(one.ratio),
    })),
    table: {
      columns: [text("figure"), number("A"), number("B"), number("ratio"), number("interval"), text("verdict")], count: found.figures.length,
      row: (index: number) => {
        const one = found.figures[index];
        return one === undefined ? [] : [named(one), amount(one, one.a), amount(one, one.b), change(one.ratio),
          interval(one.ratio_interval, change), spaced(one.verdict)];
      },
    },
  }).element;
  const rounds = figure(forestChart, {
    name: "ab-rounds", title: "Round by round", none: 1, sides: ["less", "more"] as const, tick: change,
    caption: `Each round loads both sides: ${counted(found.rounds, "round")} in ${seconds(found.elapsed_sec)}. A round gives one ratio, without an interval.`,
    rows: found.ratios.map((one) => ({ label: `round ${one.round}, ${one.first} first`, value: one.ratio, interval: null, good: null, text: change(one.ratio) })),
    table: {
      columns: [number("round"), text("first"), number("ratio")], count: found.ratios.length,
      row: (index: number) => { const one = found.ratios[index]; return one === undefined ? [] : [String(one.round), one.first, change(one.ratio)]; },
    },
  }).element;
  const latency = differences("ab-latency", "Medians over the rounds", ["B", "A"], found.quantiles.map((one) => ({
    percentile: one.percentile, one: one.b_ms, other: one.a_ms, by: one.difference_ms, within: one.difference_ms_interval,
  })));
  return [section("compared", "The comparison", h("p", { class: "lead" }, gate(found)),
    facts(found.sides.map((side) => [side.side, foreign(`${side.label}: ${counted(side.loads, "load")}, success ${ratio(side.success)}`
      + `${side.unusable > 0 ? `, ${count(side.unusable)} not usable` : ""}${side.limited > 0 ? `, ${counted(side.limited, "lower bound")}` : ""}`)] as const)),
    found.figures.length === 0 ? null : all, latency, found.ratios.length === 0 ? null : rounds,
    ...found.effects.filter((one) => one.sure).map((one) => h("p", {}, effect(one))))];
}
