// Generated from docs/page.schema.json by `npm run types`. Do not edit.

/**
 * A 95 % interval; null where too little is known for one, or where a bound is not finite.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Interval = [number, number] | null;
/**
 * A part of a page.
 */
export type ShownIn = ("throughput" | "latency" | "steps" | "failures" | "generator" | "path") | "resources" | "curves";
/**
 * The result of a command that reads or makes several runs.
 */
export type FoundTogether =
  | {
      diff: DiffDocument;
    }
  | {
      runs: ComparisonDocument;
    }
  | {
      ab: AbDocument;
    }
  | {
      lab: LabRunDocument;
    }
  | {
      tiers: TiersDocument;
    }
  | {
      switches: AblationDocument;
    }
  | {
      machines: PlanDocument;
    }
  | {
      fleet: FleetDocument;
    };

/**
 * The content of a page.
 */
export interface PageDocument {
  /**
   * The runs.
   */
  runs: PageRunDocument[];
  /**
   * Always `plimsoll/page/1`.
   */
  schema: string;
  /**
   * The summary of several runs, or tables; null for a page of one run.
   */
  together: TogetherDocument | null;
}
/**
 * One run.
 */
export interface PageRunDocument {
  document: Document;
  /**
   * Its CPU profile as a flame graph; null without a profile.
   */
  flame: FlameDocument | null;
  headline: HeadlineDocument;
  /**
   * Its name.
   */
  name: string;
  /**
   * The URL of the target, without hidden values.
   */
  target: string;
  /**
   * The answer as the terminal prints it.
   */
  text: string;
  timeline: TimelineDocument;
}
/**
 * Everything recorded and found in one run.
 */
export interface Document {
  answer: AnswerDocument;
  /**
   * The parts of the run file that do not match their digests. All figures come from the rest. Empty for an intact
   * file.
   */
  damage: string[];
  /**
   * What happened during the run.
   */
  events: EventDocument[];
  /**
   * Claims, each with its value and its evidence.
   */
  findings: FindingDocument[];
  /**
   * The generators of each step, if they were on several machines; otherwise empty.
   */
  fleet: FleetStepDocument[];
  generator: GeneratorDocument;
  /**
   * The hosts that were sampled. For the load generator see `generator`.
   */
  hosts: HostDocument[];
  machine: MachineDocument;
  /**
   * How the target behaves under overload; null if it was not overloaded.
   */
  overload: OverloadDocument | null;
  /**
   * The frozen plan, as it is stored with the run. The values of headers that carry credentials are `(hidden)`, and so are
   * bodies and the values of queries, unless they are asked for.
   */
  plan: {
    [k: string]: unknown;
  };
  preflight: PreflightDocument;
  run: RunDocument;
  /**
   * Always `plimsoll/run/1`.
   */
  schema: string;
  /**
   * The search for the highest rate within the conditions; null if there was none.
   */
  search: SearchDocument | null;
  /**
   * The steps, in the order they were run.
   */
  steps: StepDocument[];
  /**
   * Steps of the ladder that were not run because this machine cannot open so many connections, by their
   * connections.
   */
  steps_not_run: number[];
  /**
   * The processes that requests pass through, the target first, as far as their sockets could be followed.
   */
  tiers: TierDocument[];
  tool: ToolDocument;
  /**
   * The slowest and the unsuccessful requests with a trace id, by step; empty if no request had one.
   */
  traces: StepTracesDocument[];
  verdict: VerdictDocument;
}
/**
 * How much load the target sustains.
 */
export interface AnswerDocument {
  /**
   * Connections of the ladder's best step within the limits.
   */
  connections: number | null;
  interval: Interval;
  /**
   * The smallest tested number of connections within 5 % of the plateau; null if no plateau was reached.
   */
  knee_connections: number | null;
  /**
   * Connections that would give the plateau if requests took no longer than at the lowest step: the plateau
   * times that step's mean response time.
   */
  knee_predicted: number | null;
  /**
   * True if the generator was the limit: every throughput here is a lower bound.
   */
  lower_bound: boolean;
  /**
   * The highest throughput within the latency and success limits of the SLO: after a search, the highest arrival
   * rate that held; otherwise the throughput of the ladder's best step. Null if nothing met the limits, or none
   * were given.
   */
  max_within_slo_per_sec: number | null;
  /**
   * Connections at which the plateau was measured.
   */
  plateau_connections: number | null;
  plateau_interval: Interval;
  /**
   * The highest throughput of any step, requests per second; null if it was still growing at the last.
   */
  plateau_per_sec: number | null;
  /**
   * The SLO and whether it held; null if none was given.
   */
  slo: SloDocument | null;
}
/**
 * The SLO and whether it held. A limit is null if it was not given. Whether a limit held is null if too little is
 * known.
 */
export interface SloDocument {
  /**
   * Index of the step of the highest throughput within the limits of latency and success.
   */
  best_step: number | null;
  /**
   * Each condition in words, as in the text report, at the load of its first sentences; empty if no request
   * succeeded. `latency` may be of another load: the one that decides the conditions.
   */
  conditions: ConditionDocument[];
  /**
   * The limits of latency, the lowest percentile first.
   */
  latency: LatencyLimitDocument[];
  /**
   * Whether the success ratio was reached.
   */
  success_held: boolean | null;
  /**
   * The minimum ratio of successful responses.
   */
  success_ratio: number | null;
  /**
   * The success ratio at the load that decides the conditions; null if no request ended.
   */
  success_seen: number | null;
  /**
   * Whether this throughput was reached within the other limits.
   */
  throughput_held: boolean | null;
  /**
   * The minimum throughput, requests per second.
   */
  throughput_per_sec: number | null;
}
/**
 * A condition in words.
 */
export interface ConditionDocument {
  /**
   * Whether it held; null where too little is known.
   */
  held: boolean | null;
  /**
   * The measured value and the limit: `p99 23.5 ms (limit 500 ms)`.
   */
  text: string;
}
/**
 * A limit of latency.
 */
export interface LatencyLimitDocument {
  /**
   * Whether it stayed within the limit; null where too little is known.
   */
  held: boolean | null;
  /**
   * Its limit in milliseconds.
   */
  limit_ms: number | null;
  /**
   * Which percentile, from 0 to 100; 100 is the longest time.
   */
  percentile: number | null;
  /**
   * The percentile at the load that decides the conditions, in milliseconds; null where too little is known.
   */
  seen_ms: number | null;
}
/**
 * Something that happened once.
 */
export interface EventDocument {
  /**
   * When, in seconds since the run began.
   */
  at_sec: number | null;
  /**
   * The kind of event, as a name.
   */
  kind: string;
  /**
   * The event in words.
   */
  text: string;
}
/**
 * A claim with its value, its interval and its evidence.
 */
export interface FindingDocument {
  /**
   * Its evidence.
   */
  evidence: EvidenceDocument[];
  /**
   * A stable name.
   */
  id: string;
  interval: Interval;
  /**
   * The value; null if it could not be determined.
   */
  value: number | null;
  /**
   * The finding in words, with the unit.
   */
  what: string;
}
/**
 * One line of evidence.
 */
export interface EvidenceDocument {
  /**
   * Where it was observed, such as at which step.
   */
  at: string;
  /**
   * The capacity, or another value to compare `value` with.
   */
  of: number | null;
  /**
   * The series in the timeline of a page that show it over time, the best first. A page has only series that were
   * sampled.
   */
  series: SeriesDocument[];
  shown_in: ShownIn;
  /**
   * The unit of `value` and `of`: `ratio` (of 1), `count`, `cores`, `per_sec` (requests or connections),
   * `bits_per_sec`, `packets_per_sec`, `bytes_per_sec`, `sec` or `ms`.
   */
  unit: string;
  /**
   * The observed value.
   */
  value: number | null;
  /**
   * What was observed.
   */
  what: string;
}
/**
 * A series of the timeline of a page: the use of a resource, or a curve.
 */
export interface SeriesDocument {
  /**
   * The host, as in the timeline.
   */
  host: string;
  /**
   * The `resource` of a resource, or the `kind` of a curve.
   */
  kind: string;
  /**
   * The part of the host, as in the timeline; null for the part of it that has the highest values.
   */
  of: string | null;
}
/**
 * The generators that made a step together, each on a machine with its own clock.
 */
export interface FleetStepDocument {
  /**
   * The upper bound of `apart_ns` with the errors of their clocks; null if one is not known.
   */
  apart_max_ns: number | null;
  /**
   * The time from the start of the first generator to that of the last, in nanoseconds, if their clocks had no
   * error.
   */
  apart_ns: number;
  /**
   * The generators with their shares.
   */
  generators: GeneratorShareDocument[];
  /**
   * The index of the step, from 0.
   */
  step: number;
}
/**
 * The share of one generator in a step.
 */
export interface GeneratorShareDocument {
  /**
   * The most requests per second that one of its workers can make, by the calibration of its machine; null if that is not
   * known.
   */
  ceiling_per_sec: number | null;
  /**
   * The maximum error of its clock in the times of its frames, in nanoseconds; null if it is not known.
   */
  clock_error_ns: number | null;
  /**
   * The number of its first worker; the others follow.
   */
  first_worker: number;
  /**
   * When its last message came, in seconds since the run began, if it was lost during the step; otherwise null.
   */
  lost_sec: number | null;
  /**
   * Its name.
   */
  name: string;
  /**
   * Its part of the load, 0 to 1, from its number of workers and their ceiling.
   */
  share: number | null;
  /**
   * The difference between the clocks' offset by their wall clocks and the measured offset, in nanoseconds; null
   * unless the kernels report both wall clocks as synchronised.
   */
  wall_apart_ns: number | null;
  /**
   * The part of `wall_apart_ns` that the errors explain, in nanoseconds. If there is more, a wall clock is wrong.
   */
  wall_error_ns: number | null;
  /**
   * How many workers it has; 0 if it made nothing, as there were fewer connections than workers.
   */
  workers: number;
}
/**
 * The load generator's check of itself.
 */
export interface GeneratorDocument {
  /**
   * The highest CPU ratio of any worker, 0 to 1.
   */
  busiest_worker_ratio: number | null;
  /**
   * The load of each worker while measured.
   */
  by_worker: WorkerDocument[];
  /**
   * The same reasons, each with its value, its bound and its remedy.
   */
  causes: CauseDocument[];
  /**
   * How close each worker came to the maximum of one worker on its machine; null where that was not measured or does
   * not apply.
   */
  ceiling: CeilingDocument | null;
  /**
   * CPU seconds of all workers.
   */
  cpu_sec: number | null;
  /**
   * The driver of the connections: `epoll` or `io_uring`.
   */
  driver: string;
  /**
   * False if the generator held the load back: throughput is then a lower bound.
   */
  healthy: boolean;
  /**
   * False where the measured window is too short for the check (100 ms). Then nothing is known, and `healthy` is true
   * because no reason against it was found.
   */
  judged: boolean;
  /**
   * The part of them spent in the kernel.
   */
  kernel_sec: number | null;
  /**
   * |N − X·R| / N. In a closed loop N is the mean of open connections times the requests in flight on each, and R the
   * latency. In an open loop N is the mean of the requests in flight, and R the service time. Null where the law cannot
   * be applied.
   */
  littles_law_error: number | null;
  machine: MachineLoadDocument;
  /**
   * Mean number of open connections over the connections of the step, in a closed loop.
   */
  open_ratio: number | null;
  /**
   * Why it is not healthy, in words.
   */
  reasons: string[];
  send_lag_ms: LagDocument;
  /**
   * The highest ratio of the step's time in which any worker should have run and did not, 0 to 1: the process was
   * stopped, or the machine suspended.
   */
  stalled_ratio: number | null;
  /**
   * The highest ratio of time that any worker was ready but had no CPU, 0 to 1.
   */
  starved_ratio: number | null;
  /**
   * Worker threads.
   */
  workers: number;
}
/**
 * How one worker's thread spent the measured time; ratios from 0 to 1.
 */
