// Marks over or under the lines of a chart: bands, thresholds, events, intervals.

import type uPlot from "uplot";
import { FONT, look } from "./axes";

/** A span on the x axis, such as a step. */
export interface Band { from: number; to: number; label: string; strong?: boolean }
/** A line across the chart. */
export interface Mark { at: number; label: string; accent?: boolean; dash?: boolean }
/** An interval of a value at one x. */
export interface Whisker { x: number; low: number; high: number; accent?: boolean }

const px = (): number => window.devicePixelRatio || 1;

function clipped(plot: uPlot, paint: (context: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.font = FONT.replace("12px", `${11 * px()}px`);
  paint(ctx);
  ctx.restore();
}

/** Steps, tinted alternately. */
export function bands(plot: uPlot, list: readonly Band[]): void {
  const { rule, accent } = look();
  clipped(plot, (context) => {
    const { bbox } = plot;
    list.forEach((band, index) => {
      const left = plot.valToPos(band.from, "x", true);
      const right = plot.valToPos(band.to, "x", true);
      context.globalAlpha = index % 2 === 0 ? 0.5 : 0.2;
      context.fillStyle = rule;
      context.fillRect(left, bbox.top, right - left, bbox.height);
      context.globalAlpha = 1;
      if (band.strong) {
        context.fillStyle = accent;
        context.fillRect(left, bbox.top, right - left, 2 * px());
      }
    });
  });
}

/** The labels of steps that have room for one, over lines and grid. */
export function bandLabels(plot: uPlot, list: readonly Band[]): void {
  const { soft, paper, accent } = look();
  clipped(plot, (context) => {
    const { bbox } = plot;
    context.lineWidth = 3 * px();
    context.lineJoin = "round";
    context.strokeStyle = paper;
    for (const band of list) {
      const left = plot.valToPos(band.from, "x", true);
      const right = plot.valToPos(band.to, "x", true);
      if (context.measureText(band.label).width >= right - left - 6 * px()) continue;
      context.fillStyle = band.strong ? accent : soft;
      context.strokeText(band.label, left + 4 * px(), bbox.top + 14 * px());
      context.fillText(band.label, left + 4 * px(), bbox.top + 14 * px());
    }
  });
}

/** Vertical lines with a label at the foot. */
export function verticals(plot: uPlot, list: readonly Mark[]): void {
  const { soft, accent } = look();
  clipped(plot, (context) => {
    const { bbox } = plot;
    for (const mark of list) {
      const x = plot.valToPos(mark.at, "x", true);
      context.strokeStyle = mark.accent ? accent : soft;
      context.fillStyle = context.strokeStyle;
      context.lineWidth = px();
      context.setLineDash([3 * px(), 3 * px()]);
      context.beginPath();
      context.moveTo(x, bbox.top);
      context.lineTo(x, bbox.top + bbox.height);
      context.stroke();
      const width = context.measureText(mark.label).width;
      const fitsRight = x + width + 6 * px() < bbox.left + bbox.width;
      context.fillText(mark.label, fitsRight ? x + 4 * px() : x - width - 4 * px(), bbox.top + bbox.height - 6 * px());
    }
  });
}

/** Horizontal lines, such as the limit of an SLO. */
export function horizontals(plot: uPlot, list: readonly Mark[]): void {
  const { ink, accent } = look();
  clipped(plot, (context) => {
    const { bbox } = plot;
    for (const mark of list) {
      const y = plot.valToPos(mark.at, "y", true);
      context.strokeStyle = mark.accent ? accent : ink;
      context.fillStyle = context.strokeStyle;
      context.lineWidth = px();
      context.setLineDash(mark.dash ? [6 * px(), 4 * px()] : []);
      context.beginPath();
      context.moveTo(bbox.left, y);
      context.lineTo(bbox.left + bbox.width, y);
      context.stroke();
      const above = y - 14 * px() > bbox.top;
      context.fillText(mark.label, bbox.left + 6 * px(), above ? y - 5 * px() : y + 14 * px());
    }
  });
}

export function whiskers(plot: uPlot, list: readonly Whisker[], colour: string): void {
  const { accent } = look();
  clipped(plot, (context) => {
    context.lineWidth = 1.5 * px();
    for (const one of list) {
      const x = plot.valToPos(one.x, "x", true);
      const low = plot.valToPos(one.low, "y", true);
      const high = plot.valToPos(one.high, "y", true);
      const cap = 4 * px();
      context.strokeStyle = one.accent ? accent : colour;
      context.beginPath();
      for (const y of [low, high]) {
        context.moveTo(x - cap, y);
        context.lineTo(x + cap, y);
      }
      context.moveTo(x, low);
      context.lineTo(x, high);
      context.stroke();
    }
  });
}

/** A ring around one point: the best step. */
export function ring(plot: uPlot, x: number, y: number): void {
  const { accent } = look();
  clipped(plot, (context) => {
    context.strokeStyle = accent;
    context.lineWidth = 2.5 * px();
    context.beginPath();
    context.arc(plot.valToPos(x, "x", true), plot.valToPos(y, "y", true), 8 * px(), 0, 2 * Math.PI);
    context.stroke();
  });
}
