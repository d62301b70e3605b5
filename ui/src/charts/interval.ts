// The certainty of a throughput: a bar from the rate that held to the rate that broke, or over the interval.

import { h, svg } from "../dom";
import { count } from "../format";
import { type FigureModel, remade } from "./figure";

export interface IntervalModel extends FigureModel {
  low: number;
  high: number;
  /** The answer within the interval. */
  value: number;
  lowLabel: string;
  highLabel: string;
  /** Single measurements, with their outcome. */
  dots: readonly { at: number; good: boolean | null }[];
}

function scale(model: IntervalModel, width: number): (value: number) => number {
  const values = [model.low, model.high, model.value, ...model.dots.map((dot) => dot.at)];
  const max = Math.max(...values) * 1.05;
  // From zero, so that a wide interval looks wide and a narrow one is only a mark.
  return (value) => (value / max) * width;
}

export const intervalChart = remade<IntervalModel>((model, full) => {
  const width = full;
  const x = scale(model, width - 2);
  const top = 20;
  const root = svg("svg", { viewBox: `0 0 ${width} 64`, width, height: 64, class: "plain", "aria-hidden": "true" });
  root.append(
    svg("line", { x1: 0, x2: width, y1: top + 9, y2: top + 9, class: "rule" }),
    svg("rect", { x: 0, y: top + 5, width: x(model.low), height: 8, class: "sure" }),
    svg("rect", { x: x(model.low), y: top + 2, width: Math.max(2, x(model.high) - x(model.low)), height: 14, class: "unsure" }),
  );
  for (const dot of model.dots) {
    root.append(svg("circle", {
      cx: x(dot.at), cy: top + 9, r: 4, class: dot.good === true ? "held" : dot.good === false ? "broken" : "open",
    }));
  }
  root.append(svg("rect", { x: x(model.value) - 1.5, y: top - 2, width: 3, height: 22, class: "value" }));

  const low = svg("text", { x: x(model.low), y: top - 7, class: "small" }, `${count(model.low)} ${model.lowLabel}`);
  const high = svg("text", { x: x(model.high), y: top + 36, class: "small" }, `${count(model.high)} ${model.highLabel}`);
  low.setAttribute("text-anchor", x(model.low) > width / 2 ? "end" : "start");
  high.setAttribute("text-anchor", x(model.high) > width / 2 ? "end" : "start");
  root.append(low, high, svg("text", { x: 0, y: top + 36, class: "small" }, "0"));
  return h("div", {}, root);
});
