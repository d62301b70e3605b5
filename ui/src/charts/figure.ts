// A chart on the page: title, caption, drawing and table. The drawing is made when it comes into view.

import { foreign, h } from "../dom";
import { joined } from "../format";
import { lazyTable, type TableModel } from "../table";
import { onTheme } from "../theme";

export interface FigureModel {
  /** A stable name, `data-chart`. */
  name: string;
  title: string;
  /** One sentence: what the data shows. */
  caption: string;
  table: TableModel;
}

export interface Drawing<M> {
  /** New data. */
  update(model: M): void;
  /** Another width, or other colours. */
  redraw(): void;
}

export type Chart<M> = (host: HTMLElement, model: M) => Drawing<M>;

export interface FigureHandle<M> {
  element: HTMLElement;
  update(model: M): void;
}

const waiting = new Map<Element, () => void>();

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) waiting.get(entry.target)?.();
}, { rootMargin: "200px" });

/** Draws what was not scrolled to, for print. */
export function drawAll(): void {
  for (const draw of [...waiting.values()]) draw();
}

export function figure<M extends FigureModel>(chart: Chart<M>, first: M): FigureHandle<M> {
  let model = first;
  let drawing: Drawing<M> | null = null;
  const canvas = h("div", { class: "drawing", role: "group" });
  const caption = h("figcaption");
  const data = h("details", { class: "data" });
  const title = h("h3", {}, foreign(first.title));
  const element = h("figure", { "data-chart": first.name, "data-drawn": "false", id: `chart-${first.name}` },
    title, caption, canvas, data);

  const describe = (): void => {
    caption.replaceChildren(foreign(joined(model.caption)));
    canvas.setAttribute("aria-label", `${model.title}. ${model.caption} The table below has the values.`);
    const { element: body, rows } = lazyTable(model.title, model.table);
    data.replaceChildren(h("summary", {}, "Table"), body);
    data.ontoggle = () => { if (data.open) rows(); };
    if (data.open) rows();
  };
  const draw = (): void => {
    waiting.delete(element);
    nearby.unobserve(element);
    if (drawing !== null) return;
    drawing = chart(canvas, model);
    element.dataset["drawn"] = "true";
    let width = canvas.clientWidth;
    new ResizeObserver(() => {
      if (canvas.clientWidth === width || canvas.clientWidth === 0) return;
      width = canvas.clientWidth;
      drawing?.redraw();
    }).observe(canvas);
    onTheme(() => { if (element.isConnected) drawing?.redraw(); });
  };

  describe();
  waiting.set(element, draw);
  nearby.observe(element);
  return {
    element,
    update(next) {
      model = next;
      describe();
      drawing?.update(next);
    },
  };
}

/** A chart that is made anew from its model each time, such as SVG. */
export function remade<M>(make: (model: M, width: number) => Element): Chart<M> {
  return (host, first) => {
    let model = first;
    const redraw = (): void => host.replaceChildren(make(model, host.clientWidth || 320));
    redraw();
    return { redraw, update(next) { model = next; redraw(); } };
  };
}