export interface WorkerDocument {
  /**
   * CPU time over time.
   */
  cpu_ratio: number | null;
  /**
   * CPU time in the kernel over time, a part of `cpu_ratio`.
   */
  kernel_ratio: number | null;
  /**
   * Time in which it should have run and did not over the time of the whole step: the process was stopped, or the machine
   * suspended.
   */
  stalled_ratio: number | null;
  /**
   * Time ready to run but without a CPU over time.
   */
  starved_ratio: number | null;
  /**
   * From 0, over the workers of all generators.
   */
  worker: number;
}
/**
 * One reason why the generator is not healthy.
 */
export interface CauseDocument {
  /**
   * The bound that it violates, in the same unit.
   */
  bound: number | null;
  /**
   * A stable name.
   */
  id: string;
  /**
   * How to fix it.
   */
  remedy: string;
  /**
   * The measured value: a ratio from 0 to 1, seconds, a count, or requests per second.
   */
  value: number | null;
  /**
   * The reason in words.
   */
  what: string;
}
/**
 * How close each worker came to the maximum of one worker on its machine.
 */
export interface CeilingDocument {
  /**
   * Age of the calibration when the run began; null in a fleet.
   */
  age_sec: number | null;
  /**
   * The maximum of one worker when the machine was calibrated, requests per second.
   */
  ceiling_per_sec: number | null;
  /**
   * False if the worker itself was not the limit of the calibration: it can do at least as much.
   */
  known: boolean;
  /**
   * Requests per second and worker.
   */
  per_worker_per_sec: number | null;
  /**
   * In a fleet, the first worker of the generator that this is about: of those whose maximum is known, the one that came
   * closest. Null if one machine made the load.
   */
  worker: number | null;
}
/**
 * What the generator's machine reported while a step ran; null is not known.
 */
export interface MachineLoadDocument {
  /**
   * Descriptors that it may have open.
   */
  descriptors_limit: number | null;
  /**
   * The maximum number of descriptors that the generator had open, as sampled.
   */
  descriptors_open: number | null;
  /**
   * Local ports from one source address to one target address.
   */
  ports: number | null;
  /**
   * Time in which some task was ready but had no CPU over time (PSI), 0 to 1.
   */
  pressure_ratio: number | null;
  /**
   * TCP segments retransmitted, without those that open connections.
   */
  segments_retransmitted: number | null;
  /**
   * TCP segments sent.
   */
  segments_sent: number | null;
  /**
   * The maximum number of open TCP sockets, of all processes.
   */
  sockets_open: number | null;
  /**
   * The maximum number of TCP sockets in TIME-WAIT.
   */
  sockets_time_wait: number | null;
  /**
   * CPU time taken by the hypervisor over all CPU time, 0 to 1.
   */
  stolen_ratio: number | null;
  /**
   * TCP segments retransmitted that open connections.
   */
  syn_retransmitted: number | null;
}
/**
 * How late requests were sent, in milliseconds.
 */
export interface LagDocument {
  /**
   * The limit of the 99th percentile; null where the median service time is not known.
   */
  bound: number | null;
  /**
   * The median.
   */
  p50: number | null;
  /**
   * The 99th percentile.
   */
  p99: number | null;
}
/**
 * A host that was sampled.
 */
export interface HostDocument {
  /**
   * Its address; null if the plan does not give it.
   */
  address: string | null;
  /**
   * What components on it reported at the step of the plateau.
   */
  components: ComponentDocument[];
  /**
   * Its name.
   */
  name: string;
  /**
   * The cost of sampling it, in cores of the machine that did so, over the run; null where that was not measured.
   */
  probe_cores: number | null;
  /**
   * Its role in the plan; null if the plan gives none.
   */
  tier: string | null;
  /**
   * The sources that could not be read.
   */
  unread: UnreadDocument[];
  /**
   * The use of each of its resources in each step.
   */
  usage: UsageDocument[];
}
/**
 * A component on a host.
 */
export interface ComponentDocument {
  /**
   * The address it was queried at.
   */
  address: string;
  /**
   * Its kind: `nginx`, `redis`.
   */
  component: string;
  /**
   * What it reported.
   */
  figures: FigureDocument[];
}
/**
 * One figure of a component.
 */
export interface FigureDocument {
  /**
   * `per_sec`, `count`, `bytes`, or `ratio` for a part of the time.
   */
  unit: string;
  /**
   * Its mean over the step.
   */
  value: number | null;
  /**
   * What it counts.
   */
  what: string;
}
/**
 * A source that could not be read.
 */
export interface UnreadDocument {
  /**
   * How often it was read.
   */
  read: number;
  /**
   * As `docs/metrics.md` names it, such as `cgroup`.
   */
  source: string;
  /**
   * How often it could not be read.
   */
  times: number;
  /**
   * The reason of the first failure.
   */
  why: string;
}
/**
 * The use of one resource of a host in one step.
 */
export interface UsageDocument {
  /**
   * The capacity; null where it is not known.
   */
  capacity: number | null;
  /**
   * Its connections.
   */
  connections: number;
  /**
   * The part of the host: a core, a thread, an interface, a device; empty for the host itself.
   */
  of: string;
  /**
   * The resource: `cpu`, `core`, `allowed_cores`, `thread`, `quota`, `bandwidth_out`, `bandwidth_in`,
   * `packets_out`, `packets_in`, `disk`, `disk_read`, `disk_write`, `memory`, `descriptors`, `accept_queue`,
   * `connections`.
   */
  resource: string;
  /**
   * The position of the step among `steps`.
   */
  step: number;
  /**
   * The unit of `used` and `capacity`.
   */
  unit: string;
  /**
   * The use: the mean over the measured time for what is consumed, such as CPU time; the maximum for what is
   * occupied, such as memory.
   */
  used: number | null;
}
/**
 * The machine that made the load.
 */
export interface MachineDocument {
  /**
   * The hardware, such as `x86_64`.
   */
  architecture: string;
  /**
   * Cores the generator could run on.
   */
  cores: number;
  /**
   * Descriptors it could open.
   */
  descriptors: number;
  /**
   * The host's name.
   */
  hostname: string;
  /**
   * The kernel's name and release.
   */
  kernel: string;
  /**
   * Local ports from one source address to one target address.
   */
  ports: number;
}
/**
 * How the target behaves when more load is offered than it holds.
 */
export interface OverloadDocument {
  /**
   * The lowest overload that shows the class (for `graceful` the highest), as a multiple of `rate_per_sec`; null
   * if none does.
   */
  at_factor: number | null;
  /**
   * True if the ladder was the overload that shows the class: it brought the target down, and no rate held after
   * that.
   */
  by_ladder: boolean;
  /**
   * `graceful`, `degrades`, `collapses`, `metastable`, `not_overloaded` or `unknown`.
   */
  class: string;
  /**
   * Why the class is not known: `base`, `generator`, `too_few`, `interrupted`, `rate_not_held` or `no_rate`; null
   * if it is known.
   */
  doubt: string | null;
  /**
   * Goodput counts the successes within this time after they were due; null if every success counts.
   */
  limit_ms: number | null;
  /**
   * The limits that protect the target; null where no rate is known to hold, and where it kept up with more.
   */
  protection: ProtectionDocument | null;
  /**
   * The effect of a ramp to the highest overload, compared with a jump: `none`, `helps`, `keeps_up` (nearly all of
   * the load is answered in it) or `hurts`; null if it is not known.
   */
  ramp: string | null;
  /**
   * The highest rate within the conditions, as given or found, requests per second.
   */
  rate_per_sec: number | null;
  /**
   * The load at `rate_per_sec` itself, in the second half of its time.
   */
  reference: OverloadPhaseDocument | null;
  /**
   * Why the target is not known to hold `rate_per_sec`, as in `doubt`; null if it holds it.
   */
  reference_doubt: string | null;
  /**
   * The overloads, in order.
   */
  steps: OverloadStepDocument[];
}
/**
 * The limits that protect a service from overload.
 */
export interface ProtectionDocument {
  /**
   * Requests to admit at once beyond an even flow.
   */
  burst: number;
  /**
   * The maximum number of requests to process at a time.
   */
  concurrency: number;
  /**
   * The mean number of requests in progress at `rate_per_sec`.
   */
  in_progress: number | null;
  /**
   * The maximum rate to admit, requests per second.
   */
  rate_per_sec: number | null;
  /**
   * The longest time that a request should wait for admission.
   */
  wait_ms: number | null;
}
/**
 * A span of the load.
 */
export interface OverloadPhaseDocument {
  /**
   * Requests that waited for a connection at the end of the span.
   */
  backlog: number;
  /**
   * Requests that fell due.
   */
  due: number;
  /**
   * Requests without a response, by the kind of failure.
   */
  failed: {
    [k: string]: number;
  };
  /**
   * Successes within the limit over all requests that ended, or are missing beyond what random arrivals explain;
   * null if there are none.
   */
  good_ratio: number | null;
  goodput_interval: Interval;
  /**
   * Successes within the limit of latency, per second; null where the load ended before the span began.
   */
  goodput_per_sec: number | null;
  /**
   * Requests sent and not answered at the end of the span.
   */
  in_flight: number;
  /**
   * Successes after the limit of latency.
   */
  late: number;
  /**
   * The planned rate, requests per second; its mean where it changes.
   */
  offered_per_sec: number | null;
  /**
   * Median latency of the requests that ended; null if they are too few.
   */
  p50_ms: number | null;
  /**
   * 99th percentile of the latency of the same requests.
   */
  p99_ms: number | null;
  /**
   * Responses without success.
   */
  refused: number;
  /**
   * The length of the span.
   */
  span_sec: number | null;
}
/**
 * One overload.
 */
export interface OverloadStepDocument {
  /**
   * Seconds from the end of the overload until goodput was back; null if it did not come back, or that is not known.
   */
  back_after_sec: number | null;
  before: OverloadPhaseDocument;
  /**
   * Why the outcome is not known; null if it is.
   */
  doubt: string | null;
  /**
   * The offered rate over the highest within the conditions.
   */
  factor: number | null;
  /**
   * Index of its step in the run.
   */
  index: number;
  /**
   * Goodput over the goodput at the rate that holds; null where the overload was not judged.
   */
  kept: number | null;
  kept_interval: Interval;
  /**
   * Seconds from the beginning of the overload, its ramp included, until the target refused every connection; null if it did not.
   */
  lost_after_sec: number | null;
  /**
   * Seconds for which goodput was watched and did not come back; null if it did, or that is not known.
   */
  not_back_within_sec: number | null;
  /**
   * `jump` or `ramp`.
   */
  onset: string;
  /**
   * `kept`, `reduced`, `lost` or `unknown`.
   */
  outcome: string;
  /**
   * The step over time.
   */
  over_time: OverloadMomentDocument[];
  /**
   * Seconds after which a queue of all that was offered in excess would have been gone; null where goodput came back.
   */
  queue_gone_after_sec: number | null;
  settled: OverloadPhaseDocument;
  whole: OverloadPhaseDocument;
}
/**
 * Half a second of an overload's step.
 */
