// Words for the names in the document.

const RESOURCES: Record<string, string> = {
  cpu: "CPU", core: "core", allowed_cores: "allowed cores", thread: "thread", quota: "CPU quota",
  bandwidth_out: "link, out", bandwidth_in: "link, in", packets_out: "packets, out", packets_in: "packets, in",
  disk: "disk", disk_read: "disk reads", disk_write: "disk writes", memory: "memory", descriptors: "descriptors",
  accept_queue: "accept queue", connections: "connections",
};

const CURVES: Record<string, string> = {
  gc_pauses: "GC pauses", gc_threads: "CPU for GC", heap: "heap", cpu_pressure: "tasks waiting for a CPU",
  io_pressure: "tasks waiting for a disk", memory_pressure: "tasks waiting for memory", throttled: "out of CPU quota",
  stalled: "a worker did not run", starved: "a worker waited for a CPU", stolen: "CPU stolen by other guests",
  cpu_wait: "waiting for a CPU", packet_time: "packets", lock_waits: "waiting for another thread", disk_waits: "waiting for a disk",
  process_cpu: "CPU", pages_fetched: "pages fetched again", queue_overflows: "accept queue full", turned_away: "turned away",
};

const LIMITS: Record<string, string> = {
  cpu: "CPU", thread: "one thread", quota: "CPU quota", bandwidth: "bandwidth", packets: "packets", memory: "memory",
  disk: "disk", connections: "connections", pool: "a pool", lock: "a lock", dependency: "a dependency",
  refused: "refusals by policy", generator: "the load generator", none: "nothing", unknown: "not known",
};

const CONFIDENCE: Record<string, string> = {
  proven: "proven: the limit was raised, and throughput moved as predicted",
  measured: "measured: it was observed at its capacity",
  inferred: "likely: inferred by elimination or from a law",
  unknown: "not known",
};

const OUTCOMES: Record<string, string> = {
  held: "held", broken: "broken", close: "too close to decide", generator_limited: "generator was the limit",
};

const CLASSES: Record<string, string> = {
  graceful: "degrades gracefully", degrades: "degrades", collapses: "collapses",
  metastable: "stays down after the overload (metastable)", not_overloaded: "kept up", unknown: "not known",
};

const RAMPS: Record<string, string> = {
  none: "A ramp to the highest load makes no difference.",
  helps: "A ramp to the highest load leaves more of the goodput than a jump: raise load slowly.",
  keeps_up: "In a ramp after the jumps it answers nearly all of the highest load, in the jump it does not. What it lacked has grown since, such as a "
    + "pool of workers or connections: keep as many ready as that load needs, or raise load slowly.",
  hurts: "A ramp to the highest load leaves less of the goodput than a jump: the longer the overload, the worse.",
};

const BREACHES: Record<string, string> = { latency: "latency", success: "success", queue: "requests queue up" };

const named = (names: Record<string, string>) => (name: string): string => names[name] ?? name.replaceAll("_", " ");

export const resourceName = named(RESOURCES);
export const limitName = named(LIMITS);
export const confidence = named(CONFIDENCE);
/** How certain a verdict is, and why. */
export const certainty = (verdict: { confidence: string; proof: { outcome: string } | null }): string =>
  (verdict.proof?.outcome === "withdrawn" ? "withdrawn: the named limit was raised, but throughput did not move as predicted" : confidence(verdict.confidence));
export const outcome = named(OUTCOMES);
export const overloadClass = named(CLASSES);
/** A sentence that compares a ramp to the highest load with a jump to it. */
export const rampEffect = named(RAMPS);
export const breach = named(BREACHES);
/** Turns a name in the document, such as `target_lost`, into words. */
export const spaced = (name: string): string => name.replaceAll("_", " ");

/** A limit and its place: `CPU of api`. */
export function limitAt(limit: string, where: string): string {
  if (limit === "none") return "nothing: the load was too small";
  return limit === "generator" || limit === "unknown" || where === "" ? limitName(limit) : `${limitName(limit)} of ${where}`;
}

/** Names a curve, such as `GC pauses, java` or `tasks waiting for a CPU`. */
export function curve(one: { kind: string; of: string }): string {
  if (one.kind === "cpu_wait" && one.of === "") return "processes waiting for a CPU";
  const name = CURVES[one.kind] ?? spaced(one.kind);
  return one.of === "" ? name : `${name}, ${one.of}`;
}

/** Names a resource, such as `CPU` or `thread 12/12 nginx`. */
export function resource(use: { resource: string; of: string }): string {
  const name = resourceName(use.resource);
  if (use.of === "") return name;
  // `core 1` already says that it is a core.
  return use.of.startsWith(`${name} `) ? use.of : `${name} ${use.of}`;
}
