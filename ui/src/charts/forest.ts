// Estimates with their intervals, one under another, around a value that means "no difference".

import { foreign, h } from "../dom";
import type { Format } from "../format";
import { type FigureModel, remade } from "./figure";

/** The most distances between ticks. */
const TICKS = 4;
const NONE = "0";

export interface ForestRow {
  label: string;
  /** Null if it is not known. */
  value: number | null;
  interval: readonly [number, number] | null;
  /** The value and interval as text. */
  text: string;
  /** Whether the interval shows an improvement; null if it shows neither that nor the opposite, or neither is better. */
  good: boolean | null;
}

export interface ForestModel extends FigureModel {
  rows: readonly ForestRow[];
  /** The value that means no difference: 1 for ratios, 0 for differences. */
  none: number;
  /** The labels to the left and to the right of it. */
  sides: readonly [string, string];
  /** Formats a value of the axis. */
  tick: Format;
  /** Further values that the axis must include, so that charts next to each other have one scale. */
  also?: readonly number[];
}

/** Returns the range that includes all rows and `none`, with some room at both ends. */
function range(model: ForestModel): [number, number] {
  const own = model.rows.flatMap((row) => (row.value === null ? [] : [row.value, ...(row.interval ?? [])]));
  const values = [...own, ...(model.also ?? [])];
  const low = Math.min(model.none, ...values);
  const high = Math.max(model.none, ...values);
  const room = (high - low || Math.abs(model.none) || 1) * 0.06;
  return [low - room, high + room];
}

/** Returns round values in the range, `none` among them. */
function ticks([low, high]: readonly [number, number], none: number): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((part) => part * power >= rough) ?? 10);
  const first = Math.ceil((low - none) / step);
  const count = Math.floor((high - none) / step) - first + 1;
  return Array.from({ length: count }, (_, index) => none + Number(((first + index) * step).toPrecision(6)));
}

/** Aligns a label near an end of the axis so that it stays within the axis. */
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

/** Whether an interval lies on the better side of `none`; null if it includes `none`. */
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