export interface OverloadMomentDocument {
  /**
   * Responses of any kind, per second.
   */
  answered_per_sec: number | null;
  /**
   * Its middle, in seconds since the step began.
   */
  at_sec: number | null;
  /**
   * Requests that fell due, per second.
   */
  due_per_sec: number | null;
  /**
   * Successes within the limit of latency, per second.
   */
  goodput_per_sec: number | null;
}
/**
 * What was found out about the target before the load.
 */
export interface PreflightDocument {
  /**
   * The first of them, which the first connection went to.
   */
  address: string;
  /**
   * Every address the load went to, `ip:port` or `unix:path`.
   */
  addresses: string[];
  /**
   * Time to open the first connection.
   */
  connect_ms: number | null;
  /**
   * The answer to the one request before the load; null where none was sent.
   */
  first_answer: FirstAnswerDocument | null;
  /**
   * True if all addresses belong to the generator's own machine.
   */
  local: boolean;
  /**
   * Time to resolve the name.
   */
  resolve_ms: number | null;
  /**
   * The number of concurrent requests that an HTTP/2 server allows on one connection; null if it sets no limit.
   */
  streams_max: number | null;
}
/**
 * The answer to the one request before the load.
 */
export interface FirstAnswerDocument {
  /**
   * Decoded bytes of the body.
   */
  body_bytes: number;
  /**
   * Whether the server keeps the connection.
   */
  keep_alive: boolean;
  /**
   * The time from the first byte sent to the last byte received.
   */
  service_ms: number | null;
  /**
   * The response's status.
   */
  status: number;
}
/**
 * The name, the command, the plan's hash and the state of the run.
 */
export interface RunDocument {
  /**
   * The command that made it: `answer`, `search`, `sweep`, `run`, `overload` or `lab`.
   */
  command: string;
  /**
   * The command line, for a shell. `(hidden)` stands for credentials and bodies, `…` for logins and values of queries. Null
   * where it was not recorded.
   */
  command_line: string | null;
  /**
   * The run's name.
   */
  name: string;
  /**
   * SHA-256 of the plan's JSON, in hex.
   */
  plan_hash: string;
  /**
   * The protocol of the connections: `HTTP/1.1` or `HTTP/2`.
   */
  protocol: string;
  /**
   * False for a run that was killed or has not ended yet.
   */
  sealed: boolean;
  /**
   * When the run began, in milliseconds since 1970-01-01 UTC.
   */
  started_unix_ms: number;
  /**
   * How the connections were encrypted; null if they were not.
   */
  tls: TlsDocument | null;
}
/**
 * How the connections were encrypted.
 */
export interface TlsDocument {
  /**
   * The cipher suite.
   */
  cipher: string;
  /**
   * The name or address that the certificate was verified for; null if it was not verified.
   */
  peer: string | null;
  /**
   * True if later connections might resume the session of an earlier one.
   */
  resumption: boolean;
  /**
   * True if the server's certificate was verified.
   */
  verified: boolean;
  /**
   * The protocol's version, such as `TLSv1.3`.
   */
  version: string;
}
/**
 * The search for the highest rate of random arrivals at which the conditions hold.
 */
export interface SearchDocument {
  /**
   * What broke there: `latency`, `success` or `queue`.
   */
  breach: string | null;
  /**
   * The percentile whose limit broke there, from 0 to 100; null if something else did.
   */
  breach_percentile: number | null;
  /**
   * The lowest rate above it that broke a condition, requests per second: the maximum lies between the two. Null if
   * none did.
   */
  broken_per_sec: number | null;
  /**
   * Two trials that differ by more than chance explains: the maximum moved during the search. Null if it did not.
   */
  drift: DriftDocument | null;
  /**
   * Why the search ended: `found`, `unfinished` (budget, user, or 60 trials that contradict each other), `generator_limited` or
   * `never_held`.
   */
  end: string;
  /**
   * The highest rate that held, requests per second; null if none did.
   */
  held_per_sec: number | null;
  /**
   * A rate that held before and after, but not right after an overload, requests per second; null without one.
   */
  hysteresis_per_sec: number | null;
  /**
   * Set if the ladder brought the target down, and no rate held after that; null if not.
   */
  outage: OutageDocument | null;
  /**
   * Every rate that was tried, in order.
   */
  trials: SearchTrialDocument[];
}
/**
 * A maximum that moved.
 */
export interface DriftDocument {
  /**
   * The lower rate that broke at another time.
   */
  broken_per_sec: number | null;
  /**
   * True if the lower rate broke after the higher one had held.
   */
  falls: boolean;
  /**
   * A rate that held at one time, requests per second.
   */
  held_per_sec: number | null;
}
/**
 * A target that served requests within the conditions until the ladder brought it down.
 */
export interface OutageDocument {
  /**
   * The time after which a queue of all requests without a good answer would have been gone, in seconds.
   */
  queue_sec: number | null;
  /**
   * What the ladder served within the conditions, requests per second.
   */
  served_per_sec: number | null;
  /**
   * True if the target was down for so long that something other than such a queue must keep it down.
   */
  stuck: boolean;
  /**
   * The last rate that was tried, requests per second; most of its requests failed.
   */
  tried_per_sec: number | null;
  /**
   * The time from the end of the ladder to the end of the search, in seconds.
   */
  watched_sec: number | null;
}
/**
 * A rate that was tried.
 */
export interface SearchTrialDocument {
  /**
   * True if it began right after the load of a rate that broke.
   */
  after_overload: boolean;
  /**
   * What broke: `latency`, `success` or `queue`; null if nothing did.
   */
  breach: string | null;
  /**
   * The percentile whose limit broke, from 0 to 100; null if something else did, or nothing.
   */
  breach_percentile: number | null;
  /**
   * `held`, `broken`, `close` (too near to the limit to be decided in the time of the trial) or
   * `generator_limited`.
   */
  outcome: string;
  step: StepDocument;
}
/**
 * One step.
 */
export interface StepDocument {
  /**
   * Bytes received, including heads.
   */
  bytes_in: number;
  /**
   * Bytes received per second while measured.
   */
  bytes_in_per_sec: number | null;
  /**
   * Bytes sent, including heads.
   */
  bytes_out: number;
  /**
   * Complete responses of any status.
   */
  completed: number;
  connect_ms: TimesDocument;
  /**
   * Connections of a closed loop, or the initial connections of an open loop.
   */
  connections: number;
  /**
   * Connections opened, including the first ones.
   */
  connects: number;
  /**
   * The maximum number of requests in flight on one connection.
   */
  depth: number;
  /**
   * Seconds that the requests in flight took to end, after the load.
   */
  drain_sec: number | null;
  /**
   * How much throughput rose within a step of a closed loop, relative to its mean; negative if it fell. Null if
   * that is within 2 % or may be chance.
   */
  drift_ratio: number | null;
  /**
   * Seconds that were measured: after the warm-up and before the drain, or until the target was lost.
   */
  duration_sec: number | null;
  /**
   * Why the load ended: `steady`, `time_limit`, `request_limit`, `stopped`, `cut` or `target_lost`.
   */
  end: string;
  /**
   * Failed requests by kind.
   */
  failed: {
    [k: string]: number;
  };
  /**
   * Responses that failed a check, by check. They are completed but not ok.
   */
  failed_checks: {
    [k: string]: number;
  };
  generator: GeneratorDocument;
  handshake_ms: TimesDocument;
  /**
   * TLS handshakes completed.
   */
  handshakes: number;
  /**
   * Index of the step in the run.
   */
  index: number;
  /**
   * Requests that fell due over the whole step.
   */
  intended: number;
  latency_ms: TimesDocument;
  /**
   * True if the generator held the load back: the throughput is a lower bound.
   */
  lower_bound: boolean;
  /**
   * Responses that passed every check, and have a status of 200 to 399 unless a check is of the status.
   */
  ok: number;
  /**
   * The step over time where the offered rate changes; else empty.
   */
  over_time: WindowDocument[];
  /**
   * The offered rate of an open loop, requests per second; its mean where it changes. Null for a closed loop.
   */
  rate_per_sec: number | null;
  /**
   * Connections reopened after the server had closed them between two requests.
   */
  reconnects: number;
  /**
   * The requests of a plan with several, in its order. Empty for a plan with one request: its figures are those of the
   * step.
   */
  requests: RequestDocument[];
  /**
   * TLS handshakes that resumed an earlier session.
   */
  resumed: number;
  /**
   * Requests that were sent.
   */
  sent: number;
  service_ms: TimesDocument;
  /**
   * Responses by status; `0` stands for any status outside 100 to 599.
   */
  status: {
    [k: string]: number;
  };
  /**
   * `steady`, `wide`, `moving`, `too_short`, or `ramp` where the offered rate changes by plan.
   */
  steadiness: string;
  /**
   * True if throughput settled to within ±2 %.
   */
  steady: boolean;
  success_interval: Interval;
  /**
   * Successful responses over all requests that ended, warm-up and drain included; null if none ended.
   */
  success_ratio: number | null;
  throughput_interval: Interval;
  /**
   * Responses per second while measured.
   */
  throughput_per_sec: number | null;
  /**
   * The observed statuses that are no success: by the checks of the status, or without such checks all outside 200
   * to 399.
   */
  unwanted_status: number[];
  /**
   * Seconds of warm-up that were left out.
   */
  warmup_sec: number | null;
}
/**
 * A distribution of times in milliseconds. A value is null where too few requests ended to know it.
 */
export interface TimesDocument {
  /**
   * The number of measured times.
   */
  count: number;
  /**
   * The maximum.
   */
  max: number | null;
  /**
   * Arithmetic mean.
   */
  mean: number | null;
  /**
   * The minimum.
   */
  min: number | null;
  /**
   * 50th percentile.
   */
  p50: number | null;
  /**
   * 75th percentile.
   */
  p75: number | null;
  /**
   * 90th percentile.
   */
  p90: number | null;
  /**
   * 95th percentile.
   */
  p95: number | null;
  /**
   * 99th percentile.
   */
  p99: number | null;
  /**
   * 99.9th percentile.
   */
  p999: number | null;
  percentile_intervals: PercentileIntervals;
  /**
   * Standard deviation.
   */
  stdev: number | null;
}
/**
 * 95 % intervals of the percentiles, in milliseconds; null where one is not known.
 */
export interface PercentileIntervals {
  p50: Interval;
  p75: Interval;
  p90: Interval;
  p95: Interval;
  p99: Interval;
  p999: Interval;
}
/**
 * A window of a step whose offered rate changes.
 */
