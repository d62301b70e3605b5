// The limit: the tiers that sockets showed, and the use of each resource of each host.

import { type Bar, barsChart } from "../charts/bars";
import { figure } from "../charts/figure";
import { type TierEdge, type TierNode, topologyChart } from "../charts/topology";
import { busiestPosition, filled, limits, type Run, usesAt } from "../document";
import { fold, foreign, h, section } from "../dom";
import { counted, grouped, inUnit, NOT_KNOWN, share } from "../format";
import type { HostDocument, TierDocument, UsageDocument } from "../generated/page";
import { number, table, text } from "../table";
import { certainty, limitAt, limitName, resource } from "../words";

const BARS = 8;

export function limit(run: Run): HTMLElement {
  const { hosts, verdict } = run.document;
  return section("limit", "The limit",
    figure(topologyChart, topology(run)).element,
    hosts.length === 0
      ? h("p", {}, "No host was sampled, so the use of resources is not known. --probe samples the hosts behind the target.")
      : figure(barsChart, hostBars(run)).element,
    verdict.also.length === 0 ? null : h("p", {}, "The evidence does not exclude: ",
      foreign(verdict.also.map((one) => limitAt(one.limit, one.where)).join("; ")), "."),
    ...components(run));
}

function hostOf(run: Run, name: string): HostDocument | undefined {
  return run.document.hosts.find((host) => host.name === name);
}

/**
 * Returns the bar of a tier: its use of the limiting resource; else the CPU of its processes, or the CPU of its host. `of` names a limit
 * that the bar does not show.
 */
function boxUse(run: Run, tier: TierDocument): Pick<TierNode, "use" | "of"> {
  const of = tier.is_limit ? { of: limitName(run.document.verdict.limit) } : {};
  const host = hostOf(run, tier.host);
  if (host === undefined) return { use: null, ...of };
  const uses = usesAt(host.usage, busiestPosition(run));
  const shared = run.document.tiers.filter((one) => one.host === tier.host).length > 1;
  const limit = uses.find((use) => tier.is_limit && limits(run, host.name, use) && !(shared && use.of === ""));
  const cpu = uses.find((use) => use.resource === "cpu");
  const part = tier.cores === null || !cpu?.capacity ? null : tier.cores / cpu.capacity;
  if (limit !== undefined) return { use: { name: resource(limit), filled: filled(limit) } };
  // Other processes use the CPU of the host, too.
  if (shared || part !== null) return { use: { name: "its part of the CPU", filled: part }, ...of };
  const use = cpu ?? uses[0];
  return { use: use === undefined ? null : { name: resource(use), filled: filled(use) }, ...of };
}

function topology(run: Run) {
  const { generator, machine, preflight, tiers, verdict } = run.document;
  const { place } = verdict;
  const nodes: TierNode[] = [{
    title: "generator", subtitle: `${machine.hostname}, ${counted(generator.workers, "worker")}`, depth: 0,
    use: { name: "busiest worker", filled: generator.busiest_worker_ratio }, limit: place.kind === "generator",
  }];
  const edges: TierEdge[] = [];
  for (const tier of tiers) {
    const port = tier.port === null ? tier.unix_socket ?? "" : `:${tier.port}`;
    nodes.push({
      title: tier.process ?? tier.host, subtitle: `${tier.host}${port}`, depth: Math.max(1, tier.depth),
      limit: tier.is_limit, ...boxUse(run, tier),
    });
  }
  tiers.forEach((tier, index) => {
    if (tier.depth <= 1) edges.push({ from: 0, to: index + 1, connections: null });
    for (const edge of tier.downstream) edges.push({ from: index + 1, to: edge.to + 1, connections: edge.connections });
  });
  if (tiers.length === 0) {
    const isTarget = !["generator", "none"].includes(place.kind) && verdict.limit !== "unknown";
    nodes.push({ title: "target", subtitle: preflight.address || run.target, depth: 1, use: null, limit: isTarget });
    edges.push({ from: 0, to: 1, connections: null });
  }
  const what = tiers.length === 0
    ? "The sockets of the target were not sampled: what is behind it is not known."
    : `Requests pass ${counted(tiers.length, "process").replace("processs", "processes")}, as the sockets of the hosts show.`;
  const where = verdict.limit === "unknown" ? " What limits is not known."
    : ` The limit is ${limitAt(verdict.limit, verdict.where)} (${certainty(verdict).split(":")[0]}).`;
  const joined = (index: number): string => edges.filter((edge) => edge.from === index)
    .map((edge) => `${nodes[edge.to]?.title ?? ""}${edge.connections === null ? "" : ` (${counted(edge.connections, "connection")})`}`)
    .join(", ");
  return {
    name: "topology", title: "The path of a request", caption: `${what}${where}`, nodes, edges,
    table: {
      columns: [text("process"), text("where"), text("connected to"), text("resource"), number("used"), text("limit")],
      count: nodes.length,
      row: (index: number) => {
        const node = nodes[index];
        return node === undefined ? [] : [node.title, node.subtitle, joined(index), node.use?.name ?? "",
          node.use === null ? NOT_KNOWN : share(node.use.filled), node.limit ? "limit" : ""];
      },
      marked: (index: number) => nodes[index]?.limit ?? false,
    },
  };
}

