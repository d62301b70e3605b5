// The tiers as boxes, starting from the generator, each with the use of one resource as a bar.

import { svg, visible } from "../dom";
import { share } from "../format";
import { type FigureModel, remade } from "./figure";

export interface TierNode {
  title: string;
  subtitle: string;
  /** Distance from the generator, which is 0. */
  depth: number;
  /** Its use of the limiting resource or of the CPU, as a part of the capacity. */
  use: { name: string; filled: number | null } | null;
  limit: boolean;
  /** The limit of this tier, if it is not the resource of the bar. */
  of?: string;
}

export interface TierEdge { from: number; to: number; connections: number | null }

export interface TopologyModel extends FigureModel {
  nodes: readonly TierNode[];
  edges: readonly TierEdge[];
}

interface Box { x: number; y: number; width: number; height: number }

const HEIGHT = 92;
const GAP = 64;
const ROW = 18;
/** The width of a character of the tag, in px. */
const TAG_CHARACTER = 8;

/** Places the boxes in columns by depth if there is room, else in rows. */
function layout(nodes: readonly TierNode[], width: number): { boxes: Box[]; height: number; across: boolean } {
  const columns = Math.max(...nodes.map((node) => node.depth)) + 1;
  const box = Math.min(230, (width - GAP * (columns - 1)) / columns);
  const across = box >= 150;
  const inRank = new Map<number, number>();
  const ranks = nodes.map((node) => {
    const rank = inRank.get(node.depth) ?? 0;
    inRank.set(node.depth, rank + 1);
    return rank;
  });
  if (across) {
    const boxes = nodes.map((node, index) => ({
      x: node.depth * (box + GAP), y: (ranks[index] ?? 0) * (HEIGHT + ROW), width: box, height: HEIGHT,
    }));
    return { boxes, height: Math.max(...boxes.map((one) => one.y + HEIGHT)), across };
  }
  let y = 0;
  let depth = 0;
  const boxes = nodes.map((node) => {
    if (y > 0) y += node.depth === depth ? ROW : GAP * 0.6;
    depth = node.depth;
    const one = { x: 0, y, width: Math.min(width, 360), height: HEIGHT };
    y += HEIGHT;
    return one;
  });
  return { boxes, height: y, across };
}

/** Cuts text to the width of a box. The tooltip of the box has the whole text. */
function cut(text: string, width: number, size: number): string {
  const shown = visible(text);
  const most = Math.floor(width / (size * 0.56));
  return shown.length <= most ? shown : `${shown.slice(0, Math.max(1, most - 1))}…`;
}

/** The mark of a limit, with its name if that leaves room for the title of the box. */
function tagOf(model: TierNode, width: number): string {
  if (!model.limit) return "";
  const named = `limit: ${model.of ?? ""}`;
  return model.of !== undefined && named.length * TAG_CHARACTER <= 0.65 * width ? named : "limit";
}

function node(model: TierNode, box: Box): SVGElement {
  const inner = box.width - 24;
  const tag = tagOf(model, inner);
  const tagWidth = tag === "" ? 0 : 10 + tag.length * TAG_CHARACTER;
  const group = svg("g", { transform: `translate(${box.x} ${box.y})`, class: model.limit ? "node limit" : "node" },
    svg("title", {}, `${model.title}, ${model.subtitle}`),
    svg("rect", { width: box.width, height: box.height, rx: 6, class: "box" }),
    svg("text", { x: 12, y: 24, class: "name", direction: "ltr" }, cut(model.title, inner - tagWidth, 14)),
    svg("text", { x: 12, y: 42, class: "small", direction: "ltr" }, cut(model.subtitle, inner, 12)));
  if (model.use !== null) {
    const value = share(model.use.filled);
    const part = Math.min(1, Math.max(0, model.use.filled ?? 0));
    group.append(
      svg("rect", { x: 12, y: 74, width: inner, height: 6, class: "track" }),
      svg("rect", { x: 12, y: 74, width: inner * part, height: 6, class: "fill" }),
      svg("text", { x: 12, y: 66, class: "small" }, cut(model.use.name, inner - 60, 12)),
      svg("text", { x: 12 + inner, y: 66, class: "small", "text-anchor": "end" }, value));
  }
  if (tag !== "") group.append(svg("text", { x: box.width - 12, y: 24, class: "tag", "text-anchor": "end" }, tag));
  return group;
}

function edge(model: TierEdge, from: Box, to: Box, across: boolean): SVGElement {
  const x1 = across ? from.x + from.width : from.x + 28;
  const y1 = across ? from.y + from.height / 2 : from.y + from.height;
  const x2 = across ? to.x : to.x + 28;
  const y2 = across ? to.y + to.height / 2 : to.y;
  const path = across
    ? `M${x1} ${y1} C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2 - 7} ${y2}`
    : `M${x1} ${y1} L${x2} ${y2 - 7}`;
  const head = across
    ? `M${x2} ${y2} l-8 -4 v8 z`
    : `M${x2} ${y2} l-4 -8 h8 z`;
  const group = svg("g", { class: "edge" }, svg("path", { d: path }), svg("path", { d: head, class: "head" }));
  if (model.connections !== null) {
    const label = across ? `${model.connections}` : `${model.connections} connections`;
    group.append(across
      ? svg("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 7, class: "small", "text-anchor": "middle" }, label)
      : svg("text", { x: x1 + 12, y: (y1 + y2) / 2 + 4, class: "small" }, label));
  }
  return group;
}

export const topologyChart = remade<TopologyModel>((model, width) => {
  const { boxes, height, across } = layout(model.nodes, width);
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height + 2}`, width, height: height + 2, class: "plain topology", "aria-hidden": "true",
  });
  for (const one of model.edges) {
    const from = boxes[one.from];
    const to = boxes[one.to];
    // In rows, a line joins only neighbours: any other would cross the boxes between.
    if (from && to && (across || one.to === one.from + 1)) root.append(edge(one, from, to, across));
  }
  model.nodes.forEach((one, index) => { const box = boxes[index]; if (box) root.append(node(one, box)); });
  return root;
});
