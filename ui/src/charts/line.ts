// Lines over time or over connections, drawn by uPlot.

import uPlot from "uplot";
import { alive } from "../alive";
import { h, visible } from "../dom";
import { type Format, timeTick, whole } from "../format";
import type { TimeLink } from "../link";
import { colour } from "../theme";
import { axis, fitting, logRange, logTicks, look, zeroRange } from "./axes";
import type { Chart, FigureModel } from "./figure";
import { legend } from "./legend";
import { type Band, bandLabels, bands, horizontals, type Mark, ring, verticals, type Whisker, whiskers } from "./marks";

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** A colour of style.css, such as `--blue`. */
  colour: string;
  dash?: boolean;
  points?: boolean;
  fill?: boolean;
  /** Joins samples across windows without one, but not across missing samples; each sample is then a point. */
  span?: boolean;
  width?: number;
}

export interface LineModel extends FigureModel {
  x: readonly number[];
  xFormat: Format;
  /** The ticks of the x axis if it is not time. */
  xTicks?: readonly number[];
  xLog?: boolean;
  xLabel: string;
  format: Format;
  tickFormat?: Format;
  yLog?: boolean;
  /** The range of y if it does not follow from the values. */
  yRange?: [number, number];
  series: readonly Series[];
  bands?: readonly Band[];
  verticals?: readonly Mark[];
  horizontals?: readonly Mark[];
  whiskers?: readonly Whisker[];
  ring?: { x: number; y: number } | null;
  height?: number;
  /** Drawn under the lines. */
  under?: (plot: uPlot) => void;
  /** Charts with the same link share zoom and cursor. */
  link?: TimeLink;
}

/** The height of the horizontal axis in px, and the smallest width of the vertical axis of a chart over time. */
const AXIS = 30;
const TIME_AXIS = 84;
/** Tick distances, without 2.5 because labels have two or three digits. */
const STEPS_OF_TEN = Array.from({ length: 20 }, (_, power) => [1, 2, 5].map((part) => Number(`${part}e${power - 6}`))).flat();
/** Tick distances of whole numbers. */
const WHOLE_STEPS = STEPS_OF_TEN.filter((step) => step >= 1);
/** A series with more samples is a line without points. */
const MOST_POINTS = 150;
/** Tick distances of time, in seconds. */
const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];

function yRange(model: LineModel): [number, number] {
  if (model.yRange !== undefined) return model.yRange;
  const limits = (model.horizontals ?? []).map((mark) => mark.at);
  const ends = (model.whiskers ?? []).flatMap((one) => [one.low, one.high]);
  const values = [...model.series.flatMap((one) => one.values), ...limits, ...ends];
  return model.yLog ? logRange(values) : zeroRange(values);
}

function xRange(model: LineModel): [number, number] {
  const first = model.x[0] ?? 0;
  const last = model.x[model.x.length - 1] ?? 1;
  if (model.link !== undefined) return [model.link.current.min, model.link.current.max];
  if (model.xLog) return [first / 1.25, last * 1.25];
  return first === last ? [first - 0.5, first + 0.5] : [first, last];
}

/** Returns the indices of values between two gaps, because a line does not show them. */
function alone(values: ArrayLike<number | null | undefined> | undefined): number[] {
  const list = Array.from(values ?? []);
  /** Whether a line continues from here: not across a gap (null), but across windows without a sample (undefined). */
  const goesOn = (from: number, by: number): boolean => {
    let at = from + by;
    while (at >= 0 && at < list.length && list[at] === undefined) at += by;
    return list[at] != null;
  };
  return list.flatMap((value, index) => (value != null && !goesOn(index, -1) && !goesOn(index, 1) ? [index] : []));
}

/** Samples further apart than this many median distances leave a gap. */
const GAP = 2.5;

/** Prepares values for uPlot, which joins neighbours across undefined but not across null: a late sample breaks the line. */
function spanned(x: readonly number[], values: readonly (number | null)[]): (number | null | undefined)[] {
  const known = values.flatMap((value, index) => (value === null ? [] : [index]));
  const apart = known.slice(1).map((index, at) => (x[index] ?? 0) - (x[known[at] ?? 0] ?? 0));
  const usual = [...apart].sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? 0;
  const list: (number | null | undefined)[] = [...values];
  apart.forEach((distance, at) => {
    // The factor allows for rounded instants.
    if (distance <= GAP * usual * 1.000001) list.fill(undefined, (known[at] ?? 0) + 1, known[at + 1]);
  });
  return list;
}

/** Returns the series that have a value, so that the legend names no missing line; returns all if none has one. */
export function withValues<T extends Pick<Series, "values">>(list: readonly T[]): readonly T[] {
  const known = list.filter((one) => one.values.some((value) => value !== null));
  return known.length === 0 ? list : known;
}

