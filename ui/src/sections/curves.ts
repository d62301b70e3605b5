// Garbage collection, stalls, waits and the CPU of processes over time, on the axis of the load.

import { figure, type FigureHandle } from "../charts/figure";
import { lineChart, type LineModel } from "../charts/line";
import { isOf, type Run } from "../document";
import { capital, type Format, inUnit, instant, share } from "../format";
import type { CurveDocument } from "../generated/page";
import type { TimeLink } from "../link";
import { curve as named } from "../words";
import { COLOURS, hostLine, hostsOf, LINES, mean, middle, peak } from "./hostline";
import { inEvidence } from "./series";

interface Group { id: string; title: string; kinds: readonly string[] }

/** Each group has one chart per host. Charts of the first group take the full width of the page, the others half of it. */
const GROUPS: readonly Group[] = [
  { id: "stalls", title: "stalls and waits", kinds: ["gc_pauses", "gc_threads", "stalled", "starved", "cpu_pressure",
    "io_pressure", "memory_pressure", "throttled", "stolen", "cpu_wait", "packet_time"] },
  { id: "heap", title: "heap in use", kinds: ["heap"] },
  { id: "processes", title: "CPU by process", kinds: ["process_cpu"] },
  { id: "waits", title: "waiting threads", kinds: ["lock_waits", "disk_waits"] },
  { id: "refusals", title: "connections refused", kinds: ["queue_overflows", "turned_away"] },
  { id: "pages", title: "pages fetched", kinds: ["pages_fetched"] },
];

/** The kinds of curve that show the effect of each limit. */
const OF_LIMIT: Record<string, readonly string[]> = {
  memory: ["gc_pauses", "gc_threads", "heap", "memory_pressure", "pages_fetched"],
  lock: ["lock_waits"], quota: ["throttled"], disk: ["disk_waits", "io_pressure"], connections: ["queue_overflows", "turned_away"],
};

/** Whether a curve shows the limit of the verdict: a curve of the whole host, or of the process that the verdict names. */
function limits(run: Run, curve: CurveDocument): boolean {
  const { limit, place } = run.document.verdict;
  if (place.host !== curve.host || !(OF_LIMIT[limit] ?? []).includes(curve.kind)) return false;
  return curve.of === "" || (place.kind !== "host" && isOf(run, curve.host, curve.of, place.name));
}

/** Returns the name of the chart that has a curve. */
export function chartOfCurve(run: Run, curve: CurveDocument): string {
  const group = GROUPS.find((one) => one.kinds.includes(curve.kind));
  return `${group?.id ?? ""}-${hostsOf(run).indexOf(curve.host)}`;
}

/** The title names garbage collection only where there is some. */
const titleOf = (group: Group, list: readonly CurveDocument[]): string =>
  (group.id === "stalls" && list.some((one) => one.kind.startsWith("gc_")) ? `GC, ${group.title}` : group.title);

function chart(run: Run, link: TimeLink, group: Group, host: string, index: number): LineModel | null {
  const list = run.timeline.curves.filter((one) => one.host === host && group.kinds.includes(one.kind));
  const [first] = list;
  if (first === undefined) return null;
  const format: Format = inUnit(first.unit);
  const evidence = inEvidence(run);
  const rank = (one: CurveDocument): number => (limits(run, one) ? 2 : Number(evidence.has(one)));
  const ordered = [...list].sort((a, b) => rank(b) - rank(a) || mean(b.values) - mean(a.values));
  const most = (one: CurveDocument): number => peak(one.values)?.value ?? 0;
  const shown = ordered.filter((one) => rank(one) > 0 || first.unit !== "ratio" || most(one) >= 0.005).slice(0, LINES);
  const drawn = shown.length === 0 ? ordered.slice(0, 1) : shown;
  let next = 0;
  return hostLine(run, link, ordered.map((one) => ({ label: named(one), cell: (at) => format(one.values[at]) })), {
    name: `${group.id}-${index}`, title: `${host}: ${titleOf(group, list)}`, format, caption: highest(run, drawn, format),
    ...(first.unit === "ratio" ? { yRange: [0, Math.max(0.012, 1.2 * Math.max(...drawn.map(most)))] as [number, number] } : {}),
    series: drawn.map((one) => ({
      label: named(one), values: one.values, span: true, width: limits(run, one) ? 2.5 : 1.5,
      colour: limits(run, one) ? "--accent" : COLOURS[next++ % COLOURS.length] ?? "--soft",
    })),
  });
}

/** Says how high the limiting curve got, else the highest curve, and when. */
function highest(run: Run, drawn: readonly CurveDocument[], format: Format): string {
  const top = drawn.find((one) => limits(run, one))
    ?? [...drawn].sort((a, b) => (peak(b.values)?.value ?? 0) - (peak(a.values)?.value ?? 0))[0];
  const most = top && peak(top.values);
  if (!top || !most) return "";
  const name = named(top);
  const amount = top.unit === "ratio" ? share(most.value) : format(most.value);
  return `${capital(name)}: at most ${amount}, at ${instant(middle(run, most.index))}.`;
}

function models(run: Run, link: TimeLink): LineModel[] {
  const hosts = hostsOf(run);
  return GROUPS.flatMap((group) => hosts.flatMap((host, index) => chart(run, link, group, host, index) ?? []));
}

export function curveCharts(run: Run, link: TimeLink): { handles: FigureHandle<LineModel>[]; models: (run: Run) => LineModel[] } {
  const of = (one: Run): LineModel[] => (one.timeline.hosts_at_sec.length === 0 ? [] : models(one, link));
  return { handles: of(run).map((one) => figure(lineChart, one)), models: of };
}