export interface WindowDocument {
  /**
   * Requests due but not sent at its end.
   */
  backlog: number;
  /**
   * Its start, in seconds since the load began.
   */
  began_sec: number | null;
  /**
   * Requests that fell due, per second.
   */
  due_per_sec: number | null;
  /**
   * Its end, in seconds since the load began.
   */
  end_sec: number | null;
  /**
   * Requests in flight at its end.
   */
  in_flight: number;
  latency_ms: TimesDocument;
  /**
   * The offered rate in its middle, requests per second.
   */
  rate_per_sec: number | null;
  /**
   * Successful responses over all requests that ended within it; null if none ended.
   */
  success_ratio: number | null;
  /**
   * Responses per second.
   */
  throughput_per_sec: number | null;
}
/**
 * One request of a plan with several, over one step. Requests that were due but not sent, and bytes, are counted only for
 * the step as a whole.
 */
export interface RequestDocument {
  /**
   * Complete responses of any status.
   */
  completed: number;
  /**
   * Failed requests by kind.
   */
  failed: {
    [k: string]: number;
  };
  /**
   * Responses that failed a check, by check.
   */
  failed_checks: {
    [k: string]: number;
  };
  latency_ms: TimesDocument;
  /**
   * Its name in the plan.
   */
  name: string;
  /**
   * Responses that passed every check, and have a status of 200 to 399 unless a check is of the status.
   */
  ok: number;
  /**
   * Requests that were sent over the whole step.
   */
  sent: number;
  service_ms: TimesDocument;
  /**
   * Responses by status; `0` stands for any status outside 100 to 599.
   */
  status: {
    [k: string]: number;
  };
  success_interval: Interval;
  /**
   * Successful responses over all requests that ended; null if none ended.
   */
  success_ratio: number | null;
  /**
   * Responses per second while measured.
   */
  throughput_per_sec: number | null;
}
/**
 * A process that requests pass through.
 */
export interface TierDocument {
  /**
   * Cores that its processes used at the step of the plateau; null where that was not sampled.
   */
  cores: number | null;
  /**
   * How many connections away from the generator it is, from 1.
   */
  depth: number;
  /**
   * The tiers that it is connected to.
   */
  downstream: EdgeDocument[];
  /**
   * Its host, or its address where the host is not sampled.
   */
  host: string;
  /**
   * True if the limit of the verdict is in it, or is shared by all processes of its host, such as the CPU.
   */
  is_limit: boolean;
  /**
   * The process and its children, as far as they are known.
   */
  pids: number[];
  /**
   * The port that it listens on; null where that is a unix socket.
   */
  port: number | null;
  /**
   * Its name; null where it is not known.
   */
  process: string | null;
  /**
   * The path of the unix socket that it listens on; null where that is a port.
   */
  unix_socket: string | null;
}
/**
 * The connections from one tier to another.
 */
export interface EdgeDocument {
  /**
   * The maximum number of connections at one time.
   */
  connections: number;
  /**
   * The position of the other tier among `tiers`.
   */
  to: number;
}
/**
 * The program that made the run.
 */
export interface ToolDocument {
  /**
   * Always `plimsoll`.
   */
  name: string;
  /**
   * The version that made the run.
   */
  version: string;
}
/**
 * The recorded requests of one step that carried a trace id.
 */
export interface StepTracesDocument {
  /**
   * The slowest, at most 10, the slowest first.
   */
  slowest: TraceDocument[];
  /**
   * The index of the step, from 0.
   */
  step: number;
  /**
   * The first without success, at most 10, in the order in which they were sent.
   */
  unsuccessful: TraceDocument[];
}
/**
 * A request that carried a trace id.
 */
export interface TraceDocument {
  /**
   * Why it got no response; null if it got one.
   */
  failure: string | null;
  /**
   * From the instant it was due until its response ended or it was given up; null if its connection failed.
   */
  latency_ms: number | null;
  /**
   * When it was sent, in seconds since the run began.
   */
  sent_sec: number | null;
  /**
   * The status of its response; null if it got none.
   */
  status: number | null;
  /**
   * The id, as the `traceparent` header carried it: 32 hexadecimal digits.
   */
  trace_id: string;
}
/**
 * What limits the target.
 */
export interface VerdictDocument {
  /**
   * What to try.
   */
  advice: string[];
  /**
   * Limits that the evidence does not exclude.
   */
  also: SuspectDocument[];
  /**
   * `proven`, `measured`, `inferred` or `unknown`.
   */
  confidence: string;
  /**
   * The evidence.
   */
  evidence: EvidenceDocument[];
  /**
   * What is ruled out as the limit, and why.
   */
  excluded: string[];
  /**
   * `cpu`, `thread`, `quota`, `bandwidth`, `packets`, `disk`, `memory`, `connections`, `pool`, `lock`, `dependency`,
   * `refused`, `generator`, `none` (not pushed to its limit) or `unknown`.
   */
  limit: string;
  /**
   * The limit that is reached next; null where that is not known.
   */
  next_limit: NextLimitDocument | null;
  place: PlaceDocument;
  /**
   * The experiment that tested the verdict; null if there was none.
   */
  proof: ProofDocument | null;
  /**
   * The size of the exhausted resource, such as the number of workers of a pool; null if it cannot be counted.
   */
  size: number | null;
  size_interval: Interval;
  /**
   * The verdict in one paragraph; empty where no host was sampled.
   */
  text: string;
  /**
   * Where: a host's name, or `host: process, thread or interface`; `generator`; where no host is known, the target's
   * authority.
   */
  where: string;
}
/**
 * Another limit that the evidence does not exclude.
 */
export interface SuspectDocument {
  /**
   * The throughput at which this limit stops growth, requests per second; null if it is not known.
   */
  at_per_sec: number | null;
  /**
   * The limit: a value of `limit` of a verdict.
   */
  limit: string;
  /**
   * The place of the limit.
   */
  where: string;
}
/**
 * The limit that is reached next.
 */
export interface NextLimitDocument {
  /**
   * The throughput at which it is reached, requests per second.
   */
  at_per_sec: number | null;
  interval: Interval;
  /**
   * The limit: a value of `limit` of a verdict.
   */
  limit: string;
  /**
   * The place of the limit.
   */
  where: string;
}
/**
 * A place in parts.
 */
export interface PlaceDocument {
  /**
   * The host, or what stands for it: the target's authority, an address; empty for `none`.
   */
  host: string;
  /**
   * `host`, `process`, `thread`, `interface`, `group`, `device`, `core`, `component`, `listener`, `other_process`,
   * `other_guests`, `others` (not known which), `generator`, `target`, `unwatched` (no probe) or `none`.
   */
  kind: string;
  /**
   * The name of the part of the host, such as a process; empty for the whole host.
   */
  name: string;
}
/**
 * An experiment on the verdict: a cap of a lab's host was raised, and the same load repeated.
 */
export interface ProofDocument {
  /**
   * The cap after it was raised.
   */
  after: number;
  /**
   * Throughput after, requests per second; null if the load was not repeated.
   */
  after_per_sec: number | null;
  /**
   * The cap before it was raised.
   */
  before: number;
  /**
   * Throughput before, requests per second.
   */
  before_per_sec: number | null;
  /**
   * The cap that was raised: `cores`, `link_out`, `link_in`, `packets` or `memory`.
   */
  cap: string;
  /**
   * Connections of the load.
   */
  connections: number;
  /**
   * The host whose cap was raised.
   */
  host: string;
  /**
   * `proven`, `withdrawn` or `undecided`.
   */
  outcome: string;
  /**
   * The ratio that the verdict predicts.
   */
  predicted_ratio: number | null;
  /**
   * `after_per_sec` over `before_per_sec`.
   */
  ratio: number | null;
  ratio_interval: Interval;
  /**
   * The unit of `before` and `after`.
   */
  unit: string;
}
/**
 * A CPU profile as the boxes of a flame graph: each box is a function called by the function of the box around it.
 * The lists `function`, `depth`, `us` and `us_half` have one entry for each box; a box comes before the boxes in it.
 */
export interface FlameDocument {
  /**
   * The number of boxes around each box.
   */
  depth: number[];
  /**
   * The function of each box, as an index of `names`.
   */
  function: number[];
  /**
   * The names of functions.
   */
  names: string[];
  /**
   * How long it was taken, in seconds.
   */
  seconds: number | null;
  /**
   * Where the profile came from.
   */
  source: string;
  /**
   * CPU time per request, in µs.
   */
  total_us: number | null;
  total_us_interval: Interval;
  /**
   * CPU time per request in each box and the boxes in it, in µs.
   */
  us: number[];
  /**
   * Half the width of the 95 % interval of `us`.
   */
  us_half: number[];
}
/**
 * The throughput that the first sentences of `text` state.
 */
export interface HeadlineDocument {
  /**
   * How it relates to what the target can do: `exact`; `generator_limited`, a lower bound because the load
   * generator was the limit; `unfinished`, a lower bound because the run ended before it showed more.
   */
  bound: string;
  /**
   * Requests per second; null where no request succeeded, or no rate is known.
   */
  per_sec: number | null;
  /**
   * Index of the best step in `steps`: within the conditions, or else with the highest throughput; null if none of
   * its requests succeeded. After a search, `per_sec` comes from a trial, not from this step.
   */
  step: number | null;
  /**
   * What the target did with the requests: `held`, `answered` or `served`.
   */
  what: string;
}
/**
 * A run over time. Times are in seconds since the run began. Lists of one kind are equally long.
 */
export interface TimelineDocument {
  /**
   * The start of each window in which there was load.
   */
  at_sec: number[];
  /**
   * Requests due and not sent, at the end of the window.
   */
  backlog: number[];
  /**
   * Open connections, at the end of the window.
   */
  connections: number[];
  /**
   * Garbage collection, stalls, waits and the CPU of processes. Of each kind on a host, only the highest are
   * included.
   */
  curves: CurveDocument[];
  /**
   * Requests that fell due, per second; null where no load was on.
   */
  due_per_sec: (number | null)[];
  /**
   * The length of a window of the hosts.
   */
  host_window_sec: number | null;
  /**
   * The start of each window of the hosts.
   */
  hosts_at_sec: number[];
  /**
   * Requests sent and not answered, at the end of the window.
   */
  in_flight: number[];
  /**
   * The number of requests that ended in each bucket, for each window.
   */
  latency: LatencyCountsDocument[];
  /**
   * The bounds of the latency buckets in milliseconds, one more than there are buckets; empty without a response.
   */
  latency_bounds_ms: number[];
  /**
   * The median of latency in milliseconds; null where too few requests ended.
   */
  p50_ms: (number | null)[];
  /**
   * The 99th percentile, likewise.
   */
  p99_ms: (number | null)[];
  /**
   * The use of resources. Of the parts of a host, such as its threads, only the most used are included.
   */
  resources: ResourceOverTimeDocument[];
  /**
   * All steps, including those of a search and of overloads.
   */
  steps: StepSpanDocument[];
  /**
   * Responses per second; null where no load was on.
   */
  throughput_per_sec: (number | null)[];
  /**
   * Requests that ended without success.
   */
  unsuccessful: number[];
  /**
   * The length of a window of the load.
   */
  window_sec: number | null;
}
/**
 * A metric of a host, or of a part of it, over time that is not the use of a resource.
 */
