// The run over time: the toolbar and all charts that share the axis of time.

import type { FigureHandle } from "../charts/figure";
import type { LineModel } from "../charts/line";
import type { Run } from "../document";
import { foreign, h, section } from "../dom";
import { instant, NOT_KNOWN } from "../format";
import type { TimeLink } from "../link";
import { curveCharts } from "./curves";
import { loadCharts } from "./load";
import { resourceCharts } from "./resources";
import { wholeRange } from "./spans";

export interface TimeView {
  element: HTMLElement;
  /** Shows a later state of the same run. Returns false if it has other charts, so that the section must be rebuilt. */
  update(run: Run): boolean;
  /** Stops listening to the time range. */
  close(): void;
}

export function time(run: Run, link: TimeLink): TimeView {
  const load = loadCharts(run, link);
  const hosts = resourceCharts(run, link);
  const curves = curveCharts(run, link);
  const all = [load, curves, hosts];
  const bar = all.every((part) => part.handles.length === 0) ? null : toolbar(link);
  const element = section("time", "Over time",
    bar === null ? h("p", {}, "Nothing was recorded over time.") : bar.element,
    ...load.handles.map((one) => one.element),
    ...part("stalls", "GC, stalls and waits", curves.handles),
    ...part("resources", "Resources of hosts", hosts.handles),
    eventList(run));
  return {
    element,
    update(next) {
      link.extend(wholeRange(next));
      const updates = all.map((part) => [part.handles, part.models(next)] as const);
      if (updates.some(([handles, models]) => !alike(handles, models))) return false;
      for (const [handles, models] of updates) handles.forEach((handle, index) => { const model = models[index]; if (model) handle.update(model); });
      return true;
    },
    close: () => bar?.close(),
  };
}

/** A heading and its charts; the less important charts stand in a grid. */
function part(id: string, title: string, handles: readonly FigureHandle<LineModel>[]): HTMLElement[] {
  if (handles.length === 0) return [];
  const elements = (narrow: boolean): HTMLElement[] => handles.filter((one) => isNarrow(one) === narrow).map((one) => one.element);
  return [h("h3", { id, class: "part" }, title), ...elements(false), h("div", { class: "grid" }, ...elements(true))];
}

/** Whether a chart takes half the width: resources without a known capacity, and all curves but those of stalls. */
function isNarrow(handle: FigureHandle<LineModel>): boolean {
  return !/^(resources|stalls)-/.test(handle.element.dataset["chart"] ?? "");
}

function alike(handles: readonly FigureHandle<LineModel>[], models: readonly LineModel[]): boolean {
  return handles.length === models.length
    && handles.every((handle, index) => handle.element.dataset["chart"] === models[index]?.name);
}

function toolbar(link: TimeLink): { element: HTMLElement; close: () => void } {
  const shown = h("span", { class: "range", role: "status" });
  const button = (label: string, sign: string, act: () => void): HTMLButtonElement =>
    h("button", { type: "button", "aria-label": label, title: label, click: act }, sign);
  const reset = h("button", { type: "button", click: () => link.reset() }, "Reset zoom");
  const describe = (): void => {
    shown.textContent = `${instant(link.current.min)} to ${instant(link.current.max)}`;
    reset.disabled = !link.zoomed;
  };
  const close = link.subscribe(describe);
  describe();
  const element = h("div", { class: "toolbar", role: "group", "aria-label": "Range of time of all charts below" },
    button("Zoom in", "+", () => link.zoom(0.5)), button("Zoom out", "−", () => link.zoom(2)),
    button("Earlier", "←", () => link.pan(-0.25)), button("Later", "→", () => link.pan(0.25)),
    reset, shown, h("span", { class: "hint" }, "Drag over a chart to zoom, double-click to reset. Keys on a chart: ← → read values, + − zoom, Shift ← → move, 0 resets."));
  return { element, close };
}

function eventList(run: Run): HTMLElement | null {
  const { events } = run.document;
  if (events.length === 0) return null;
  return h("div", { id: "events" }, h("h3", { class: "part" }, "Events"), h("ol", { class: "events" }, ...events.map((event) =>
    h("li", {}, h("span", { class: "figure" }, event.at_sec === null ? NOT_KNOWN : instant(event.at_sec)), " ", foreign(event.text)))));
}
