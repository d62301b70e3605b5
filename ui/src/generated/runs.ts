// Generated from docs/runs.schema.json by `npm run types`. Do not edit.

/**
 * A 95 % interval; null where too little is known for one, or where a bound is not finite.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Interval = [number, number] | null;

/**
 * Recorded runs with their key figures.
 */
export interface RunsDocument {
  /**
   * The runs, in the order asked for.
   */
  runs: RunEntryDocument[];
  /**
   * Always `plimsoll/runs/1`.
   */
  schema: string;
  /**
   * Run files without key figures, because they cannot be read, or only in part.
   */
  unreadable: UnreadableRunDocument[];
}
/**
 * One recorded run.
 */
export interface RunEntryDocument {
  /**
   * The lowest rate of a search at which they did not; null if none was found, so that a higher rate may hold.
   */
  broken_per_sec: number | null;
  /**
   * The command that made it.
   */
  command: string;
  /**
   * CPU time of the target per request, in microseconds; null where its host was not sampled.
   */
  cpu_us_per_request: number | null;
  /**
   * True if the user, a lost target or a failed step ended it before all of its load was made.
   */
  ended_early: boolean;
  /**
   * The name of its file.
   */
  file: string;
  /**
   * False if the load generator was not healthy.
   */
  generator_healthy: boolean;
  /**
   * The highest rate of a search at which the conditions held; null without a search.
   */
  held_per_sec: number | null;
  /**
   * The host that made the load.
   */
  hostname: string;
  /**
   * The id of a run that ended in order, the same wherever the run is stored; null for a run that did not.
   */
  id: string | null;
  /**
   * What limits the target, as in the verdict of the run.
   */
  limit: string;
  /**
   * True if the target may serve more than that.
   */
  lower_bound: boolean;
  /**
   * The run's name.
   */
  name: string;
  /**
   * Median latency: of a search at the rate that it found, null if it found none; of other runs at the step of the
   * throughput.
   */
  p50_ms: number | null;
  /**
   * 99th percentile of the same requests; null also if too few ended.
   */
  p99_ms: number | null;
  /**
   * SHA-256 of the plan, in hex: equal hashes mean the same load.
   */
  plan_hash: string;
  /**
   * When it began, in milliseconds since 1970-01-01 UTC.
   */
  started_unix_ms: number;
  /**
   * The success ratio; for a search that found no rate, at the step of the throughput.
   */
  success_ratio: number | null;
  /**
   * Values by key; empty for a tag that is a word.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * The URL that got the load, without the values of its query.
   */
  target: string;
  throughput_interval: Interval;
  /**
   * Requests served per second.
   */
  throughput_per_sec: number | null;
  /**
   * The version of Plimsoll that made it.
   */
  tool_version: string;
}
/**
 * A run file that is damaged or cannot be read.
 */
export interface UnreadableRunDocument {
  /**
   * True if a part of the run is intact: a page of it shows that part.
   */
  damaged_in_part: boolean;
  /**
   * The name of the file.
   */
  file: string;
  /**
   * Why, and what to do.
   */
  reason: string;
}
