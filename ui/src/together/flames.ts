// Where CPU time went: the flame graph of one run, or of two with their difference.

import { figure } from "../charts/figure";
import { type FlameBox, flameChart } from "../charts/flame";
import type { Run } from "../document";
import { significant } from "../format";
import type { FlameDocument } from "../generated/page";
import { number, text } from "../table";

function boxes(flame: FlameDocument): (FlameBox & { half: number; path: string })[] {
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

/** CPU time by function: in it and in what it called, once for each stack, and in itself. */
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

export function flame(name: string, title: string, document: FlameDocument): HTMLElement {
  const list = boxes(document);
  const sums = functions(list);
  const top = [...sums].sort((a, b) => b.self - a.self)[0];
  const total = document.total_us ?? 0;
  return figure(flameChart, {
    name, title, boxes: list, totalUs: total,
    caption: `A request takes ${us(total)} of CPU time${top ? `; most of it in one function is ${us(top.self)} in ${top.name}` : ""}.`,
    table: {
      columns: [text("function"), number("with what it calls"), number("itself")], count: sums.length,
      row: (index) => { const sum = sums[index]; return sum === undefined ? [] : [sum.name, us(sum.us), us(sum.self)]; },
    },
  }).element;
}

/** The flame graph of a run, coloured by how it differs from that of another. */
function difference(name: string, one: Run, other: Run): HTMLElement | null {
  if (one.flame === null || other.flame === null) return null;
  const before = new Map(boxes(other.flame).map((box) => [box.path, box]));
  const list = boxes(one.flame).map((box) => {
    const old = before.get(box.path);
    const more = box.us - (old?.us ?? 0);
    return { ...box, more: Math.abs(more) > Math.hypot(box.half, old?.half ?? box.half) ? more : null };
  });
  const sums = new Map<string, { name: string; one: number; other: number }>();
  const entry = (of: string) => sums.get(of) ?? sums.set(of, { name: of, one: 0, other: 0 }).get(of) ?? { name: of, one: 0, other: 0 };
  for (const sum of functions(list)) entry(sum.name).one = sum.us;
  for (const sum of functions(boxes(other.flame))) entry(sum.name).other = sum.us;
  const rows = [...sums.values()].sort((a, b) => Math.abs(b.one - b.other) - Math.abs(a.one - a.other));
  const [totalOne, totalOther] = [one.flame.total_us ?? 0, other.flame.total_us ?? 0];
  const by = totalOne - totalOther;
  return figure(flameChart, {
    name, title: `${one.name} coloured by its difference from ${other.name}`, boxes: list, totalUs: totalOne,
    caption: `A request of ${one.name} takes ${us(Math.abs(by))} ${by < 0 ? "less" : "more"} CPU time. Boxes that grew are orange, those that shrank blue; `
      + "the others differ by no more than their samples leave open.",
    table: {
      columns: [text("function"), number(one.name), number(other.name), number("difference")], count: rows.length,
      row: (index) => {
        const row = rows[index];
        return row === undefined ? [] : [row.name, us(row.one), us(row.other), `${row.one < row.other ? "−" : "+"}${us(Math.abs(row.one - row.other))}`];
      },
    },
  }).element;
}

/** Both graphs and the difference; nothing unless both runs have a profile. */
export function flames(name: string, one: Run | undefined, other: Run | undefined): HTMLElement[] {
  if (!one?.flame || !other?.flame) return [];
  const compared = difference(`${name}-difference`, one, other);
  return [...(compared ? [compared] : []), flame(`${name}-one`, `CPU time of ${one.name}`, one.flame),
    flame(`${name}-other`, `CPU time of ${other.name}`, other.flame)];
}