/** Returns the uses that the verdict names. Of the threads of a process, these are only those about as busy as its busiest. */
function limitsOf(run: Run, host: string, uses: readonly UsageDocument[]): Set<UsageDocument> {
  const named = uses.filter((use) => limits(run, host, use));
  const most = Math.max(0, ...named.map((use) => filled(use) ?? 0));
  return new Set(named.filter((use) => use.resource !== "thread" || (filled(use) ?? 0) >= 0.9 * most));
}

function hostBars(run: Run) {
  const position = busiestPosition(run);
  const rows: { host: string; use: UsageDocument; limit: boolean }[] = [];
  const groups = run.document.hosts.map((host) => {
    const uses = usesAt(host.usage, position);
    const limiting = limitsOf(run, host.name, uses);
    for (const use of uses) rows.push({ host: host.name, use, limit: limiting.has(use) });
    // Other uses stand only in the table if their capacity is not known or they are below 0.5 %.
    const shown = uses.filter((use) => limiting.has(use) || use.resource === "cpu" || (filled(use) ?? 0) >= 0.005).slice(0, BARS);
    const bars: Bar[] = shown.map((use) => {
      const format = inUnit(use.unit);
      const amount = use.capacity === null ? `${format(use.used)}, capacity not known`
        : use.unit === "ratio" ? share(filled(use)) : `${share(filled(use))} of ${format(use.capacity)}`;
      const isLimit = limiting.has(use);
      return { label: resource(use), part: filled(use), value: amount, accent: isLimit, ...(isLimit ? { tag: "limit" } : {}) };
    });
    if (bars.length === 0) bars.push({ label: "resources", part: null, value: NOT_KNOWN });
    return { title: host.name, ...(host.tier && host.tier !== host.name ? { note: host.tier } : {}), bars };
  });
  const connections = position === null ? null : run.document.steps[position];
  const load = connections?.rate_per_sec === null ? ` at ${counted(connections.connections, "connection")}` : "";
  const marked = rows.find((row) => row.limit);
  const top = marked ?? [...rows].sort((a, b) => (filled(b.use) ?? -1) - (filled(a.use) ?? -1))[0];
  const caption = top === undefined ? "No use of a resource was sampled."
    : `${marked ? "The limit" : "The busiest resource"}${load}: ${resource(top.use)} of ${top.host}, ${share(filled(top.use))} of its capacity used.`;
  return {
    name: "hosts", title: "Use of resources by host", caption, groups,
    table: {
      columns: [text("host"), text("resource"), number("used"), number("capacity"), number("share")],
      count: rows.length,
      row: (index: number) => {
        const row = rows[index];
        if (row === undefined) return [];
        const format = inUnit(row.use.unit);
        return [row.host, resource(row.use), format(row.use.used), format(row.use.capacity), share(filled(row.use))];
      },
      marked: (index: number) => rows[index]?.limit ?? false,
    },
  };
}

/** What components such as nginx reported, and what could not be read. `times` counts the failed readings, `read` the others. */
function components(run: Run): HTMLElement[] {
  const folds: HTMLElement[] = [];
  const figures = run.document.hosts.flatMap((host) => host.components.flatMap((component) =>
    component.figures.map((figure) => [`${component.component} on ${host.name}`, figure.what, inUnit(figure.unit)(figure.value)])));
  if (figures.length > 0) {
    folds.push(fold("What components reported", table("What components reported", {
      columns: [text("component"), text("figure"), number("value")], count: figures.length, row: (index) => figures[index] ?? [],
    })));
  }
  const unread = run.document.hosts.flatMap((host) => host.unread.map((one) =>
    [host.name, one.source, `${grouped(one.times)} of ${grouped(one.times + one.read)}`, one.why]));
  if (unread.length > 0) {
    folds.push(fold("What could not be read", table("What could not be read", {
      columns: [text("host"), text("source"), number("times"), text("why")], count: unread.length, row: (index) => unread[index] ?? [],
    })));
  }
  return folds;
}
