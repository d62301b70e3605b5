// A heat map of latency: cells of time and class, painted under the lines of a chart.

import type uPlot from "uplot";
import type { TimelineDocument } from "../generated/page";
import { colour } from "../theme";

/** Paints one cell for each class and window. A stronger colour means more of the requests of the window. */
export function heat(timeline: TimelineDocument): (plot: uPlot) => void {
  const { at_sec: at, latency, latency_bounds_ms: bounds } = timeline;
  const window = timeline.window_sec ?? 1;
  const fullest = latency.map((one) => one.counts.reduce((most, count) => Math.max(most, count), 0));
  return (plot) => {
    const { ctx, bbox } = plot;
    const { min = null, max = null } = plot.scales["x"] ?? {};
    if (min === null || max === null) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour("--heat");
    const edges = bounds.map((bound) => plot.valToPos(Math.max(bound, 1e-6), "y", true));
    at.forEach((begin, index) => {
      if (begin > max || begin + window < min) return;
      const cells = latency[index];
      const most = fullest[index] ?? 0;
      if (cells === undefined || most === 0) return;
      // Adjacent cells share an edge: an overlap would be darker.
      const left = Math.round(plot.valToPos(begin, "x", true));
      const right = Math.round(plot.valToPos(begin + window, "x", true));
      cells.counts.forEach((count, offset) => {
        const low = edges[cells.from + offset];
        const high = edges[cells.from + offset + 1];
        if (count === 0 || low === undefined || high === undefined) return;
        // The square root keeps rare, slow requests visible next to the many fast ones.
        ctx.globalAlpha = 0.12 + 0.88 * Math.sqrt(count / most);
        const top = Math.round(high);
        ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, Math.round(low) - top));
      });
    });
    ctx.restore();
  };
}
