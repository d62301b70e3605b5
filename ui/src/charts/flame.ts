// A flame graph: each box is a function, as wide as its CPU time, under its caller. It zooms, searches, and takes the keyboard.

import { foreign, h, visible } from "../dom";
import { significant } from "../format";
import type { Chart, FigureModel } from "./figure";

export interface FlameBox {
  name: string;
  depth: number;
  /** The names from the outermost box to this one, a line each. */
  path: string;
  /** CPU time of a request in the function and its callees, in µs. */
  us: number;
  /** How many µs more that is than in the other run; null if that is not certain, undefined if no other run is compared. */
  more?: number | null;
}

export interface FlameModel extends FigureModel {
  boxes: readonly FlameBox[];
  totalUs: number;
  /** Graphs with the same link share search and zoom. */
  link?: FlameLink;
  /** The CPU time of the full width while the box of this path, or all boxes (null), are shown; by default that of the graph itself. */
  widthUs?: (path: string | null) => number;
}

/** The search text and the zoom that flame graphs share. */
export class FlameLink {
  private readonly listeners = new Set<() => void>();
  private soughtText = "";
  private zoomedPath: string | null = null;

  /** The search text in lower case; empty for none. */
  get sought(): string {
    return this.soughtText;
  }

  /** The path of the box that fills the width; null for all. */
  get path(): string | null {
    return this.zoomedPath;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  find(text: string): void {
    this.soughtText = text.toLowerCase();
    this.tell();
  }

  zoom(path: string | null): void {
    this.zoomedPath = path;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The search field and the button that resets the zoom, for all graphs with this link. */
export function flameTools(link: FlameLink, ...more: HTMLElement[]): HTMLElement {
  const field = h("input", { type: "search", placeholder: "Find a function", "aria-label": "Find a function", input: () => link.find(field.value) });
  const whole = h("button", { type: "button", disabled: true, click: () => link.zoom(null) }, "Show all");
  link.subscribe(() => { whole.disabled = link.path === null; });
  return h("div", { class: "flame-tools" }, field, ...more, whole);
}

interface Placed extends FlameBox { index: number; left: number; parent: number }

/** The height of a row in px, including the space below it. */
const ROW = 20;
/** A box narrower than this share of the view is not drawn. */
const NARROWEST = 0.001;
/** Differences from this share of all CPU time on have the full colour. */
const FULL = 0.05;

/** Returns the boxes with their left ends, in µs. */
function placed(boxes: readonly FlameBox[]): Placed[] {
  const open: { index: number; next: number }[] = [];
  let next = 0;
  return boxes.map((box, index) => {
    open.length = Math.min(open.length, box.depth);
    const around = open[open.length - 1];
    const left = around?.next ?? next;
    if (around) around.next += box.us; else next += box.us;
    open.push({ index, next: left });
    return { ...box, index, left, parent: around?.index ?? -1 };
  });
}

/** Colours a box by its name, or by its difference. */
function paint(element: HTMLElement, box: Placed, total: number): void {
  if (box.more === undefined) {
    let hash = 0;
    for (const letter of box.name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 997;
    element.style.setProperty("--tint", `${18 + (hash % 24)}%`);
    element.classList.add("plain");
    return;
  }
  const part = box.more === null ? 0 : Math.min(1, Math.abs(box.more) / (FULL * total));
  element.style.setProperty("--tint", `${(part * 45).toFixed(0)}%`);
  element.classList.add(box.more === null || box.more === 0 ? "same" : box.more > 0 ? "more" : "less");
}

function described(box: FlameBox, total: number): string {
  const of = total > 0 ? `, ${significant((100 * box.us) / total)} %` : "";
  const more = box.more === undefined ? "" : box.more === null ? "; no certain difference"
    : `; ${significant(Math.abs(box.more))} µs ${box.more > 0 ? "more" : "less"}`;
  return `${visible(box.name)}: ${significant(box.us)} µs of a request${of}${more}`;
}

export const flameChart: Chart<FlameModel> = (host, first) => {
  let model = first;
  let boxes = placed(model.boxes);
  let focused = 0;
  let shown: string | null = null;
  const link = model.link ?? new FlameLink();
  const elements = new Map<number, HTMLElement>();
  const graph = h("div", { class: "flame", role: "group", "aria-label": "Flame graph: arrow keys move, Enter zooms, Escape shows all" });
  const line = h("p", { class: "note reading", "aria-live": "polite" }, "Point at a box, or move with the arrow keys.");
  const found = h("span", { class: "note", role: "status" });

  /** Returns the box that fills the width: the zoomed box, or its nearest caller that this graph has; -1 for all. */
  const root = (): number => {
    for (let path = link.path; path; path = path.slice(0, Math.max(0, path.lastIndexOf("\n")))) {
      const index = boxes.findIndex((box) => box.path === path);
      if (index >= 0) return index;
    }
    return -1;
  };
  const zoom = (index: number): void => {
    focused = Math.max(0, index);
    link.zoom(boxes[index]?.path ?? null);
    elements.get(focused)?.focus();
  };
  const focus = (index: number): void => {
    elements.get(focused)?.setAttribute("tabindex", "-1");
    focused = index;
    elements.get(index)?.setAttribute("tabindex", "0");
    elements.get(index)?.focus();
  };
  const describe = (box: Placed) => (): void => { line.textContent = described(box, model.totalUs); };
  const draw = (): void => {
    elements.clear();
    for (const { box, left, right } of visibleBoxes(model, boxes, root(), link.path)) {
      const element = h("button", { type: "button", tabindex: -1, "aria-label": described(box, model.totalUs),
        click: () => zoom(box.index), focus: describe(box), mouseenter: describe(box) }, foreign(box.name));
      element.style.left = `${(100 * left).toFixed(3)}%`;
      element.style.width = `${(100 * (right - left)).toFixed(3)}%`;
      element.style.top = `${box.depth * ROW}px`;
      paint(element, box, model.totalUs);
      elements.set(box.index, element);
    }
    if (!elements.has(focused)) focused = [...elements.keys()][0] ?? 0;
    elements.get(focused)?.setAttribute("tabindex", "0");
    graph.style.height = `${(Math.max(0, ...[...elements.keys()].map((index) => boxes[index]?.depth ?? 0)) + 1) * ROW}px`;
    graph.replaceChildren(...elements.values());
    shown = link.path;
    say();
  };
  const say = (): void => {
    found.textContent = mark(boxes, elements, link.sought, model.totalUs) + missing(boxes[root()], link.path);
  };

  graph.addEventListener("keydown", (event) => {
    const next = event.key === "Escape" ? -1 : neighbour(boxes, elements, focused, event.key);
    if (next === undefined) return;
    if (event.key === "Escape") zoom(-1); else focus(next);
    event.preventDefault();
  });
  const state = model.link ? h("p", { class: "flame-state" }, found) : flameTools(link, found);
  host.replaceChildren(state, h("div", { class: "flame-scroll" }, graph), line);
  const unsubscribe = link.subscribe(() => { if (link.path === shown) say(); else draw(); });
  draw();
  return {
    redraw: () => undefined,
    update(next) { model = next; boxes = placed(next.boxes); draw(); },
    destroy: unsubscribe,
  };
};

/** Yields the boxes in and around the root that are wide enough to be seen, with their sides as parts of the width. */
function* visibleBoxes(model: FlameModel, boxes: readonly Placed[], index: number, path: string | null) {
  const root = boxes[index];
  const [from, us] = root ? [root.left, root.us] : [0, model.totalUs];
  // If the graph lacks the zoomed box, the caller that is shown instead has its own scale.
  const width = (root?.path ?? null) === path ? model.widthUs?.(path) ?? us : us;
  for (const box of boxes) {
    const left = Math.max(from, box.left);
    const right = Math.min(from + us, box.left + box.us);
    if (right - left >= NARROWEST * width && right > left) yield { box, left: (left - from) / width, right: (right - from) / width };
  }
}

/** Marks the boxes that match the search. Returns a sentence with their CPU time. */
function mark(boxes: readonly Placed[], elements: ReadonlyMap<number, HTMLElement>, sought: string, total: number): string {
  let sum = 0;
  let end = -1;
  for (const box of boxes) {
    const hit = sought !== "" && box.name.toLowerCase().includes(sought);
    elements.get(box.index)?.classList.toggle("found", hit);
    // The callees of a match are part of it, so they do not count again.
    if (hit && box.left >= end) { sum += box.us; end = box.left + box.us; }
  }
  return sought === "" ? "" : `Found: ${significant(sum)} µs, ${significant(total > 0 ? (100 * sum) / total : 0)} %. `;
}

/** Says that the graph lacks the zoomed box; empty if it has it. */
function missing(root: Placed | undefined, path: string | null): string {
  if (path === null || root?.path === path) return "";
  const name = visible(path.slice(path.lastIndexOf("\n") + 1));
  return `No sample of ${name} under these callers; ${root === undefined ? "all is shown" : `${visible(root.name)} is shown`}.`;
}

/** Returns the box that an arrow key leads to from this one; undefined for none. */
function neighbour(boxes: readonly Placed[], elements: ReadonlyMap<number, HTMLElement>, from: number, key: string): number | undefined {
  const at = boxes[from];
  const shown = boxes.filter((box) => elements.has(box.index));
  const row = shown.filter((box) => box.depth === at?.depth);
  const place = row.findIndex((box) => box.index === from);
  switch (key) {
    case "ArrowLeft": return row[place - 1]?.index;
    case "ArrowRight": return row[place + 1]?.index;
    case "ArrowUp": return at !== undefined && at.parent >= 0 ? at.parent : undefined;
    case "ArrowDown": return shown.find((box) => box.parent === from)?.index;
    default: return undefined;
  }
}
