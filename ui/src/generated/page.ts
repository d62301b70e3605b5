// Generated from docs/page.schema.json by `npm run types`. Do not edit.

/**
 * A 95 % interval; null where too little is known for one, or where a bound is not finite.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Interval = [number, number] | null;

/**
 * What a page shows.
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
}
/**
 * One run.
 */
export interface PageRunDocument {
  document: Document;
  /**
   * Its name.
   */
  name: string;
  /**
   * The URL of the target, as it may be shown.
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
   * What of the run file does not match its digests; all figures are of the rest. Empty for an intact file.
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
  generator: GeneratorDocument;
  /**
   * The hosts that were sampled. The load generator has a part of its own.
   */
  hosts: HostDocument[];
  machine: MachineDocument;
  /**
   * What becomes of the target under overload; null if it was not overloaded.
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
   * Numbers of connections of the ladder that were not tried, because this machine cannot open so many.
   */
  steps_not_run: number[];
  /**
   * The processes that requests pass, the target first, as far as sockets led to them.
   */
  tiers: TierDocument[];
  tool: ToolDocument;
  verdict: VerdictDocument;
}
/**
 * How much the target holds.
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
   * The highest throughput within the latency and success limits of the SLO: the highest rate of arrivals that held, or of a
   * ladder without a search that of its best step. Null if nothing met them, or none was given.
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
 * The SLO and whether it held. A limit is null where it was not given. Whether it held is null
 * where too little is known.
 */
export interface SloDocument {
  /**
   * Index of the step of the highest throughput within the limits of latency and success.
   */
  best_step: number | null;
  /**
   * The limits of latency, the lowest percentile first.
   */
  latency: LatencyLimitDocument[];
  /**
   * Whether it was reached.
   */
  success_held: boolean | null;
  /**
   * The minimum ratio of successful responses.
   */
  success_ratio: number | null;
  /**
   * Whether it was reached within the other limits.
   */
  throughput_held: boolean | null;
  /**
   * The minimum throughput, requests per second.
   */
  throughput_per_sec: number | null;
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
   * What, as a name.
   */
  kind: string;
  /**
   * The same in words.
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
   * The value; null where it could not be found.
   */
  value: number | null;
  /**
   * The same in words, with the unit.
   */
  what: string;
}
/**
 * One line of evidence.
 */
export interface EvidenceDocument {
  /**
   * Where.
   */
  at: string;
  /**
   * Its capacity, or the value it is compared with.
   */
  of: number | null;
  /**
   * Its value.
   */
  value: number | null;
  /**
   * What was observed.
   */
  what: string;
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
   * Each worker while measured.
   */
  by_worker: WorkerDocument[];
  /**
   * The same reasons, each with its value, its bound and its remedy.
   */
  causes: CauseDocument[];
  /**
   * How close each worker came to the maximum of one worker on this machine; null where that was not measured or does
   * not apply.
   */
  ceiling: CeilingDocument | null;
  /**
   * CPU seconds of all workers.
   */
  cpu_sec: number | null;
  /**
   * What drove the connections: `epoll` or `io_uring`.
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
   * Mean of open connections over those of the step, in a closed loop.
   */
  open_ratio: number | null;
  /**
   * Why it is not healthy, in words.
   */
  reasons: string[];
  send_lag_ms: LagDocument;
  /**
   * The highest ratio of the step's time that any worker should have run and did not, 0 to 1: the process was stopped, or the
   * machine suspended.
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
   * The same in words.
   */
  what: string;
}
/**
 * How close each worker came to the maximum of one worker on this machine.
 */
