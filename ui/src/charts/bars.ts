// Labelled bars: the use of resources, or goodput next to the offered rate.

import { foreign, h } from "../dom";
import { type FigureModel, remade } from "./figure";

export interface Bar {
  label: string;
  /** From 0 to 1; null if it is not known. */
  part: number | null;
  /** A mark on the same scale, such as the offered rate. */
  mark?: number | null;
  value: string;
  accent?: boolean;
  tag?: string;
}

export interface BarsModel extends FigureModel {
  groups: readonly { title: string; note?: string; bars: readonly Bar[] }[];
}

function row(bar: Bar): HTMLElement {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(1, Math.max(0, bar.part ?? 0))}%`;
  const track = h("span", { class: bar.part === null ? "track unknown" : "track" }, fill);
  if (bar.mark !== undefined && bar.mark !== null) {
    const mark = h("span", { class: "mark" });
    mark.style.left = `${100 * Math.min(1, bar.mark)}%`;
    track.append(mark);
  }
  return h("div", { class: bar.accent ? "bar limit" : "bar" },
    h("span", { class: "label" }, foreign(bar.label), bar.tag ? h("span", { class: "tag" }, ` ${bar.tag}`) : null),
    track, h("span", { class: "value" }, bar.value));
}

export const barsChart = remade<BarsModel>((model) => h("div", { class: "bars" },
  ...model.groups.map((group) => h("div", { class: "group" },
    group.title === "" ? null : h("h4", {}, foreign(group.title), group.note ? h("span", { class: "note" }, " ", foreign(group.note)) : null),
    ...group.bars.map(row)))));
