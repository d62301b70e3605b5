// Estimates with their intervals, one under another, around a value that means "no difference".

import { foreign, h } from "../dom";
import type { Format } from "../format";
import { type FigureModel, remade } from "./figure";

/** Distances between ticks at most. */
const TICKS = 4;
const NONE = "0";

export interface ForestRow {
  label: string;
  /** Null where it is not known. */
  value: number | null;
  interval: readonly [number, number] | null;
  /** The value and interval as text. */
  text: string;
  /** Whether the interval says that it is better or worse; null where that is open, or neither is better. */
  good: boolean | null;
}

export interface ForestModel extends FigureModel {
  rows: readonly ForestRow[];
  /** The value without a difference: 1 of ratios, 0 of differences. */
  none: number;
  /** What stands at the left and at the right of it. */
  sides: readonly [string, string];
  /** A value of the axis as text. */
  tick: Format;
  /** Values that the axis shows, too: charts next to each other have one scale. */
  also?: readonly number[];
}

/** The range that shows all rows, with the value without a difference in it and some room at both ends. */
function range(model: ForestModel): [number, number] {
  const own = model.rows.flatMap((row) => (row.value === null ? [] : [row.value, ...(row.interval ?? [])]));
  const values = [...own, ...(model.also ?? [])];
  const low = Math.min(model.none, ...values);
  const high = Math.max(model.none, ...values);
  const room = (high - low || Math.abs(model.none) || 1) * 0.06;
  return [low - room, high + room];
}

/** Round values in the range, the one without a difference among them. */
function ticks([low, high]: readonly [number, number], none: number): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((part) => part * power >= rough) ?? 10);
  const first = Math.ceil((low - none) / step);
  const count = Math.floor((high - none) / step) - first + 1;
  return Array.from({ length: count }, (_, index) => none + Number(((first + index) * step).toPrecision(6)));
}

/** A label near an end of the axis stands within it. */
const end = (part: number): string | null => (part < 0.12 ? "first" : part > 0.88 ? "last" : null);

function drawn(row: ForestRow, at: (value: number) => string, none: number): HTMLElement {
  const track = h("span", { class: "track" }, h("span", { class: "none", style: `left:${at(none)}` }));
  if (row.value !== null) {
    if (row.interval !== null) {
      const [low, high] = row.interval;
      track.append(h("span", { class: "span", style: `left:${at(low)};right:calc(100% - ${at(high)})` }));
    }
    track.append(h("span", { class: row.interval === null ? "dot alone" : "dot", style: `left:${at(row.value)}` }));
  }
  const kind = row.good === null ? "open" : row.good ? "better" : "worse";
  return h("div", { class: `estimate ${kind}` }, h("span", { class: "label" }, foreign(row.label)), track,
    h("span", { class: "value" }, row.text));
}

/** Whether an interval lies on one side of `none`; where it does not, nothing is said. */
export function verdictOf(interval: readonly [number, number] | null, none: number, more: "better" | "worse"): boolean | null {
  if (interval === null || (interval[0] <= none && interval[1] >= none)) return null;
  return (interval[0] > none) === (more === "better");
}

export const forestChart = remade<ForestModel>((model) => {
  const ends = range(model);
  const [low, high] = ends;
  const part = (value: number): number => (value - low) / (high - low);
  const at = (value: number): string => `${(100 * part(value)).toFixed(2)}%`;
  const [left, right] = model.sides;
  return h("div", { class: "forest" },
    ...model.rows.map((row) => drawn(row, at, model.none)),
    h("div", { class: "estimate axis", "aria-hidden": "true" }, h("span"), h("span", { class: "ticks" },
      ...ticks(ends, model.none).map((value) => h("span", { class: end(part(value)), style: `left:${at(value)}` },
        value === model.none ? NONE : model.tick(value)))), h("span")),
    h("div", { class: "estimate axis", "aria-hidden": "true" }, h("span"), h("span", { class: "sides" },
      h("span", {}, `◂ ${left}`), h("span", {}, `${right} ▸`)), h("span")));
});
