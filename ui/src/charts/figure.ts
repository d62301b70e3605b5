// A chart on the page: title, caption, drawing and table. The drawing is made when it comes into view. The page keeps a limited number of
// drawings that take memory, such as canvases.

import { alive } from "../alive";
import { foreign, h } from "../dom";
import { joined } from "../format";
import { lazyTable, type TableModel } from "../table";
import { onTheme } from "../theme";

export interface FigureModel {
  /** A stable name, in the attribute `data-chart`. */
  name: string;
  title: string;
  /** One sentence that says what the data shows. */
  caption: string;
  table: TableModel;
}

export interface Drawing<M> {
  /** Shows new data. */
  update(model: M): void;
  /** Draws again, for another width or other colours. */
  redraw(): void;
  /** Frees the memory of the drawing until the next `update`. */
  rest?(): void;
  /** Releases what is registered outside the host element. */
  destroy?(): void;
}

export type Chart<M> = (host: HTMLElement, model: M) => Drawing<M>;

export interface FigureHandle<M> {
  element: HTMLElement;
  update(model: M): void;
}

/** A figure, as called by observers, the theme and updates of the page. */
interface Kept {
  chart: unknown;
  handle: unknown;
  /** Draws the figure. Returns true if the drawing takes memory that it can free. */
  draw(): boolean;
  /** Frees the memory of the drawing. Returns true if it takes none now. */
  rest(): boolean;
  redraw(): void;
  resized(): void;
  destroy(): void;
}

// Weak: a figure that is only registered here is freed with its element.
const figures = new WeakMap<Element, Kept>();

/** The most drawings that the page keeps, unless more are in view. A canvas takes about 2 MB in the browser. */
const HELD = 12;
/** The drawings that take memory; those that left the view longest ago come first. */
const held = new Set<Kept>();
const inView = new Set<Kept>();

const nearby = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const one = figures.get(target);
    if (one === undefined) continue;
    if (isIntersecting) inView.add(one); else inView.delete(one);
    const takesMemory = isIntersecting ? one.draw() : held.has(one);
    held.delete(one);
    if (takesMemory) held.add(one);
  }
  letRest();
}, { rootMargin: "200px" });

/** Frees the drawings that left the view longest ago, except in print, which shows all. */
export function letRest(): void {
  if (window.matchMedia("print").matches) return;
  for (const one of [...held]) {
    if (held.size <= HELD) return;
    if (!inView.has(one) && one.rest()) held.delete(one);
  }
}

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const element = target.closest("figure");
    if (element !== null) figures.get(element)?.resized();
  }
});

const within = (root: ParentNode): Kept[] =>
  [...root.querySelectorAll("figure[data-chart]")].flatMap((element) => figures.get(element) ?? []);

onTheme(() => within(document).forEach((one) => one.redraw()));

/** Draws all charts that are not drawn now, for print. */
export function drawAll(): void {
  for (const one of within(document)) {
    if (one.draw()) held.add(one);
  }
}

/** Destroys the figures in this part of the page, which is about to be removed. */
export function destroyFigures(root: ParentNode): void {
  within(root).forEach((one) => one.destroy());
}

/** The figures of the content that is being rebuilt, by name. */
let reusable = new Map<string, Kept>();

/**
 * Rebuilds the content of `root`. A figure of the same name and kind stays, with its table, its hidden lines and its cursor; the others
 * are destroyed. Figures in `except` are not part of it.
 */
export function renew(root: ParentNode, except: Element | null, make: () => void): void {
  reusable = new Map([...root.querySelectorAll<HTMLElement>("figure[data-chart]")].flatMap((element) => {
    const kept = except?.contains(element) ? undefined : figures.get(element);
    return kept === undefined ? [] : [[element.dataset["chart"] ?? "", kept] as const];
  }));
  try {
    make();
  } finally {
    reusable.forEach((one) => one.destroy());
    reusable = new Map();
  }
}

export function figure<M extends FigureModel>(chart: Chart<M>, first: M): FigureHandle<M> {
  const known = reusable.get(first.name);
  if (known !== undefined && known.chart === chart) {
    reusable.delete(first.name);
    // The same kind of chart has the same kind of model.
    const handle = known.handle as FigureHandle<M>;
    handle.update(first);
    return handle;
  }
  return newFigure(chart, first);
}

/** The elements of a figure, and a function that fills all of them but the drawing. */
function frame(name: string) {
  const canvas = h("div", { class: "drawing", role: "group" });
  const caption = h("figcaption");
  const data = h("details", { class: "data" });
  const title = h("h3");
  const element = h("figure", { "data-chart": name, "data-drawn": "false", id: `chart-${name}` }, title, caption, canvas, data);
  const describe = (model: FigureModel): void => {
    title.replaceChildren(foreign(model.title));
    caption.replaceChildren(foreign(joined(model.caption)));
    canvas.setAttribute("aria-label", `${model.title}. ${model.caption} The table below has the values.`);
    const { element: body, rows } = lazyTable(model.title, model.table);
    data.replaceChildren(h("summary", {}, "Table"), body);
    data.ontoggle = () => { if (data.open) rows(); };
    if (data.open) rows();
  };
  return { element, canvas, describe };
}

function newFigure<M extends FigureModel>(chart: Chart<M>, first: M): FigureHandle<M> {
  let model = first;
  let drawing: Drawing<M> | null = null;
  let rests = false;
  let width = 0;
  const { element, canvas, describe } = frame(first.name);
  const handle = {
    element,
    update(next: M): void {
      model = next;
      describe(next);
      if (!rests) drawing?.update(next);
    },
  };
  const own: Kept = {
    chart, handle,
    draw(): boolean {
      if (drawing === null) {
        drawing = chart(canvas, model);
        element.dataset["drawn"] = "true";
        width = canvas.clientWidth;
        widths.observe(canvas);
        alive("figures", 1);
      } else if (rests) {
        rests = false;
        width = canvas.clientWidth;
        drawing.update(model);
        canvas.style.minHeight = "";
      }
      return drawing.rest !== undefined;
    },
    rest(): boolean {
      if (drawing?.rest === undefined || rests) return true;
      // The reader may use the keyboard on the chart that has the focus.
      if (element.contains(document.activeElement)) return false;
      canvas.style.minHeight = `${canvas.offsetHeight}px`;
      drawing.rest();
      rests = true;
      return true;
    },
    redraw: () => { if (!rests) drawing?.redraw(); },
    resized(): void {
      if (rests || canvas.clientWidth === width || canvas.clientWidth === 0) return;
      width = canvas.clientWidth;
      drawing?.redraw();
    },
    destroy(): void {
      figures.delete(element);
      held.delete(own);
      inView.delete(own);
      nearby.unobserve(element);
      widths.unobserve(canvas);
      if (drawing === null) return;
      drawing.destroy?.();
      drawing = null;
      alive("figures", -1);
    },
  };
  figures.set(element, own);
  describe(first);
  nearby.observe(element);
  return handle;
}

/** A chart that is rebuilt from its model each time, such as SVG. */
export function remade<M>(make: (model: M, width: number) => Element): Chart<M> {
  return (host, first) => {
    let model = first;
    const redraw = (): void => host.replaceChildren(make(model, host.clientWidth || 320));
    redraw();
    return { redraw, update(next) { model = next; redraw(); } };
  };
}
