// The resources of each host over time, as shares of their capacity if it is known.

import { figure, type FigureHandle } from "../charts/figure";
import { lineChart, type LineModel } from "../charts/line";
import { limits, type Run } from "../document";
import { capital, inUnit, share } from "../format";
import type { ResourceOverTimeDocument } from "../generated/page";
import type { TimeLink } from "../link";
import { resource } from "../words";
import { COLOURS, type Column, hostLine, hostsOf, LINES, mean, peak } from "./hostline";
import { inEvidence } from "./series";

type Resource = ResourceOverTimeDocument;

function peakShare(one: Resource): number | null {
  if (one.capacity === null || one.capacity <= 0) return null;
  const most = peak(one.used);
  return most === null ? null : most.value / one.capacity;
}

const ofHost = (run: Run, host: string): Resource[] => run.timeline.resources.filter((one) => one.host === host);

/** Returns the units of resources without a known capacity, such as a link of unknown speed. Each unit has one chart. */
const unitsOf = (list: readonly Resource[]): string[] =>
  [...new Set(list.filter((one) => peakShare(one) === null).map((one) => one.unit))];

/** Returns the name of the chart that has a resource. */
export function chartOfResource(run: Run, one: Resource): string {
  const index = hostsOf(run).indexOf(one.host);
  return peakShare(one) === null ? `amounts-${index}-${unitsOf(ofHost(run, one.host)).indexOf(one.unit)}` : `resources-${index}`;
}

function shares(run: Run, link: TimeLink, host: string, list: readonly Resource[], index: number): LineModel | null {
  const known = list.filter((one) => peakShare(one) !== null);
  if (known.length === 0) return null;
  const evidence = inEvidence(run);
  const rank = (one: Resource): number => (limits(run, host, one) ? 2 : Number(evidence.has(one)));
  const ordered = [...known].sort((a, b) =>
    rank(b) - rank(a) || mean(b.used) / (b.capacity ?? 1) - mean(a.used) / (a.capacity ?? 1));
  const shown = ordered.filter((one) => rank(one) > 0 || (peakShare(one) ?? 0) >= 0.01).slice(0, LINES);
  const drawn = shown.length === 0 ? ordered.slice(0, 1) : shown;
  const values = (one: Resource) => one.used.map((used) => (used === null ? null : used / (one.capacity ?? 1)));
  const top = [...known].sort((a, b) => (peakShare(b) ?? 0) - (peakShare(a) ?? 0))[0];
  const limit = drawn.find((one) => limits(run, host, one));
  const named = limit ?? top;
  let next = 0;
  return hostLine(run, link, columns(ordered), {
    name: `resources-${index}`, title: host,
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

/** Charts of the resources without a known capacity, one for each unit. */
function amounts(run: Run, link: TimeLink, host: string, list: readonly Resource[], index: number): LineModel[] {
  return unitsOf(list).map((unit, at) => {
    const ordered = list.filter((one) => peakShare(one) === null && one.unit === unit).sort((a, b) => mean(b.used) - mean(a.used));
    const format = inUnit(unit);
    const [first] = ordered;
    return hostLine(run, link, columns(ordered), {
      name: `amounts-${index}-${at}`, title: `${host}: ${unit.replace("_per_sec", "/s").replaceAll("_", " ")}`, format,
      caption: first === undefined ? "" : `${capital(resource(first))} reaches ${format(peak(first.used)?.value ?? 0)}; its capacity is not known.`,
      series: ordered.slice(0, LINES).map((one, place) => ({
        label: resource(one), values: one.used, span: true, colour: COLOURS[place % COLOURS.length] ?? "--soft",
      })),
    });
  });
}

function columns(list: readonly Resource[]): Column[] {
  return list.map((one) => ({
    label: resource(one),
    cell: (index) => {
      const used = one.used[index] ?? null;
      const amount = inUnit(one.unit)(used);
      return used !== null && one.capacity && one.unit !== "ratio" ? `${amount} (${share(used / one.capacity)})` : amount;
    },
  }));
}

function models(run: Run, link: TimeLink): LineModel[] {
  const hosts = hostsOf(run);
  return [
    ...hosts.flatMap((host, index) => shares(run, link, host, ofHost(run, host), index) ?? []),
    ...hosts.flatMap((host, index) => amounts(run, link, host, ofHost(run, host), index)),
  ];
}

export function resourceCharts(run: Run, link: TimeLink): { handles: FigureHandle<LineModel>[]; models: (run: Run) => LineModel[] } {
  const of = (one: Run): LineModel[] => (one.timeline.hosts_at_sec.length === 0 ? [] : models(one, link));
  return { handles: of(run).map((one) => figure(lineChart, one)), models: of };
}
