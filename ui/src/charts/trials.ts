// The trials of a search: the rate and the outcome of each, in the order in which they ran.

import { h, svg } from "../dom";
import { count } from "../format";
import { type FigureModel, remade } from "./figure";

export interface TrialsModel extends FigureModel {
  trials: readonly { rate: number; outcome: string; label: string }[];
  held: number | null;
  broken: number | null;
}

const SHAPES: Record<string, (x: number, y: number) => SVGElement> = {
  held: (x, y) => svg("circle", { cx: x, cy: y, r: 5.5, class: "held" }),
  broken: (x, y) => svg("path", { d: `M${x - 5} ${y - 5} l10 10 m0 -10 l-10 10`, class: "cross" }),
  close: (x, y) => svg("path", { d: `M${x} ${y - 6} l6 6 l-6 6 l-6 -6 z`, class: "open" }),
  generator_limited: (x, y) => svg("circle", { cx: x, cy: y, r: 5, class: "open dashed" }),
};

function key(name: string, label: string): HTMLElement {
  const mark = svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", class: "plain" });
  const shape = SHAPES[name]?.(8, 8);
  if (shape) mark.append(shape);
  return h("span", { class: "item" }, mark, label);
}

export const trialsChart = remade<TrialsModel>((model, width) => {
  const height = 220;
  const [left, right, top, bottom] = [58, 12, 14, 30];
  const rates = model.trials.map((trial) => trial.rate);
  const max = Math.max(...rates, model.broken ?? 0, 1) * 1.08;
  const x = (index: number): number =>
    left + ((index + 0.5) / Math.max(1, model.trials.length)) * (width - left - right);
  const y = (rate: number): number => top + (1 - rate / max) * (height - top - bottom);

  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "plain", "aria-hidden": "true" });
  if (model.held !== null && model.broken !== null) {
    root.append(svg("rect", {
      x: left, y: y(model.broken), width: width - left - right, height: Math.max(0, y(model.held) - y(model.broken)), class: "unsure soft",
    }));
  }
  const step = niceStep(max / 4);
  for (let tick = 0; tick <= max; tick += step) {
    root.append(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "rule" }),
      svg("text", { x: left - 8, y: y(tick) + 4, class: "small", "text-anchor": "end" }, count(tick)));
  }
  model.trials.forEach((trial, index) => {
    const shape = (SHAPES[trial.outcome] ?? SHAPES["close"])?.(x(index), y(trial.rate));
    if (shape) {
      shape.append(svg("title", {}, trial.label));
      root.append(shape);
    }
    const every = Math.ceil(model.trials.length / Math.max(1, (width - left) / 26));
    if (index % every === 0) {
      root.append(svg("text", { x: x(index), y: height - 10, class: "small", "text-anchor": "middle" }, String(index + 1)));
    }
  });
  const outcomes = [...new Set(model.trials.map((trial) => trial.outcome))];
  const names: Record<string, string> = {
    held: "held", broken: "broken", close: "too close to decide", generator_limited: "generator was the limit",
  };
  return h("div", {}, root, h("div", { class: "legend" }, ...outcomes.map((name) => key(name, names[name] ?? name)),
    h("span", { class: "at" }, "requests/s offered, by trial")));
});

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}