export interface CurveDocument {
  /**
   * The host; `generator` for the machine that makes the load.
   */
  host: string;
  /**
   * The metric. Shares of the time: `gc_pauses`, `cpu_pressure`, `io_pressure`, `memory_pressure` (PSI, some),
   * `stalled` and `starved` (the worst worker of the generator), `cpu_wait` (the share of the CPU time that
   * processes of a host needed and did not get), `packet_time`. Other shares: `gc_threads`, of the CPU time of a
   * process; `heap`, of its limit; `throttled`, of periods; `stolen`, of CPU time. Threads: `lock_waits` and
   * `disk_waits`. Cores: `process_cpu`. Per second: `pages_fetched`, `queue_overflows` and `turned_away`.
   */
  kind: string;
  /**
   * The part of the host, such as the name of its processes; empty for the host itself.
   */
  of: string;
  /**
   * The unit of `values`: `ratio`, `threads`, `cores` or `per_sec`.
   */
  unit: string;
  /**
   * The value in each window, to four decimal places; null where it was not sampled.
   */
  values: (number | null)[];
}
/**
 * The number of requests that ended in each latency bucket within a window.
 */
export interface LatencyCountsDocument {
  /**
   * The counts from that bucket on, without trailing zeros.
   */
  counts: number[];
  /**
   * The first bucket that is not empty.
   */
  from: number;
}
/**
 * The use of one resource of a host over time.
 */
export interface ResourceOverTimeDocument {
  /**
   * The capacity; null where it is not known.
   */
  capacity: number | null;
  /**
   * The host; `generator` for the machine that makes the load.
   */
  host: string;
  /**
   * The part of the host; empty for the host itself.
   */
  of: string;
  /**
   * The resource, as in `hosts` of the document.
   */
  resource: string;
  /**
   * The unit of `used` and `capacity`.
   */
  unit: string;
  /**
   * How much was used in each window; null where it was not sampled.
   */
  used: (number | null)[];
}
/**
 * The time span of a step.
 */
export interface StepSpanDocument {
  /**
   * The start of the load.
   */
  began_sec: number | null;
  /**
   * Connections of a closed loop, or the initial connections of an open loop.
   */
  connections: number;
  /**
   * When the last request had ended.
   */
  drained_sec: number | null;
  /**
   * The end of the load.
   */
  ended_sec: number | null;
  /**
   * Its index in the run.
   */
  index: number;
  /**
   * `ladder`, `trial` of a search, `overload`, or `load` of a run with one level.
   */
  kind: string;
  /**
   * For an overload, `jump` or `ramp`; null for the rate itself and for other steps.
   */
  onset: string | null;
  /**
   * For an overload, its highest rate over the highest within the conditions, 1 for that rate itself; null if no
   * rate is known to hold, and for other steps.
   */
  overload_factor: number | null;
  /**
   * The offered rate of an open loop, requests per second.
   */
  rate_per_sec: number | null;
}
/**
 * The summary of several runs, or tables.
 */
export interface TogetherDocument {
  found: FoundTogether;
  /**
   * The heading.
   */
  name: string;
  /**
   * The number of runs that are not on the page, so that it stays small.
   */
  runs_left_out: number;
  /**
   * The answer as the terminal prints it.
   */
  text: string;
}
/**
 * A new run, or table, compared with an old one.
 */
export interface DiffDocument {
  /**
   * The steps of highest throughput; null if either run has none.
   */
  best: BestDocument | null;
  /**
   * Whether the new run is worse than the margin allows, by best throughput, success and highest rates: `within`,
   * `beyond` or `not_known`; null without a margin.
   */
  gate: string | null;
  /**
   * The highest rates; null unless both runs searched for theirs within the same conditions.
   */
  highest_rates: HighestRatesDocument | null;
  /**
   * How latency differs at a load that both runs measured; null if there is none, and for tables.
   */
  latency: LatencyDifferencesDocument | null;
  /**
   * How much worse the new run may be; null if no margin was given.
   */
  margin: number | null;
  /**
   * The name of the new one.
   */
  new: string;
  /**
   * Reasons not to compare the two; empty for tables, where they are not known.
   */
  not_comparable: IncomparableDocument[];
  /**
   * The name of the old run, the baseline.
   */
  old: string;
  /**
   * A row for every number of connections that either run measured. The old run is the baseline.
   */
  rows: ComparisonRowDocument[];
  /**
   * Always `plimsoll/diff/1`.
   */
  schema: string;
}
/**
 * The best step of each run.
 */
export interface BestDocument {
  /**
   * Connections of the baseline's step.
   */
  against_connections: number;
  /**
   * True if the baseline's throughput is a lower bound.
   */
  against_lower_bound: boolean;
  /**
   * Requests per second of the baseline.
   */
  against_per_sec: number | null;
  /**
   * Connections of that step.
   */
  connections: number;
  /**
   * True if that is a lower bound: the generator was the limit, or the ladder ended before it was known what more
   * connections serve, and the baseline's best step has another number of connections.
   */
  lower_bound: boolean;
  /**
   * Requests per second.
   */
  throughput_per_sec: number | null;
  /**
   * The throughput over that of the baseline.
   */
  throughput_ratio: number | null;
  throughput_ratio_interval: Interval;
}
/**
 * The highest rates of two searches.
 */
export interface HighestRatesDocument {
  /**
   * The lowest rate above it that did not hold; null if there was none.
   */
  against_broken_per_sec: number | null;
  /**
   * The highest rate that the old run held, requests per second; null if none did.
   */
  against_held_per_sec: number | null;
  /**
   * The lowest rate above it that did not hold; null if there was none.
   */
  broken_per_sec: number | null;
  /**
   * The highest rate that the new run held, requests per second; null if none did.
   */
  held_per_sec: number | null;
}
/**
 * How the latency of two runs differs at one load.
 */
export interface LatencyDifferencesDocument {
  /**
   * Connections of the load; null for an open loop.
   */
  connections: number | null;
  /**
   * The percentiles that are known of both runs.
   */
  percentiles: PercentileDifferenceDocument[];
  /**
   * The offered rate, requests per second; null for a closed loop.
   */
  rate_per_sec: number | null;
}
/**
 * A percentile of latency of two runs.
 */
export interface PercentileDifferenceDocument {
  /**
   * Its value in the baseline.
   */
  against_ms: number | null;
  /**
   * `ms` minus `against_ms`.
   */
  difference_ms: number | null;
  difference_ms_interval: Interval;
  /**
   * Its value in the run.
   */
  ms: number | null;
  /**
   * The percentile, from 0 to 100.
   */
  percentile: number | null;
}
/**
 * A reason not to compare two runs.
 */
export interface IncomparableDocument {
  /**
   * True if the figures should not be compared; false for `server` and `kernel`, in which two runs may well
   * differ.
   */
  grave: boolean;
  /**
   * The setting of the new run.
   */
  new: string | null;
  /**
   * The setting of the old run, without bodies and the values of queries and headers, so that it may read the same
   * as `new`; null if the reason concerns one run.
   */
  old: string | null;
  /**
   * The run that it concerns, `old` or `new`; null if it concerns both.
   */
  side: string | null;
  /**
   * Half the interval of throughput over its value, or the share of the processors that other processes used; null
   * for other reasons, or if it is not known.
   */
  value: number | null;
  /**
   * A setting in which the runs differ: `machine`, `cores`, `kernel`, `tool_version`, `driver`, `protocol`, `tls`,
   * `requests`, `load`, `keep_alive`, `server`; or a fault of one run: `generator_limited`, `unfinished` (its
   * ladder, if the best steps of the two differ in connections), `noisy` or `other_processes`.
   */
  why: string;
}
/**
 * One number of connections. The figures of a run that did not measure it are null.
 */
export interface ComparisonRowDocument {
  /**
   * True if the baseline's throughput is a lower bound.
   */
  against_lower_bound: boolean;
  /**
   * Mean response time of the baseline.
   */
  against_mean_ms: number | null;
  /**
   * Requests per second of the baseline.
   */
  against_per_sec: number | null;
  /**
   * The same ratio of the baseline.
   */
  against_success: number | null;
  /**
   * Connections.
   */
  connections: number;
  /**
   * True if that is a lower bound: the generator was the limit.
   */
  lower_bound: boolean;
  /**
   * Mean response time.
   */
  mean_ms: number | null;
  /**
   * The mean response time over that of the baseline.
   */
  mean_ratio: number | null;
  /**
   * Successful responses over all requests that ended.
   */
  success: number | null;
  /**
   * Requests per second.
   */
  throughput_per_sec: number | null;
  /**
   * The throughput over that of the baseline.
   */
  throughput_ratio: number | null;
  throughput_ratio_interval: Interval;
}
/**
 * Runs compared with a baseline.
 */
export interface ComparisonDocument {
  /**
   * The name of the baseline, the run that the others are compared with.
   */
  against: string;
  /**
   * True if the baseline's throughputs are lower bounds: the generator was the limit.
   */
  lower_bound: boolean;
  /**
   * The other runs. Every ratio is that of the run over the baseline.
   */
  runs: ComparedDocument[];
}
/**
 * One run compared with the baseline.
 */
export interface ComparedDocument {
  /**
   * The steps of highest throughput; null if either run has none.
   */
  best: BestDocument | null;
  /**
   * CPU time per request, function by function; null unless both runs have a profile.
   */
  cpu: CpuDifferenceDocument | null;
  /**
   * How latency differs at a load that both runs measured; null if there is none.
   */
  latency: LatencyDifferencesDocument | null;
  /**
   * True if its throughputs are lower bounds: the generator was the limit.
   */
  lower_bound: boolean;
  /**
   * The name of the run.
   */
  name: string;
  /**
   * A row for every number of connections that either run measured.
   */
  rows: ComparisonRowDocument[];
}
/**
 * The difference in CPU time per request between two runs.
 */
export interface CpuDifferenceDocument {
  /**
   * CPU time per request of the baseline.
   */
  against_us: number | null;
  /**
   * The functions that differ by more than the error of their samples, the largest difference first.
   */
  functions: FunctionDifferenceDocument[];
  /**
   * CPU time per request, in µs.
   */
  us: number | null;
}
/**
 * The difference in one function, per request.
 */
export interface FunctionDifferenceDocument {
  /**
   * The same time in the baseline.
   */
  against_us: number | null;
  /**
   * `us` minus `against_us`.
   */
  difference_us: number | null;
  difference_us_interval: Interval;
  /**
   * The difference of the time in the function itself.
   */
  flat_difference_us: number | null;
  flat_difference_us_interval: Interval;
  /**
   * The name of the function.
   */
  function: string;
  /**
   * CPU time in the function and in what it called, in µs.
   */
  us: number | null;
}
/**
 * Two services, A and B, loaded in turn. Every ratio is that of B over A.
 */