function seriesOptions(series: Series): uPlot.Series {
  const stroke = colour(series.colour);
  return {
    label: visible(series.label),
    stroke,
    width: series.width ?? 1.5,
    dash: series.dash ? [5, 4] : [],
    spanGaps: false,
    points: series.points || (series.span && series.values.length <= MOST_POINTS)
      ? { show: true, size: series.span ? 4 : 6, fill: stroke, stroke }
      : { show: true, size: 4, fill: stroke, stroke, filter: (plot, index) => alone(plot.data[index]) },
    ...(series.fill ? { fill: `${stroke}22` } : {}),
  };
}

function options(model: LineModel, width: number, show: (plot: uPlot) => void): uPlot.Options {
  const colours = look();
  const tick = model.tickFormat ?? model.format;
  const [low, high] = yRange(model);
  const yTicks = model.yLog ? logTicks(low, high) : null;
  const labels = yTicks?.map(tick) ?? [tick(high), tick(high / 2), tick(high / 4)];
  return {
    width,
    height: model.height ?? 220,
    legend: { show: false },
    padding: [8, 24, 0, 0],
    scales: {
      x: { time: false, distr: model.xLog ? 3 : 1, log: 2, range: (_plot, min, max) =>
        (model.link === undefined ? xRange(model) : [min, max]) },
      y: { distr: model.yLog ? 3 : 1, range: () => yRange(model) },
    },
    axes: [
      axis("x", model.link ? timeTick : model.xFormat, colours, model.xTicks
        ? { size: AXIS, splits: () => [...(model.xTicks ?? [])], grid: { show: false }, filter: (_plot, splits) => splits }
        : { size: AXIS, grid: { show: false }, space: 70, ...(model.link ? { incrs: TIME_STEPS } : {}) }),
      axis("y", tick, colours, {
        // Charts over time stand under each other, so their axes must align.
        size: model.link === undefined ? fitting(labels) : Math.max(TIME_AXIS, fitting(labels)),
        ...(yTicks ? { splits: () => yTicks, filter: (_plot: uPlot, splits: number[]) => splits }
          : { space: 34, incrs: model.format === whole ? WHOLE_STEPS : STEPS_OF_TEN }),
      }),
    ],
    series: [{}, ...model.series.map(seriesOptions)],
    cursor: {
      y: false,
      points: { size: 7 },
      // By default, uPlot zooms out each chart alone.
      bind: { dblclick: () => null },
      drag: { x: model.link !== undefined, y: false, setScale: model.link !== undefined },
      ...(model.link ? { sync: { key: model.link.sync.key, scales: ["x", null] as [string, null] } } : {}),
    },
    hooks: {
      drawClear: [(plot) => {
        if (model.bands) bands(plot, model.bands);
        model.under?.(plot);
      }],
      draw: [(plot) => {
        if (model.bands) bandLabels(plot, model.bands);
        if (model.horizontals) horizontals(plot, model.horizontals);
        if (model.verticals) verticals(plot, model.verticals);
        if (model.whiskers) whiskers(plot, model.whiskers, colour(model.series[0]?.colour ?? "--ink"));
        if (model.ring) ring(plot, model.ring.x, model.ring.y);
      }],
      setCursor: [show],
      setScale: [(plot, key) => {
        const { min, max } = plot.scales["x"] ?? {};
        if (key !== "x" || model.link === undefined || min == null || max == null) return;
        model.link.set({ min, max });
      }],
    },
  };
}

const data = (model: LineModel): uPlot.AlignedData =>
  [[...model.x], ...model.series.map((one) => (one.span ? spanned(model.x, one.values) : [...one.values]))] as uPlot.AlignedData;

/** Keys that move the cursor, and by how many samples. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };

/** Zooms or pans by a key. Returns false for another key. */
function zoomedBy(link: TimeLink, event: KeyboardEvent): boolean {
  if (event.key === "+" || event.key === "=") link.zoom(0.5);
  else if (event.key === "-") link.zoom(2);
  else if (event.key === "0" || event.key === "Escape") link.reset();
  else if (event.shiftKey && event.key === "ArrowLeft") link.pan(-0.25);
  else if (event.shiftKey && event.key === "ArrowRight") link.pan(0.25);
  else return false;
  return true;
}

/** Returns the first and the last visible sample. */
function shownSamples(model: LineModel, plot: uPlot): [number, number] {
  const { min, max } = plot.scales["x"] ?? {};
  const inside = (x: number): boolean => x >= (min ?? -Infinity) && x <= (max ?? Infinity);
  const first = model.x.findIndex(inside);
  return first < 0 ? [0, Math.max(0, model.x.length - 1)] : [first, model.x.reduce((last, x, index) => (inside(x) ? index : last), first)];
}

/** Handles a key: zooms, pans, or moves to another sample. */
function byKey(event: KeyboardEvent, model: LineModel, plot: uPlot, go: (index: number) => void): void {
  const step = STEPS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (model.link !== undefined && zoomedBy(model.link, event)) event.preventDefault();
  else if (step !== undefined) {
    const [low, high] = shownSamples(model, plot);
    const at = plot.cursor.idx ?? (step > 0 ? low - 1 : high + 1);
    go(Math.min(high, Math.max(low, at + step)));
    event.preventDefault();
  }
}

