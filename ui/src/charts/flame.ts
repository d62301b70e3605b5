// A flame graph: each box is a function, as wide as its CPU time, under its caller. It zooms, searches, and takes the keyboard.

import { foreign, h, visible } from "../dom";
import { significant } from "../format";
import type { Chart, FigureModel } from "./figure";

export interface FlameBox {
  name: string;
  depth: number;
  /** CPU time of a request in it and in what it called, in µs. */
  us: number;
  /** How much more that is than in the other run, as far as it is certain; undefined where no other is compared. */
  more?: number | null;
}

export interface FlameModel extends FigureModel {
  boxes: readonly FlameBox[];
  totalUs: number;
}

interface Placed extends FlameBox { index: number; left: number; parent: number }

/** A box narrower than this share of the view is not made. */
const NARROWEST = 0.001;
/** Differences of this share of all CPU time have the full colour. */
const FULL = 0.05;

/** Boxes with the place at which each begins, in µs from the left. */
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

/** A colour that follows from the name, or from the difference. */
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
  let zoomed = -1;
  let focused = 0;
  let sought = "";
  const graph = h("div", { class: "flame", role: "group", "aria-label": "Flame graph: arrow keys move, Enter zooms, Escape shows all" });
  const line = h("p", { class: "note reading", "aria-live": "polite" }, "Point at a box, or move with the arrow keys.");
  const whole = h("button", { type: "button", disabled: true, click: () => zoom(-1) }, "Show all");
  const field = h("input", { type: "search", placeholder: "Find a function", "aria-label": "Find a function",
    input: () => { sought = field.value.toLowerCase(); mark(); } });
  const found = h("span", { class: "note" });
  const elements = new Map<number, HTMLElement>();

  function zoom(index: number): void {
    zoomed = index;
    focused = Math.max(0, index);
    (whole as HTMLButtonElement).disabled = index < 0;
    draw();
    elements.get(focused)?.focus();
  }

  function mark(): void {
    let sum = 0;
    let end = -1;
    for (const box of boxes) {
      const hit = sought !== "" && box.name.toLowerCase().includes(sought);
      elements.get(box.index)?.classList.toggle("found", hit);
      // What a function that was found called counts once.
      if (hit && box.left >= end) { sum += box.us; end = box.left + box.us; }
    }
    found.textContent = sought === "" ? "" : `${significant(sum)} µs, ${significant(model.totalUs > 0 ? (100 * sum) / model.totalUs : 0)} %`;
  }

  function move(event: KeyboardEvent): void {
    const shown = boxes.filter((box) => elements.has(box.index));
    const at = boxes[focused];
    if (at === undefined) return;
    const row = shown.filter((box) => box.depth === at.depth);
    const place = row.findIndex((box) => box.index === focused);
    const next: Record<string, number | undefined> = {
      ArrowLeft: row[place - 1]?.index, ArrowRight: row[place + 1]?.index, ArrowUp: at.parent >= 0 ? at.parent : undefined,
      ArrowDown: shown.find((box) => box.parent === focused)?.index,
    };
    if (event.key === "Escape") zoom(-1);
    else if (next[event.key] !== undefined) { focus(next[event.key] ?? 0); } else return;
    event.preventDefault();
  }

  function focus(index: number): void {
    elements.get(focused)?.setAttribute("tabindex", "-1");
    focused = index;
    elements.get(index)?.setAttribute("tabindex", "0");
    elements.get(index)?.focus();
  }

  function draw(): void {
    const root = boxes[zoomed];
    const [from, width] = root ? [root.left, root.us] : [0, model.totalUs || 1];
    elements.clear();
    let depth = 0;
    for (const box of boxes) {
      const left = Math.max(0, (box.left - from) / width);
      const right = Math.min(1, (box.left + box.us - from) / width);
      if (right - left < NARROWEST) continue;
      const element = h("button", { type: "button", tabindex: -1, "aria-label": described(box, model.totalUs),
        click: () => zoom(box.index), focus: () => { line.textContent = described(box, model.totalUs); },
        mouseenter: () => { line.textContent = described(box, model.totalUs); } }, foreign(box.name));
      element.style.left = `${(100 * left).toFixed(3)}%`;
      element.style.width = `${(100 * (right - left)).toFixed(3)}%`;
      element.style.top = `${box.depth * 20}px`;
      paint(element, box, model.totalUs);
      elements.set(box.index, element);
      depth = Math.max(depth, box.depth);
    }
    elements.get(focused)?.setAttribute("tabindex", "0");
    if (!elements.has(focused)) [...elements.values()][0]?.setAttribute("tabindex", "0");
    graph.style.height = `${(depth + 1) * 20}px`;
    graph.replaceChildren(...elements.values());
    mark();
  }

  graph.addEventListener("keydown", (event) => move(event));
  host.replaceChildren(h("div", { class: "flame-tools" }, field, found, whole), h("div", { class: "flame-scroll" }, graph), line);
  draw();
  return {
    redraw: () => undefined,
    update(next) { model = next; boxes = placed(next.boxes); zoomed = -1; draw(); },
  };
};