export interface AbDocument {
  /**
   * The maximum total time of the rounds.
   */
  budget_sec: number | null;
  /**
   * Connections of every load; null where they differed.
   */
  connections: number | null;
  /**
   * Whether the order of loads matters, if there were enough rounds to test it.
   */
  effects: AbEffectDocument[];
  /**
   * The time from the start of the first load to the end of the last.
   */
  elapsed_sec: number | null;
  /**
   * True if fewer requests of B succeed than of A, by more than 0.1 % of all requests with certainty.
   */
  fails_more: boolean;
  /**
   * The figures that are known, the main one first. Their intervals are simultaneous: all of them hold in 95 % of
   * comparisons.
   */
  figures: AbFigureDocument[];
  /**
   * Whether B fails more, or is worse than the margin allows: `within`, `beyond` or `not_known`.
   */
  gate: string;
  /**
   * `closed` (connections), `open` (a rate) or `search` (for the highest rate).
   */
  load: string;
  /**
   * How much worse B may be.
   */
  margin: number | null;
  /**
   * The half width at which the interval of the main ratio is narrow enough.
   */
  precision: number | null;
  /**
   * How the distributions of latency differ.
   */
  quantiles: AbQuantileDocument[];
  /**
   * The offered rate of every load, requests per second; null without one.
   */
  rate_per_sec: number | null;
  /**
   * The main figure of each round.
   */
  ratios: AbRoundDocument[];
  /**
   * True if the services were started for each load.
   */
  restarts: boolean;
  /**
   * Rounds in which both sides were measured.
   */
  rounds: number;
  /**
   * Always `plimsoll/ab/1`.
   */
  schema: string;
  /**
   * A, then B.
   */
  sides: AbSideDocument[];
}
/**
 * An effect on the measurement other than that of the side.
 */
export interface AbEffectDocument {
  /**
   * `order` (first or second of a round) or `carry_over` (which side was loaded before).
   */
  effect: string;
  /**
   * The effect on the logarithm of the main ratio.
   */
  size: number | null;
  size_interval: Interval;
  /**
   * True if the interval excludes 0.
   */
  sure: boolean;
}
/**
 * One figure of both sides.
 */
export interface AbFigureDocument {
  /**
   * Its median over the rounds of A.
   */
  a: number | null;
  /**
   * Its median over the rounds of B.
   */
  b: number | null;
  /**
   * The number of rounds, or groups of rounds, in which the figure is known.
   */
  count: number;
  /**
   * `throughput_per_sec`, `max_rate_per_sec` (of a search: the geometric middle of the highest rate that held and the lowest that
   * did not, or the former where none broke), `cpu_us` (of the service, for a request) or `latency_ms`.
   */
  figure: string;
  /**
   * True if later rounds contradict earlier ones.
   */
  moved: boolean;
  /**
   * The percentile of latency; null for any other figure.
   */
  percentile: number | null;
  /**
   * B over A.
   */
  ratio: number | null;
  ratio_interval: Interval;
  /**
   * About how many more rounds would make the interval narrow enough; null if that is not known or not needed.
   */
  rounds_more: number | null;
  /**
   * The largest possible difference of figures that are the same; null otherwise.
   */
  same_within: number | null;
  /**
   * `better`, `worse`, `same` (the interval is narrow and includes 1) or `not_known` (the interval is too wide, or
   * a side may be better than measured, so that it decides nothing).
   */
  verdict: string;
}
/**
 * A percentile of latency of both sides.
 */
export interface AbQuantileDocument {
  /**
   * Its median over the rounds of A.
   */
  a_ms: number | null;
  /**
   * Its median over the rounds of B.
   */
  b_ms: number | null;
  /**
   * B minus A.
   */
  difference_ms: number | null;
  difference_ms_interval: Interval;
  /**
   * The percentile, from 0 to 100.
   */
  percentile: number | null;
}
/**
 * One round.
 */
export interface AbRoundDocument {
  /**
   * The side that was loaded first.
   */
  first: string;
  /**
   * The main figure of B over that of A.
   */
  ratio: number | null;
  /**
   * The number of the round, from 1.
   */
  round: number;
}
/**
 * One side of the comparison.
 */
export interface AbSideDocument {
  /**
   * Its URL, or the command that started it.
   */
  label: string;
  /**
   * Loads that the generator limited; for a search, its ladder. If most were, `throughput_per_sec` and
   * `latency_ms` of this side may be better than measured.
   */
  limited: number;
  /**
   * The number of loads.
   */
  loads: number;
  /**
   * Searches that found a rate that holds and none that does not. If most did, `max_rate_per_sec` of this side is
   * a lower bound.
   */
  open_ended: number;
  /**
   * `A` or `B`.
   */
  side: string;
  /**
   * Requests that succeeded over all that ended; null if none ended.
   */
  success: number | null;
  success_interval: Interval;
  /**
   * Searches that ended before it was known whether any rate holds: their rounds lack the main figure.
   */
  undecided: number;
  /**
   * Loads that failed or were cut short.
   */
  unusable: number;
  /**
   * Searches whose highest rate that held and lowest that did not are further apart than twice the tolerance of the search.
   */
  wide: number;
  /**
   * Searches that found that no rate holds.
   */
  without_rate: number;
}
/**
 * All runs of a plan file.
 */
export interface LabRunDocument {
  /**
   * The loads at which a tier in front starts to limit the tiers behind it.
   */
  break_evens?: BreakEvenDocument[];
  /**
   * The runs compared with each baseline that `[compare]` names.
   */
  comparisons: ComparisonDocument[];
  /**
   * Conclusions from the rows, in words.
   */
  conclusions?: string[];
  /**
   * Figures and tables that were written next to the run files.
   */
  files: string[];
  /**
   * Machines for a rate; null without `[machines]`.
   */
  machines: PlanDocument | null;
  /**
   * The CPU profile of each run that has one.
   */
  profiles: ProfileDocument[];
  /**
   * The rows.
   */
  rows?: RunRowDocument[];
  /**
   * The file's own plan, then its variants.
   */
  runs: CaseDocument[];
  /**
   * Always `plimsoll/lab-run/1`.
   */
  schema: string;
  /**
   * What switches cost; null without `[[switch]]`.
   */
  switches: AblationDocument | null;
  /**
   * The tiers side by side; null unless runs differ in the machines of a tier.
   */
  tiers: TiersDocument | null;
}
/**
 * The load at which a tier in front starts to limit those behind it.
 */
export interface BreakEvenDocument {
  /**
   * The tiers behind it.
   */
  behind: PooledTierDocument[];
  /**
   * The throughput of each tier behind it at that load, requests per second.
   */
  each_per_sec: number | null;
  /**
   * The tier in front.
   */
  front: string;
  front_interval: Interval;
  /**
   * Its throughput, requests per second.
   */
  front_per_sec: number | null;
  held_interval_ms: Interval;
  /**
   * It limits requests that are held for less than this.
   */
  held_ms: number | null;
  /**
   * The rows near it, which were not used for the prediction.
   */
  trials: TriedRowDocument[];
}
/**
 * A tier that was measured alone at several held times. Its throughput is `at_once` over the time held plus `overhead_ms`.
 */
export interface PooledTierDocument {
  /**
   * How many requests it serves at once.
   */
  at_once: number | null;
  /**
   * Its throughput where another limit comes first; null if that was not measured.
   */
  most_per_sec: number | null;
  /**
   * Its name.
   */
  name: string;
  /**
   * The time of each request in addition to the time that it is held.
   */
  overhead_ms: number | null;
}
/**
 * A row near a break-even.
 */
export interface TriedRowDocument {
  /**
   * True if the measurement is within the range.
   */
  agrees: boolean;
  /**
   * How long its requests are held.
   */
  held_ms: number | null;
  /**
   * The name of the row.
   */
  label: string;
  predicted_interval: Interval;
  /**
   * The prediction, requests per second.
   */
  predicted_per_sec: number | null;
  /**
   * The measured throughput, requests per second.
   */
  throughput_per_sec: number | null;
}
/**
 * A plan of machines, and the plan after a change.
 */
export interface PlanDocument {
  /**
   * What the machines cost; null without prices.
   */
  cost: PlanCostDocument | null;
  /**
   * The machines of each hour; null unless the target is a curve.
   */
  day: DayDocument | null;
  /**
   * Where growth stops with the measured machines; null where that is not known.
   */
  growth: GrowthDocument | null;
  /**
   * Remarks about the whole plan, one sentence each.
   */
  remarks: string[];
  /**
   * Always `plimsoll/plan/1`.
   */
  schema: string;
  /**
   * The target rate, requests per second; for a curve its highest rate.
   */
  target_per_sec: number | null;
  /**
   * The tiers.
   */
  tiers: TierPlanDocument[];
  /**
   * The share of a machine's capacity that may be used.
   */
  utilisation: number | null;
  /**
   * The plan after a change; null unless one was requested.
   */
  what_if: WhatIfDocument | null;
}
/**
 * What a plan costs.
 */
export interface PlanCostDocument {
  /**
   * True if the plan may cost more: a tier may need more machines, or is left out.
   */
  at_least: boolean;
  /**
   * The currency as the user wrote it; empty where none is written.
   */
  currency: string;
  /**
   * True if the currency stands before the number: `$0.17`, not `0.17 EUR`.
   */
  currency_leads: boolean;
  /**
   * The sum over the tiers, per hour; null if all are left out.
   */
  per_hour: number | null;
  /**
   * What a million requests cost at the target rate; null if all tiers are left out.
   */
  per_million: number | null;
  /**
   * The tiers that have a price.
   */
  tiers: TierCostDocument[];
  /**
   * The tiers that are left out: without a price, or without a number of machines.
   */
  without: string[];
}
/**
 * The cheapest machines of a tier.
 */
export interface TierCostDocument {
  /**
   * The machines if all were of one size, for each size; empty unless several sizes have a price.
   */
  alone: PricedMachinesDocument[];
  /**
   * True if more may be needed.
   */
  at_least: boolean;
  /**
   * False if there were too many combinations to try all of them.
   */
  exact: boolean;
  /**
   * The machines of each size.
   */
  machines: PricedMachinesDocument[];
  /**
   * What they cost per hour.
   */
  per_hour: number | null;
  /**
   * The name of the tier.
   */
  tier: string;
}
/**
 * Machines of one size.
 */
export interface PricedMachinesDocument {
  /**
   * Cores of one machine; null where that is not known.
   */
  cores: number | null;
  /**
   * The number of machines.
   */
  count: number;
  /**
   * Inbound capacity of its link; null where no limit is known.
   */
  in_bits_per_sec: number | null;
  /**
   * Outbound capacity of its link.
   */
  out_bits_per_sec: number | null;
  /**
   * What one machine costs per hour.
   */
  per_hour: number | null;
}
/**
 * A target rate that changes, hour by hour.
 */
export interface DayDocument {
  /**
   * What all hours cost; null without prices, or where no tier has both a price and a number of machines at the peak.
   */
  cost: DayCostDocument | null;
  /**
   * The hours for which the curve has a row.
   */
  hours: HourDocument[];
  /**
   * True if the rows return to an earlier hour, such as rows of several days without dates: each hour has its
   * highest rate.
   */
  merges_days: boolean;
  /**
   * Hours between the first and the last that have no row. No sum includes them.
   */
  missing: number;
  /**
   * Machine-hours of each tier, in the order of `hours.machines`.
   */
  tiers: TierHoursDocument[];
}
/**
 * What all hours cost.
 */
