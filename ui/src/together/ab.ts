// Two services, loaded in turn.

import { figure } from "../charts/figure";
import { forestChart } from "../charts/forest";
import { facts, foreign, h, section } from "../dom";
import { counted, interval, milliseconds, percentile, rate, ratio, seconds, whole } from "../format";
import type { AbDocument, AbEffectDocument, AbFigureDocument, AbSideDocument } from "../generated/page";
import { number, text } from "../table";
import { spaced } from "../words";
import { differences } from "./latency";
import { change } from "./ratios";

/** Whether B is better, as the table says; null if that is open or both are the same. */
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
  const margin = ratio(found.margin);
  if (found.fails_more) return "More requests of B fail than of A.";
  if (found.gate === "within") return `B is not worse than A by more than the margin of ${margin}.`;
  return found.gate === "beyond" ? `B is worse than A by more than the margin of ${margin}.` : `Whether B is worse than A by more than ${margin} is not known.`;
}

/** A search that held no rate counts as this part of the other side's rate. */
const NO_RATE = 1e-3;

/** Returns the ratio of a figure that only one side has, 0 or ∞; null if both or neither have it. */
function oneSided(one: AbFigureDocument): string | null {
  const [a, b] = [one.a ?? 0, one.b ?? 0];
  if ((a === 0) === (b === 0)) return null;
  return b === 0 ? "0" : "∞";
}

/** Returns the ratio of a round of searches in which only one side held a rate; null if both did, and for other loads. */
function oneSidedRound(found: AbDocument, ratio: number | null): string | null {
  if (found.load !== "search" || ratio === null) return null;
  return ratio <= NO_RATE ? "0" : ratio >= 1 / NO_RATE ? "∞" : null;
}

/** Compares the main figure of B with that of A in a sentence. */
function mainInWords(main: AbFigureDocument): string {
  if (oneSided(main) === null) return `The ${named(main)} of B is ${change(main.ratio)} against that of A.`;
  const [without, has, value] = main.b === 0 ? ["B", "A", main.a] as const : ["A", "B", main.b] as const;
  return main.figure === "max_rate_per_sec" ? `${without} holds no rate within the conditions, ${has} holds about ${rate(value)}.`
    : `The ${named(main)} of ${without} is 0, that of ${has} ${amount(main, value)}.`;
}

const perCent = (part: number): string => `${(100 * part).toFixed(1)} %`;

/** Says how the order of loads changes the ratio, worded as in the text report. */
function effect(one: AbEffectDocument): string {
  const size = Math.abs(one.size ?? 0);
  // Half of the size: the place in a round changes one load by that much, and a balanced order leaves that much of a carry-over.
  const half = perCent(size / 2);
  return one.effect === "order"
    ? `The second load of a round differs from the first by ${half} (99 % sure). The random order takes this out of the ratio.`
    : `What ran before matters: the ratio differs by ${perCent(size)} by which side was loaded before (99 % sure), so it may be off by ${half}. `
      + "Leave time between loads (--pause 5s), or start the services for each load (--a, --b).";
}

function figures(found: AbDocument): HTMLElement {
  const [main] = found.figures;
  const rows = found.figures.map((one) => {
    const sided = oneSided(one);
    return { one, text: sided ?? change(one.ratio), value: sided === null ? one.ratio : null, interval: sided === null ? one.ratio_interval : null };
  });
  return figure(forestChart, {
    name: "ab-figures", title: "B against A", none: 1, sides: ["less", "more"] as const, tick: change,
    caption: main === undefined ? "No figure is known yet." : `${mainInWords(main)} The intervals hold together in 95 % of comparisons.`
      + (rows.some((row) => row.value !== null && row.interval === null) ? " A hollow mark has no interval." : ""),
    rows: rows.map((row) => ({ label: named(row.one), value: row.value, interval: row.interval, good: judged(row.one.verdict), text: row.text })),
    table: {
      columns: [text("figure"), number("A"), number("B"), number("ratio"), number("interval"), text("verdict")], count: rows.length,
      row: (index: number) => {
        const row = rows[index];
        return row === undefined ? [] : [named(row.one), amount(row.one, row.one.a), amount(row.one, row.one.b), row.text,
          row.value === null ? "" : interval(row.interval, change), spaced(row.one.verdict)];
      },
    },
  }).element;
}

function rounds(found: AbDocument): HTMLElement {
  const rows = found.ratios.map((one) => {
    const sided = oneSidedRound(found, one.ratio);
    return { one, text: sided ?? change(one.ratio), value: sided === null ? one.ratio : null };
  });
  return figure(forestChart, {
    name: "ab-rounds", title: "Round by round", none: 1, sides: ["less", "more"] as const, tick: change,
    caption: `Each round loads both sides: ${counted(found.rounds, "round")} in ${seconds(found.elapsed_sec)}. A round gives one ratio, without an interval.`,
    rows: rows.map(({ one, text, value }) => ({ label: `round ${one.round}, ${one.first} first`, value, interval: null, good: null, text })),
    table: {
      columns: [number("round"), text("first"), number("ratio")], count: rows.length,
      row: (index: number) => { const row = rows[index]; return row === undefined ? [] : [String(row.one.round), row.one.first, row.text]; },
    },
  }).element;
}

/** Says how many loads of a side count for less, each with the reason. */
function doubts(found: AbDocument, side: AbSideDocument): string {
  const reasons: readonly (readonly [number, string])[] = [
    [side.unusable, "not usable"],
    [side.limited, found.load === "search" ? "whose ladder the generator limited" : "limited by the generator"],
    [side.open_ended, "without a rate that breaks"],
    [side.wide, "whose rates that held and broke are far apart"],
  ];
  return reasons.filter(([loads]) => loads > 0).map(([loads, why]) => `, ${whole(loads)} ${why}`).join("");
}

export function ab(found: AbDocument): HTMLElement[] {
  const latency = differences("ab-latency", "Medians over the rounds", ["B", "A"], found.quantiles.map((one) => ({
    percentile: one.percentile, one: one.b_ms, other: one.a_ms, by: one.difference_ms, within: one.difference_ms_interval,
  })));
  return [section("compared", "The comparison", h("p", { class: "lead" }, gate(found)),
    facts(found.sides.map((side) => [side.side, foreign(`${side.label}: ${counted(side.loads, "load")}, success ${ratio(side.success)}${doubts(found, side)}`)] as const)),
    found.figures.length === 0 ? null : figures(found), latency, found.ratios.length === 0 ? null : rounds(found),
    ...found.effects.filter((one) => one.sure).map((one) => h("p", {}, effect(one))))];
}