export interface CeilingDocument {
  /**
   * Age of the calibration when the run began.
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
 * How late requests left, in milliseconds.
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
   * What could not be read.
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
   * How much there is; null where that is not known.
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
   * The unit of both.
   */
  unit: string;
  /**
   * How much was used: the mean over the measured time for what is spent, the maximum for what is held.
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
 * What becomes of the target when more is offered than it holds.
 */
export interface OverloadDocument {
  /**
   * The lowest overload that shows it, as a multiple of the rate; null where none does.
   */
  at_factor: number | null;
  /**
   * `graceful`, `degrades`, `collapses`, `metastable`, `not_overloaded` or `unknown`.
   */
  class: string;
  /**
   * Why the class is not known: `base`, `generator`, `too_few`, `interrupted`, `rate_not_held` or `no_rate`; null if it
   * is.
   */
  doubt: string | null;
  /**
   * Goodput counts the successes within this time of the instant they were due; null if every success counts.
   */
  limit_ms: number | null;
  /**
   * The limits that protect the target; null where no rate is known to hold.
   */
  protection: ProtectionDocument | null;
  /**
   * What a ramp to the highest overload changes, compared with a jump: `none`, `helps` or `hurts`; null if not known.
   */
  ramp: string | null;
  /**
   * The highest rate within the conditions, as given or found, requests per second.
   */
  rate_per_sec: number | null;
  /**
   * That rate itself, in the second half of its time.
   */
  reference: OverloadPhaseDocument | null;
  /**
   * The overloads, in order.
   */
  steps: OverloadStepDocument[];
}
/**
 * The limits that keep a service within what it holds.
 */
export interface ProtectionDocument {
  /**
   * Requests that may be let in at once beyond an even flow.
   */
  burst: number;
  /**
   * The most requests to be worked on at a time.
   */
  concurrency: number;
  /**
   * Requests in progress at that rate on average.
   */
  in_progress: number | null;
  /**
   * The most requests a second to be let in.
   */
  rate_per_sec: number | null;
  /**
   * The longest that a request should wait to be let in.
   */
  wait_ms: number | null;
}
/**
 * A span of the load.
 */
export interface OverloadPhaseDocument {
  /**
   * Requests that waited for a connection at its end.
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
   * Those over all requests that fell due, or ended if these are more; null without any.
   */
  good_ratio: number | null;
  goodput_interval: Interval;
  /**
   * Successes within the limit of latency, per second.
   */
  goodput_per_sec: number | null;
  /**
   * Requests sent and not answered at its end.
   */
  in_flight: number;
  /**
   * Successes after the limit.
   */
  late: number;
  /**
   * The rate that was to be offered, requests per second; its mean where it changes.
   */
  offered_per_sec: number | null;
  /**
   * Median of the latency of what ended; null with too few requests.
   */
  p50_ms: number | null;
  /**
   * 99th percentile of that.
   */
  p99_ms: number | null;
  /**
   * Responses without success.
   */
  refused: number;
  /**
   * Its length.
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
   * Why it is not known; null if it is.
   */
  doubt: string | null;
  /**
   * The offered rate over the highest within the conditions.
   */
  factor: number | null;
  /**
   * Goodput over that at the rate that holds.
   */
  kept: number | null;
  kept_interval: Interval;
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
   * The course of the step.
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
 * The target before the load.
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
   * True if all of them are the generator's own.
   */
  local: boolean;
  /**
   * Time to resolve the name.
   */
  resolve_ms: number | null;
  /**
   * How many requests a server of HTTP/2 allows on one connection at a time; null where it sets no limit.
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
   * From the first byte sent to the last byte received.
   */
  service_ms: number | null;
  /**
   * The response's status.
   */
  status: number;
}
/**
 * What the run was.
 */
export interface RunDocument {
  /**
   * The command that made it: `answer`, `sweep`, `run`, `lab` or `wrk`.
   */
  command: string;
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
   * How they were encrypted; null if they were not.
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
 * The highest rate of requests that arrive at random at which the conditions hold.
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
   * Two rates that no chance explains: the maximum moved during the search. Null if it did not.
   */
  drift: DriftDocument | null;
  /**
   * Why the search ended: `found`, `unfinished` (budget or user), `generator_limited` or `never_held`.
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
   * Every rate that was tried, in order.
   */
  trials: SearchTrialDocument[];
}
/**
 * A maximum that moved.
 */
export interface DriftDocument {
  /**
   * The lower rate that broke at another.
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
   * `held`, `broken`, `close` (too near to the limit to be decided in its time) or `generator_limited`.
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
   * How much throughput rose within a step of a closed loop, in relation to its mean; below zero if it fell. Null where
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
   * Responses with a status of 200 to 399 that passed every check.
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
   * Seconds of warm-up that were left out.
   */
  warmup_sec: number | null;
}
/**
 * A distribution of times in milliseconds. A value is null where too few requests ended to know it.
 */
export interface TimesDocument {
  /**
   * How many times are in it.
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
   * Responses with a status of 200 to 399 that passed every check.
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
 * A process that requests pass.
 */
export interface TierDocument {
  /**
   * How many connections away from the generator it is, from 1.
   */
  depth: number;
  /**
   * What it is connected to.
   */
  downstream: EdgeDocument[];
  /**
   * Its host, or its address where the host is not sampled.
   */
  host: string;
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
   * The maximum number of them at one time.
   */
  connections: number;
  /**
   * The position of the other among `tiers`.
   */
  to: number;
}
/**
 * What made the run.
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
   * What is not the limit, and why.
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
   * The result of the experiment on it; null if there was none.
   */
  proof: ProofDocument | null;
  /**
   * The size of what is used up, such as the workers of a pool; null if it cannot be counted.
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
   * The throughput at which it stops growth, requests per second; null if that is not known.
   */
  at_per_sec: number | null;
  /**
   * The limit: a value of `limit` of a verdict.
   */
  limit: string;
  /**
   * Where.
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
   * Where.
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
   * The name of what it is of the host; empty for all of it.
   */
  name: string;
}
/**
 * An experiment on the verdict: a cap of a lab's host was raised, and the same load repeated.
 */
export interface ProofDocument {
  /**
   * Its amount after.
   */
  after: number;
  /**
   * Throughput after, requests per second; null if the load was not repeated.
   */
  after_per_sec: number | null;
  /**
   * Its amount before.
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
   * The host.
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
   * The second over the first.
   */
  ratio: number | null;
  ratio_interval: Interval;
  /**
   * The unit of its amounts.
   */
  unit: string;
}
/**
 * A run over time. Times are in seconds since the run began. Lists of one kind are equally long.
 */
export interface TimelineDocument {
  /**
   * The begin of each window in which there was load.
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
   * Requests that fell due, per second; null where no load was on.
   */
  due_per_sec: (number | null)[];
  /**
   * The length of a window of the hosts.
   */
  host_window_sec: number | null;
  /**
   * The begin of each window of the hosts.
   */
  hosts_at_sec: number[];
  /**
   * Requests sent and not answered, at the end of the window.
   */
  in_flight: number[];
  /**
   * How many requests ended in each class, for each window.
   */
  latency: LatencyCountsDocument[];
  /**
   * The bounds of the classes of latency in milliseconds, one more than there are classes; empty without a response.
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
   * What was used of resources. Of the parts of a host, such as its threads, those that were used most.
   */
  resources: ResourceOverTimeDocument[];
  /**
   * The steps, those of a search and of overloads too.
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
 * How many requests ended in each class of latency within a window.
 */
export interface LatencyCountsDocument {
  /**
   * The counts from that class on, without zeros at the end.
   */
  counts: number[];
  /**
   * The first class that has any.
   */
  from: number;
}
/**
 * The use of one resource of a host over time.
 */
export interface ResourceOverTimeDocument {
  /**
   * How much there is; null where that is not known.
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
 * When a step was.
 */
export interface StepSpanDocument {
  /**
   * The load.
   */
  began_sec: number | null;
  /**
   * Connections of a closed loop; those that an open loop began with.
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
   * The offered rate of an open loop, requests per second.
   */
  rate_per_sec: number | null;
}