export interface DayCostDocument {
  /**
   * True if it may cost more: a tier is left out, or may need more machines in an hour, or the cost of an hour is not known.
   */
  at_least: boolean;
  /**
   * The cost with the machines that each hour needs, without the hours whose cost is not known.
   */
  by_hour: number | null;
  /**
   * The cost with the machines of the peak in all hours.
   */
  constant: number | null;
  /**
   * The currency as the user wrote it; empty where none is written.
   */
  currency: string;
  /**
   * True if the currency stands before the number.
   */
  currency_leads: boolean;
  /**
   * The tiers that are left out: without a price, or without a number of machines.
   */
  without: string[];
}
/**
 * One hour.
 */
export interface HourDocument {
  /**
   * Whether each tier may need more.
   */
  at_least: boolean[];
  /**
   * What the machines of this hour cost. Null without prices, if no tier has both a price and a number of machines
   * at the peak, and if a tier that has both there has no number in this hour.
   */
  cost: number | null;
  /**
   * The start of the hour, in the time format of the curve.
   */
  hour: string;
  /**
   * Machines of each tier; null where it is not known how many.
   */
  machines: (number | null)[];
  /**
   * The number at both ends of the demand's interval; null where it is not known, and for a mix of sizes.
   */
  machines_interval: ([number, number] | null)[];
  /**
   * The hour as a number that grows by one each hour; a jump shows hours without a row.
   */
  number: number;
  /**
   * The highest rate within it, requests per second.
   */
  peak_per_sec: number | null;
  /**
   * The cheapest machines of each tier, by size; empty for a tier without a price or a number.
   */
  sizes: PricedMachinesDocument[][];
}
/**
 * Machine-hours of a tier.
 */
export interface TierHoursDocument {
  /**
   * Machine-hours with the machines that each hour needs; null if their number is not known.
   */
  by_hour: number | null;
  /**
   * Machine-hours with the machines of the peak in all hours.
   */
  constant: number | null;
  /**
   * The name of the tier.
   */
  tier: string;
}
/**
 * Where growth stops.
 */
export interface GrowthDocument {
  /**
   * Where that was measured.
   */
  at: string;
  /**
   * The throughput from which growth is extrapolated.
   */
  from_per_sec: number | null;
  /**
   * The resources that stop growth, the nearest first.
   */
  stops: StopDocument[];
}
/**
 * One resource that stops growth.
 */
export interface StopDocument {
  /**
   * The throughput at which the resource is full.
   */
  at_per_sec: number | null;
  at_per_sec_interval: Interval;
  /**
   * The part of the machine; empty for the machine itself.
   */
  detail: string;
  /**
   * The limit that a verdict names when the resource is full.
   */
  limit: string;
  /**
   * Machines of the tier.
   */
  machines: number | null;
  /**
   * The resource.
   */
  resource: string;
  /**
   * How well the tier scaled when machines were added, 1 for linear; null where that was not measured.
   */
  scaled: number | null;
  /**
   * False where it was predicted from other rows.
   */
  seen: boolean;
  /**
   * The tier.
   */
  tier: string;
  /**
   * The utilisation of the resource.
   */
  used: number | null;
}
/**
 * One tier.
 */
export interface TierPlanDocument {
  /**
   * True if more may be needed.
   */
  at_least: boolean;
  /**
   * The highest throughput measured through it; null where that is not known.
   */
  carried: CarriedDocument | null;
  /**
   * What is not known about it, one sentence each.
   */
  doubts: string[];
  /**
   * How many machines it needs; null where that is not known.
   */
  machines: number | null;
  /**
   * The number at both ends of the demand's interval; null where it is not known.
   *
   * @minItems 2
   * @maxItems 2
   */
  machines_interval: [number, number] | null;
  /**
   * One more than `machines`, so that one may fail.
   */
  machines_with_spare: number | null;
  /**
   * The needs of its resources, the decisive one first.
   */
  needs: NeedDocument[];
  /**
   * How throughput scaled with its machines; null where only one number of machines was measured.
   */
  scaling: ScalingDocument | null;
  /**
   * The rate that one machine of each observed size carries at `utilisation`; empty where sizes are not known.
   */
  sizes: SizeDocument[];
  /**
   * The name of the tier.
   */
  tier: string;
}
/**
 * The highest throughput measured through a tier.
 */
export interface CarriedDocument {
  /**
   * Where that was measured.
   */
  at: string;
  /**
   * The number of its machines in that measurement.
   */
  machines: number | null;
  /**
   * Requests per second.
   */
  throughput_per_sec: number | null;
}
/**
 * The need for one resource.
 */
export interface NeedDocument {
  /**
   * The capacity of one machine.
   */
  capacity: number | null;
  /**
   * The part of the machine: an interface, a thread; empty for the machine itself.
   */
  detail: string;
  /**
   * What the demand was found from.
   */
  from: string;
  /**
   * The use of one machine without requests.
   */
  idle: number | null;
  /**
   * The limit that a verdict names when the resource is full.
   */
  limit: string;
  /**
   * The number of machines that this resource needs, not rounded.
   */
  machines: number | null;
  /**
   * What a request uses in all machines of the tier together.
   */
  per_request: number | null;
  per_request_interval: Interval;
  /**
   * `cpu`, `core`, `thread`, `quota`, `bandwidth_in`, `bandwidth_out`, `bandwidth_both`, `packets_in`, `packets_out`,
   * `pool` or `alone` (the throughput of one machine measured alone).
   */
  resource: string;
  /**
   * The unit of `idle` and `capacity`; that of `per_request` is this times seconds.
   */
  unit: string;
  /**
   * The highest utilisation measured.
   */
  used_most: number | null;
}
/**
 * Throughput over the number of machines.
 */
export interface ScalingDocument {
  /**
   * The contention α between machines, 0 to 1, from fewer numbers of machines than the law needs; null if there is
   * none.
   */
  contention: number | null;
  /**
   * Throughput per machine with the most of them over that with the fewest.
   */
  efficiency: number | null;
  /**
   * Pairs of machines and requests per second.
   */
  points: [number, number][];
  /**
   * The row with the most machines, predicted from the others; null for fewer than three numbers of machines.
   */
  trial: TrialDocument | null;
  /**
   * The scalability law over machines; null where it was not fitted.
   */
  usl: LawDocument | null;
}
/**
 * A row that was left out of the fit, and its prediction from the others.
 */
export interface TrialDocument {
  /**
   * The number of its machines.
   */
  machines: number | null;
  /**
   * The measured requests per second.
   */
  measured_per_sec: number | null;
  /**
   * Requests per second, predicted from the other rows.
   */
  predicted_per_sec: number | null;
}
/**
 * X(N) = γN / (1 + α(N − 1) + βN(N − 1)), with 95 % intervals.
 */
export interface LawDocument {
  /**
   * The contention α.
   */
  alpha: number | null;
  alpha_interval: Interval;
  /**
   * The coherence β.
   */
  beta: number | null;
  beta_interval: Interval;
  /**
   * Requests per second of one machine.
   */
  gamma: number | null;
  gamma_interval: Interval;
  /**
   * The part of the scatter of throughput that the law explains, 1 for all.
   */
  r_squared: number | null;
}
/**
 * A size of machine that was observed.
 */
export interface SizeDocument {
  /**
   * Cores; null where that is not known.
   */
  cores: number | null;
  /**
   * Inbound capacity of its link; null where no limit is known.
   */
  in_bits_per_sec: number | null;
  /**
   * Outbound capacity of its link.
   */
  out_bits_per_sec: number | null;
  /**
   * Requests per second of one machine; null where that is not known.
   */
  per_sec: number | null;
}
/**
 * The plan after a change.
 */
export interface WhatIfDocument {
  /**
   * The change, as typed.
   */
  change: string;
  /**
   * Where growth stops after the change; null where that is not known.
   */
  growth: GrowthDocument | null;
  /**
   * Remarks about the plan after the change, one sentence each.
   */
  remarks: string[];
  /**
   * The tiers after the change.
   */
  tiers: TierPlanDocument[];
}
/**
 * The CPU profile of a run.
 */
export interface ProfileDocument {
  /**
   * The functions with the most CPU time, including what they called.
   */
  functions: FunctionDocument[];
  /**
   * The name of the run.
   */
  name: string;
  /**
   * How long the profile was taken, in seconds.
   */
  seconds: number | null;
  /**
   * Where the profile came from.
   */
  source: string;
  /**
   * Requests per second during that time.
   */
  throughput_per_sec: number | null;
  /**
   * CPU time per request, in µs.
   */
  us: number | null;
  us_interval: Interval;
}
/**
 * One function.
 */
export interface FunctionDocument {
  /**
   * The share of the CPU time spent in the function and in what it called.
   */
  cumulative: number | null;
  /**
   * CPU time per request in the function and in what it called, in µs.
   */
  cumulative_us: number | null;
  cumulative_us_interval: Interval;
  /**
   * The share of the CPU time spent in the function itself.
   */
  flat: number | null;
  /**
   * CPU time per request in the function itself, in µs.
   */
  flat_us: number | null;
  /**
   * The name of the function.
   */
  function: string;
}
/**
 * A row made from a run.
 */
export interface RunRowDocument {
  /**
   * The hosts and tiers that were measured alone.
   */
  alone: AloneDocument[];
  /**
   * Bytes received per second.
   */
  bytes_per_sec: number | null;
  /**
   * The confidence of the limit.
   */
  confidence: string;
  /**
   * Connections of that step.
   */
  connections: number;
  /**
   * Processors of the machines under test.
   */
  cores: number | null;
  /**
   * The tier that forwards requests.
   */
  front: string | null;
  /**
   * Rows of the same requests share a group.
   */
  group: string | null;
  /**
   * How long the test held each request.
   */
  held_ms: number | null;
  /**
   * The name of the row.
   */
  label: string;
  /**
   * What limits the target.
   */
  limit: string;
  /**
   * True if the generator was the limit.
   */
  lower_bound: boolean;
  /**
   * Mean response time of that step.
   */
  mean_ms: number | null;
  /**
   * The run.
   */
  name: string;
  /**
   * Bytes received for each response.
   */
  response_bytes: number | null;
  throughput_interval: Interval;
  /**
   * The highest throughput, requests per second.
   */
  throughput_per_sec: number | null;
  /**
   * The tiers.
   */
  tiers: TierUseDocument[];
  /**
   * The place of the limit.
   */
  where: string;
}
/**
 * A host or tier that was measured alone.
 */
export interface AloneDocument {
  /**
   * Its name.
   */
  name: string;
  /**
   * Requests per second.
   */
  throughput_per_sec: number | null;
}
/**
 * What a tier used.
 */
export interface TierUseDocument {
  /**
   * The utilisation of their CPU, 0 to 1.
   */
  cpu: number | null;
  /**
   * Bits per second into each machine.
   */
  in_bits_per_sec: number | null;
  /**
   * The utilisation of its link in the busier direction, 0 to 1.
   */
  link: number | null;
  /**
   * The number of its machines.
   */
  machines: number;
  /**
   * Bits per second out of each machine.
   */
  out_bits_per_sec: number | null;
  /**
   * The name of the tier.
   */
  tier: string;
}
/**
 * The result of one plan.
 */