/**
 * Returns the position of the value nearest to `to`; null without values. Windows get longer in a long run, so the exact value may no
 * longer exist.
 */
function nearest(values: readonly number[], to: number): number | null {
  return values.reduce<number | null>((best, value, index) =>
    (best === null || Math.abs(value - to) < Math.abs((values[best] ?? 0) - to) ? index : best), null);
}

/** Announces the sample at which the chart, as a slider, is; null for none. */
function announce(target: HTMLElement, model: LineModel, hidden: ReadonlySet<string>, index: number | null): void {
  const x = index === null ? undefined : model.x[index];
  target.setAttribute("aria-label", model.title);
  target.setAttribute("aria-valuemax", String(Math.max(0, model.x.length - 1)));
  target.setAttribute("aria-valuenow", String(index ?? 0));
  const values = model.series.flatMap((one) => (hidden.has(one.label) ? [] : [`${visible(one.label)} ${model.format(one.values[index ?? 0])}`]));
  target.setAttribute("aria-valuetext", x === undefined ? "no sample is chosen" : `${model.xFormat(x)}: ${values.join(", ")}`);
}

/** Names the horizontal axis if it is not time, and says which axes are logarithmic. */
function axesText(model: LineModel): string {
  const by = model.link ? [] : [`by ${model.xLabel}`];
  if (model.yLog) by.push(model.xLog ? "both axes logarithmic" : "vertical axis logarithmic");
  else if (model.xLog) by.push("horizontal axis logarithmic");
  return by.join(", ");
}

/** The legend of a plot: it shows the values at the cursor and hides series. */
function keyOf(model: LineModel, hidden: Set<string>, toggle: (index: number, shown: boolean) => void) {
  const key = legend(model.series, axesText(model), hidden, (index, shown) => {
    const label = model.series[index]?.label ?? "";
    if (shown) hidden.delete(label); else hidden.add(label);
    toggle(index, shown);
  });
  const show = (plot: uPlot): void => {
    const x = model.x[plot.cursor.idx ?? -1];
    if (x === undefined) return key.show(null, []);
    key.show(model.xFormat(x), model.series.map((one) => model.format(one.values[plot.cursor.idx ?? -1])));
  };
  return { element: key.element, show };
}

/** A line chart. For the keyboard it is a slider: its position is a sample, and its text the values of that sample. */
export const lineChart: Chart<LineModel> = (host, first) => {
  let model = first;
  let plot: uPlot | null = null;
  // The labels of hidden series. They stay when the chart is rebuilt: a later state may have the series in another order.
  const hidden = new Set<string>();
  const target = h("div", { class: "plot", tabindex: 0, role: "slider", "aria-valuemin": 0 });
  const keys = h("div");
  host.replaceChildren(target, keys);

  const say = (index: number | null): void => announce(target, model, hidden, index);
  /** Puts the cursor at a sample; `publish` moves charts with the same link, too. */
  const place = (index: number, publish: boolean): void => {
    const x = model.x[index];
    if (plot === null || x === undefined) return;
    // The type that uPlot declares lacks the last parameter.
    const setCursor: (at: { left: number; top: number }, fire: boolean, publish: boolean) => void = plot.setCursor;
    setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 }, true, publish);
  };
  /** The x of the sample at the cursor; kept while there is no plot. */
  let read: number | undefined;
  const remove = (): void => {
    if (plot === null) return;
    read = model.x[plot.cursor.idx ?? -1];
    plot.destroy();
    plot = null;
    alive("plots", -1);
  };
  target.addEventListener("keydown", (event) => {
    if (plot !== null) byKey(event, model, plot, (to) => { place(to, true); say(to); });
  });

  const make = (next: LineModel): void => {
    remove();
    model = next;
    const key = keyOf(model, hidden, (index, shown) => plot?.setSeries(index + 1, { show: shown }));
    keys.replaceChildren(key.element);
    // The position stays at the same sample, whatever was added since.
    const at = read === undefined ? null : nearest(model.x, read);
    say(at);
    const made = new uPlot(options(model, host.clientWidth || 320, key.show), data(model), target);
    plot = made;
    alive("plots", 1);
    made.over.addEventListener("dblclick", () => model.link?.reset());
    const range = xRange(model);
    made.setScale("x", { min: range[0], max: range[1] });
    model.series.forEach((one, index) => { if (hidden.has(one.label)) made.setSeries(index + 1, { show: false }); });
    // uPlot sets the scale in a microtask that runs before this one; only then is the position of a sample known.
    if (at !== null) queueMicrotask(() => { if (plot === made) place(at, false); });
  };

  make(first);
  const unsubscribe = first.link?.subscribe((range) => {
    const now = plot?.scales["x"];
    if (now && (now.min !== range.min || now.max !== range.max)) plot?.setScale("x", range);
  });
  return {
    redraw: () => make(model),
    update: make,
    rest: remove,
    destroy() {
      unsubscribe?.();
      remove();
    },
  };
};
