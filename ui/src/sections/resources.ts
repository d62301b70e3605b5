// The resources of each host over time, as parts of their capacity where that is known.

import { figure, type FigureHandle } from "../charts/figure";
import { lineChart, type LineModel } from "../charts/line";
import { limits, type Run } from "../document";
import { type Format, inUnit, instant, share } from "../format";
import type { ResourceOverTimeDocument } from "../generated/page";
import type { TimeLink } from "../link";
import { number } from "../table";
import { resource } from "../words";
import { bandsOf, eventsOf } from "./spans";

const COLOURS = ["--blue", "--teal", "--purple", "--gold", "--sky", "--soft"];
/** More lines than that cannot be told apart; the table has all. */
const LINES = 6;

const mean = (values: readonly (number | null)[]): number => {
  const known = values.filter((value): value is number => value !== null);
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
};

function peakShare(one: ResourceOverTimeDocument): number | null {
  if (one.capacity === null || one.capacity <= 0) return null;
  return one.used.reduce<number | null>((max, value) => (value === null ? max : Math.max(max ?? 0, value / (one.capacity ?? 1))), null);
}

function shares(run: Run, link: TimeLink, host: string, list: readonly ResourceOverTimeDocument[], index: number): LineModel | null {
  const known = list.filter((one) => peakShare(one) !== null);
  if (known.length === 0) return null;
  const ordered = [...known].sort((a, b) =>
    Number(limits(run, host, b)) - Number(limits(run, host, a)) || mean(b.used) / (b.capacity ?? 1) - mean(a.used) / (a.capacity ?? 1));
  const shown = ordered.filter((one) => limits(run, host, one) || (peakShare(one) ?? 0) >= 0.01).slice(0, LINES);
  const drawn = shown.length === 0 ? ordered.slice(0, 1) : shown;
  const values = (one: ResourceOverTimeDocument) => one.used.map((used) => (used === null ? null : used / (one.capacity ?? 1)));
  const top = [...known].sort((a, b) => (peakShare(b) ?? 0) - (peakShare(a) ?? 0))[0];
  const limit = drawn.find((one) => limits(run, host, one));
  const named = limit ?? top;
  let next = 0;
  return frame(run, link, {
    name: `resources-${index}`, title: host, list: ordered,
    caption: named === undefined ? "" : `${limit ? "The limit, " : ""}${resource(named)}${limit ? "," : ""} uses at most ${share(peakShare(named))} of its capacity.`,
    format: share,
    // Room for the labels of the steps above a full resource.
    yRange: [0, Math.max(1.2, ...drawn.map((one) => (peakShare(one) ?? 0) * 1.05))],
    series: drawn.map((one) => ({
      label: resource(one), values: values(one), span: true, width: one === limit ? 2.5 : 1.5,
      colour: one === limit ? "--accent" : COLOURS[next++ % COLOURS.length] ?? "--soft",
    })),
  });
}

/** What has no capacity, such as a link of unknown speed: one chart for each unit. */
function amounts(run: Run, link: TimeLink, host: string, list: readonly ResourceOverTimeDocument[], index: number): LineModel[] {
  const unknown = list.filter((one) => peakShare(one) === null);
  const units = [...new Set(unknown.map((one) => one.unit))];
  return units.map((unit, at) => {
    const ordered = unknown.filter((one) => one.unit === unit).sort((a, b) => mean(b.used) - mean(a.used));
    const format = inUnit(unit);
    const max = ordered[0]?.used.reduce<number>((high, value) => Math.max(high, value ?? 0), 0) ?? 0;
    return frame(run, link, {
      name: `amounts-${index}-${at}`, title: `${host}: ${unit.replace("_per_sec", "/s").replaceAll("_", " ")}`, list: ordered, format,
      caption: `${ordered[0] ? resource(ordered[0]) : ""} reaches ${format(max)}; its capacity is not known.`,
      series: ordered.slice(0, LINES).map((one, place) => ({
        label: resource(one), values: one.used, span: true, colour: COLOURS[place % COLOURS.length] ?? "--soft",
      })),
    });
  });
}

function frame(run: Run, link: TimeLink, parts: {
  name: string; title: string; caption: string; format: Format; yRange?: [number, number];
  list: readonly ResourceOverTimeDocument[]; series: LineModel["series"];
}): LineModel {
  const { hosts_at_sec: at, host_window_sec: window } = run.timeline;
  const { list, ...rest } = parts;
  return {
    ...rest, link, x: at.map((begin) => begin + (window ?? 0) / 2), xFormat: instant, xLabel: "time", height: 170,
    bands: bandsOf(run), verticals: eventsOf(run),
    table: {
      columns: ["time", ...list.map(resource)].map(number),
      count: at.length,
      row: (index) => [instant(at[index]), ...list.map((one) => {
        const used = one.used[index] ?? null;
        const amount = inUnit(one.unit)(used);
        return used !== null && one.capacity && one.unit !== "ratio" ? `${amount} (${share(used / one.capacity)})` : amount;
      })],
    },
  };
}

function models(run: Run, link: TimeLink): LineModel[] {
  const { resources } = run.timeline;
  const hosts = [...new Set(resources.map((one) => one.host))];
  const place = run.document.verdict.place.host;
  // The host that limits comes first, the generator last.
  const order = (host: string): number => (host === place ? 0 : host === "generator" ? 2 : 1);
  hosts.sort((a, b) => order(a) - order(b));
  const of = (host: string): ResourceOverTimeDocument[] => resources.filter((one) => one.host === host);
  return [
    ...hosts.flatMap((host, index) => shares(run, link, host, of(host), index) ?? []),
    ...hosts.flatMap((host, index) => amounts(run, link, host, of(host), index)),
  ];
}

export function resourceCharts(run: Run, link: TimeLink): { handles: FigureHandle<LineModel>[]; models: (run: Run) => LineModel[] } {
  const of = (one: Run): LineModel[] => (one.timeline.hosts_at_sec.length === 0 ? [] : models(one, link));
  return { handles: of(run).map((one) => figure(lineChart, one)), models: of };
}