export interface CaseDocument {
  /**
   * Limits that the evidence does not exclude.
   */
  also: NamedLimitDocument[];
  /**
   * The confidence of the verdict; null if the plan could not be run.
   */
  confidence: string | null;
  /**
   * Connections of that step.
   */
  connections: number | null;
  /**
   * What the file expects; null if it expects nothing.
   */
  expected: ExpectedDocument | null;
  /**
   * The run file; null if the plan could not be run.
   */
  file: string | null;
  /**
   * The limit that was found; null if the plan could not be run.
   */
  found: FoundDocument | null;
  /**
   * True if the generator was the limit of that step; null if the plan could not be run.
   */
  lower_bound: boolean | null;
  /**
   * The file's name; for a variant, followed by a slash and the variant's name.
   */
  name: string;
  /**
   * How the target behaved under overload: the `class` of an overload; null if it was not overloaded.
   */
  overload: string | null;
  /**
   * 99th percentile of latency of that step.
   */
  p99_ms: number | null;
  /**
   * The effect of a ramp to the highest overload: the `ramp` of an overload; null if it is not known.
   */
  ramp: string | null;
  /**
   * Whether the result is the expected one; null if nothing was expected.
   */
  right: boolean | null;
  /**
   * The verdict in words, or why the plan could not be run.
   */
  text: string;
  /**
   * The highest throughput, requests per second.
   */
  throughput_per_sec: number | null;
}
/**
 * A limit and where it is.
 */
export interface NamedLimitDocument {
  /**
   * The limit, as in a verdict.
   */
  limit: string;
  /**
   * The host; null where an expectation leaves it open.
   */
  where: string | null;
}
/**
 * The limit that is expected.
 */
export interface ExpectedDocument {
  /**
   * All limits, where several are too close to be distinguished.
   */
  either?: NamedLimitDocument[];
  /**
   * The limit, as in a verdict.
   */
  limit: string;
  /**
   * The expected classes of an overload, any of which is right.
   */
  overload?: string[];
  /**
   * The expected effect of a ramp.
   */
  ramp?: string | null;
  /**
   * The size of a pool.
   */
  size: number | null;
  /**
   * The host; null where an expectation leaves it open.
   */
  where: string | null;
}
/**
 * The limit that was found.
 */
export interface FoundDocument {
  /**
   * The limit, as in a verdict.
   */
  limit: string;
  /**
   * The size of a pool.
   */
  size: number | null;
  /**
   * The host; null where an expectation leaves it open.
   */
  where: string | null;
}
/**
 * Ledgers, and what the steps between them changed. `switches` are in the order of the settings.
 */
export interface AblationDocument {
  /**
   * Connections of all runs; null where that is not known.
   */
  connections: number | null;
  /**
   * A ledger for each state of the service.
   */
  ledgers: LedgerDocument[];
  /**
   * Always `plimsoll/ablation/1`.
   */
  schema: string;
  /**
   * Combinations that were measured in two consecutive states.
   */
  steps: ReplayDocument[];
}
/**
 * The ledger of one state.
 */
export interface LedgerDocument {
  /**
   * The combinations.
   */
  cells: CellDocument[];
  /**
   * The switches, the most expensive first.
   */
  costs: CostDocument[];
  /**
   * `full`, `one_at_a_time` or `given`.
   */
  design: string;
  /**
   * Interactions whose interval excludes zero.
   */
  interactions: InteractionDocument[];
  /**
   * Why `noise` is not known, and what follows from that, in words; null where it is known.
   */
  no_noise: string | null;
  /**
   * The variation from one run to the next: one standard deviation as a ratio of the time. Null without repeats.
   */
  noise: number | null;
  /**
   * The order in which to fix them, with the result of each step.
   */
  order: FixDocument[];
  /**
   * Runs in which the load generator was the limit: their combinations take less time than stated.
   */
  runs_at_most: number;
  /**
   * The name of the state; null where there is only one.
   */
  state: string | null;
  /**
   * Switches whose cost cannot be found: no two combinations differ in one of them alone.
   */
  unknown: string[];
}
/**
 * One combination of switches.
 */
export interface CellDocument {
  /**
   * Other figures of a request.
   */
  figures: SwitchFigureDocument[];
  /**
   * The switches that are on.
   */
  on: string[];
  /**
   * The number of runs.
   */
  runs: number;
  /**
   * Requests per second.
   */
  throughput_per_sec: number | null;
  /**
   * The time of a request.
   */
  time_us: number | null;
  time_us_interval: Interval;
}
/**
 * Another figure of a request, such as its CPU time on one host.
 */
export interface SwitchFigureDocument {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its value, or what the switch adds to it; null where it was not measured.
   */
  value: number | null;
}
/**
 * What a switch costs.
 */
export interface CostDocument {
  /**
   * The time it adds in each setting of the other switches.
   */
  contexts: ContextDocument[];
  /**
   * The time it adds to a request: the mean over all measured settings of the others.
   */
  cost_us: number | null;
  cost_us_interval: Interval;
  /**
   * What it adds to other figures of a request.
   */
  figures: SwitchFigureDocument[];
  /**
   * The switch.
   */
  switch: string;
}
/**
 * What a switch costs in one setting of the other switches.
 */
export interface ContextDocument {
  /**
   * The time it adds in that setting.
   */
  cost_us: number | null;
  cost_us_interval: Interval;
  /**
   * The other switches that are on.
   */
  others_on: string[];
}
/**
 * Two switches whose cost together differs from the sum of their costs.
 */
export interface InteractionDocument {
  /**
   * The difference from the sum of their costs.
   */
  extra_us: number | null;
  extra_us_interval: Interval;
  /**
   * The first switch.
   */
  switch: string;
  /**
   * The second switch; null for all others together.
   */
  with: string | null;
}
/**
 * One switch turned off.
 */
export interface FixDocument {
  /**
   * False where that combination was predicted, not measured.
   */
  measured: boolean;
  /**
   * The switch.
   */
  switch: string;
  /**
   * Requests per second after that.
   */
  throughput_per_sec: number | null;
  /**
   * The switches that could be fixed instead: these runs do not distinguish them.
   */
  ties: string[];
  /**
   * The time of a request after that.
   */
  time_us: number | null;
}
/**
 * A combination of switches in two states.
 */
export interface ReplayDocument {
  /**
   * The time of a request after.
   */
  after_us: number | null;
  /**
   * The time of a request before.
   */
  before_us: number | null;
  /**
   * The earlier state.
   */
  from: string | null;
  /**
   * The switches that are on.
   */
  on: string[];
  /**
   * The later state.
   */
  to: string | null;
}
/**
 * All runs as one document.
 */
export interface TiersDocument {
  /**
   * One row for each run that has a step in which 95 % of the requests succeeded.
   */
  rows: TierRowDocument[];
  /**
   * Runs that differ only in the machines of one tier.
   */
  scalings: TierScalingDocument[];
  /**
   * Always `plimsoll/tiers/1`.
   */
  schema: string;
  /**
   * Runs without a row: in none of their steps did 95 % of the requests succeed.
   */
  without_row: string[];
}
/**
 * One run.
 */
export interface TierRowDocument {
  /**
   * The confidence of the limit.
   */
  confidence: string;
  /**
   * Connections of that step.
   */
  connections: number;
  /**
   * Throughput per machine compared with the row of the fewest machines, for each tier of which another row has
   * fewer machines, all else equal.
   */
  efficiencies: EfficiencyDocument[];
  /**
   * The kind of requests. Only rows of the same kind are compared.
   */
  kind: number;
  /**
   * What limits the target.
   */
  limit: string;
  /**
   * The tier that limits.
   */
  limiting_tier: string;
  /**
   * True if the generator was the limit.
   */
  lower_bound: boolean;
  /**
   * Mean response time of that step.
   */
  mean_ms: number | null;
  /**
   * Its name.
   */
  name: string;
  throughput_interval: Interval;
  /**
   * The highest throughput of the steps in which 95 % of the requests succeeded, requests per second.
   */
  throughput_per_sec: number | null;
  /**
   * The tiers.
   */
  tiers: TierUseDocument[];
}
/**
 * How well a tier scaled out.
 */
export interface EfficiencyDocument {
  /**
   * Throughput per machine, over that of the other row: 1 for linear.
   */
  efficiency: number | null;
  /**
   * The number of its machines in the other row.
   */
  from: number;
  /**
   * True if the throughput of the other row is a lower bound.
   */
  from_lower_bound: boolean;
  interval: Interval;
  /**
   * The tier.
   */
  tier: string;
}
/**
 * Throughput over the machines of one tier.
 */
export interface TierScalingDocument {
  /**
   * The other tiers with their machines.
   */
  others: string;
  /**
   * Machines, requests per second, and requests per second if throughput were linear from the fewest machines.
   */
  points: [number, number, number][];
  /**
   * The tier.
   */
  tier: string;
}
/**
 * The rate that given machines carry, and the rate after a change of the machines.
 */
export interface FleetDocument {
  capacity: FleetCapacityDocument;
  /**
   * Always `plimsoll/fleet/1`.
   */
  schema: string;
  /**
   * What they carry after the change; null unless one was requested.
   */
  what_if: FleetWhatIfDocument | null;
}
/**
 * What machines carry.
 */
export interface FleetCapacityDocument {
  /**
   * Where that was measured.
   */
  at: string;
  /**
   * True if a limit that was not observed may stop growth earlier.
   */
  at_most: boolean;
  /**
   * What is not known, one sentence each.
   */
  doubts: string[];
  /**
   * The measured throughput from which growth is extrapolated, requests per second.
   */
  from_per_sec: number | null;
  /**
   * The tier that decides `held_per_sec`.
   */
  held_by: string | null;
  /**
   * The highest rate for which a plan asks for no more machines than these, for the kind of requests that is most
   * expensive for each tier; null where it is not known. An upper bound if `at_most` is true.
   */
  held_per_sec: number | null;
  /**
   * The limits that stop growth, the first limit first.
   */
  limits: FleetLimitDocument[];
  /**
   * All tiers with their machines.
   */
  machines: TierMachinesDocument[];
  /**
   * The throughput at which growth stops, requests per second; null where that is not known.
   */
  per_sec: number | null;
  per_sec_interval: Interval;
  /**
   * The share of a machine that may be used for `held_per_sec`.
   */
  utilisation: number | null;
}
/**
 * The highest throughput that one tier allows.
 */
export interface FleetLimitDocument {
  /**
   * `resource`, `contention` of the machines, or `halt`: what stopped a run.
   */
  cause: string;
  /**
   * The number of its machines.
   */
  machines: number | null;
  /**
   * The share of the resource that was used where the cost of a request was measured; null if the cause is not a
   * resource.
   */
  observed_share: number | null;
  /**
   * The highest throughput, requests per second.
   */
  per_sec: number | null;
  per_sec_interval: Interval;
  /**
   * The resource, as in a plan, or the limit of the run that was stopped; null for contention.
   */
  resource: string | null;
  /**
   * What stops growth, in words: `the CPU of 3 machines`.
   */
  text: string;
  /**
   * The tier.
   */
  tier: string;
}
/**
 * A tier and its machines.
 */
export interface TierMachinesDocument {
  /**
   * The number of its machines.
   */
  machines: number | null;
  /**
   * The name of the tier.
   */
  tier: string;
}
/**
 * The capacity after a change.
 */
export interface FleetWhatIfDocument {
  capacity: FleetCapacityDocument;
  /**
   * The change, as typed.
   */
  change: string;
}
