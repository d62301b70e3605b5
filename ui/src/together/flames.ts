// Where CPU time went: the flame graph of one run, or of two side by side with their difference.

import { figure } from "../charts/figure";
import { type FlameBox, flameChart, FlameLink, type FlameModel, flameTools } from "../charts/flame";
import type { Run } from "../document";
import { fold, foreign, h } from "../dom";
import { counted, joined, significant } from "../format";
import type { FlameDocument } from "../generated/page";
import { number, table, text } from "../table";

function boxes(flame: FlameDocument): (FlameBox & { half: number })[] {
  const path: string[] = [];
  return flame.us.map((us, index) => {
    const depth = flame.depth[index] ?? 0;
    const name = flame.names[flame.function[index] ?? -1] ?? "";
    path.length = depth;
    path.push(name);
    return { name, depth, us, half: flame.us_half[index] ?? 0, path: path.join("\n") };
  });
}

interface Sum { name: string; us: number; self: number }

/** Sums CPU time by function: in it and its callees, once for each stack, and in itself. */
function functions(list: readonly FlameBox[]): Sum[] {
  const sums = new Map<string, Sum>();
  const around: string[] = [];
  list.forEach((box, index) => {
    around.length = box.depth;
    const sum = sums.get(box.name) ?? { name: box.name, us: 0, self: 0 };
    if (!around.includes(box.name)) sum.us += box.us;
    let own = box.us;
    for (let next = index + 1; next < list.length && (list[next]?.depth ?? 0) > box.depth; next += 1) {
      if (list[next]?.depth === box.depth + 1) own -= list[next]?.us ?? 0;
    }
    sum.self += Math.max(0, own);
    sums.set(box.name, sum);
    around.push(box.name);
  });
  return [...sums.values()].sort((a, b) => b.us - a.us);
}

const us = (value: number): string => `${significant(value)} µs`;

type Shared = Pick<FlameModel, "link" | "widthUs">;

export function flame(name: string, title: string, document: FlameDocument, shared: Shared = {}): HTMLElement {
  const list = boxes(document);
  const sums = functions(list);
  const top = [...sums].sort((a, b) => b.self - a.self)[0];
  const total = document.total_us ?? 0;
  return figure(flameChart, {
    ...shared, name, title, boxes: list, totalUs: total,
    caption: `A request takes ${us(total)} of CPU time${top ? `; most of it in one function is ${us(top.self)} in ${top.name}` : ""}.`,
    table: {
      columns: [text("function"), number("with what it calls"), number("itself")], count: sums.length,
      row: (index) => { const sum = sums[index]; return sum === undefined ? [] : [sum.name, us(sum.us), us(sum.self)]; },
    },
  }).element;
}

/** The flame graph of a run, coloured by its difference from another. */
function difference(name: string, one: Profiled, other: Profiled, link: FlameLink): HTMLElement {
  const before = new Map(boxes(other.flame).map((box) => [box.path, box]));
  const list = boxes(one.flame).map((box) => {
    const old = before.get(box.path);
    const more = box.us - (old?.us ?? 0);
    return { ...box, more: Math.abs(more) > Math.hypot(box.half, old?.half ?? box.half) ? more : null };
  });
  const sums = new Map<string, { name: string; one: number; other: number }>();
  const entry = (name: string) => {
    const known = sums.get(name) ?? { name, one: 0, other: 0 };
    sums.set(name, known);
    return known;
  };
  for (const sum of functions(list)) entry(sum.name).one = sum.us;
  for (const sum of functions(boxes(other.flame))) entry(sum.name).other = sum.us;
  const rows = [...sums.values()].sort((a, b) => Math.abs(b.one - b.other) - Math.abs(a.one - a.other));
  const [totalOne, totalOther] = [one.flame.total_us ?? 0, other.flame.total_us ?? 0];
  const by = totalOne - totalOther;
  return figure(flameChart, {
    link, name, title: `${one.name} coloured by its difference from ${other.name}`, boxes: list, totalUs: totalOne,
    caption: `A request of ${one.name} takes ${us(Math.abs(by))} ${by < 0 ? "less" : "more"} CPU time. Boxes that grew are orange, those that shrank blue; `
      + "the others differ by no more than their samples leave open.",
    table: {
      columns: [text("function"), number(other.name), number(one.name), number("difference")], count: rows.length,
      row: (index) => {
        const row = rows[index];
        return row === undefined ? [] : [row.name, us(row.other), us(row.one), `${row.one < row.other ? "−" : "+"}${us(Math.abs(row.one - row.other))}`];
      },
    },
  }).element;
}

/** Lists the functions of the other run without a sample in this one: the graph of the difference has no boxes for them. */
function gone(one: Profiled, other: Profiled): HTMLElement | null {
  const known = new Set(one.flame.names);
  const list = functions(boxes(other.flame)).filter((sum) => !known.has(sum.name)).sort((a, b) => b.self - a.self);
  const [top] = list;
  if (top === undefined) return null;
  const own = list.reduce((sum, each) => sum + each.self, 0);
  const title = `Functions of ${other.name} without a sample in ${one.name}`;
  return h("div", { class: "gone" },
    h("p", {}, foreign(joined(`${counted(list.length, "function")} of ${other.name} ${list.length === 1 ? "has" : "have"} no sample in ${one.name}, so the difference has no box `
      + `for ${list.length === 1 ? "it" : "them"}. They took ${us(own)} of a request themselves, most of it ${top.name} with ${us(top.self)}.`))),
    fold(foreign(title), table(title, {
      columns: [text("function"), number("with what it calls"), number("itself")], count: list.length,
      row: (index) => { const sum = list[index]; return sum === undefined ? [] : [sum.name, us(sum.us), us(sum.self)]; },
    })));
}

type Profiled = Run & { flame: FlameDocument };
const isProfiled = (run: Run | undefined): run is Profiled => run !== undefined && run.flame !== null;

/** Both graphs side by side, and their difference below; nothing unless both runs have a profile. */
export function flames(name: string, one: Run | undefined, other: Run | undefined): HTMLElement[] {
  if (!isProfiled(one) || !isProfiled(other)) return [];
  const link = new FlameLink();
  const sides = [other, one].map((run) => ({ total: run.flame.total_us ?? 0, us: new Map(boxes(run.flame).map((box) => [box.path, box.us])) }));
  // A µs is equally wide in both graphs.
  const widthUs = (path: string | null): number => Math.max(...sides.map((side) => (path === null ? side.total : side.us.get(path) ?? 0))) || 1;
  return [h("div", { class: "flames", role: "group", "aria-label": "CPU time of both runs" },
    h("h3", { class: "part" }, "CPU time of a request"),
    h("p", { class: "note" }, "Both graphs have the same scale, unless only one has the box that was chosen: a wider box is more CPU time."),
    h("p", { class: "hint" }, "Choosing a box zooms all three graphs to it, where they have it under the same callers."),
    flameTools(link),
    h("div", { class: "pair" }, flame(`${name}-other`, `CPU time of ${other.name}`, other.flame, { link, widthUs }),
      flame(`${name}-one`, `CPU time of ${one.name}`, one.flame, { link, widthUs })),
    difference(`${name}-difference`, one, other, link), gone(one, other))];
}
