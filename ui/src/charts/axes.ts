// Axes and scales that charts share.

import uPlot from "uplot";
import type { Format } from "../format";
import { colour } from "../theme";

export const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface Look { ink: string; soft: string; rule: string; accent: string; paper: string }

export function look(): Look {
  return {
    ink: colour("--ink"), soft: colour("--soft"), rule: colour("--rule"),
    accent: colour("--accent"), paper: colour("--paper"),
  };
}

export function axis(scale: string, format: Format, colours: Look, more: Partial<uPlot.Axis> = {}): uPlot.Axis {
  return {
    scale,
    stroke: colours.soft,
    font: FONT,
    grid: { stroke: colours.rule, width: 1 },
    ticks: { show: false },
    values: (_plot, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick))),
    ...more,
  };
}

/** The width of a vertical axis that fits its longest label. */
export function fitting(labels: readonly string[]): number {
  return 16 + 6.6 * Math.max(4, ...labels.map((label) => label.length));
}

/** Whole decades, or parts of them (1, 2, 5) where the range is short. */
export function logTicks(min: number, max: number): number[] {
  const decades = Math.log10(max / min);
  const parts = decades > 3.2 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1) {
    for (const part of parts) {
      const tick = Number((part * 10 ** power).toPrecision(3));
      if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** A range for a log axis around positive values. */
export function logRange(values: readonly (number | null)[]): [number, number] {
  const positive = values.filter((value): value is number => value !== null && value > 0);
  if (positive.length === 0) return [0.1, 10];
  const min = positive.reduce((a, b) => Math.min(a, b));
  const max = positive.reduce((a, b) => Math.max(a, b));
  return [min / 1.4, max * 1.4];
}

/** A range from zero with room above the highest value. */
export function zeroRange(values: readonly (number | null)[]): [number, number] {
  const max = values.reduce<number>((a, b) => Math.max(a, b ?? 0), 0);
  return [0, max > 0 ? max * 1.08 : 1];
}
