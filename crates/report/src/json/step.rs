//! One step: counts, throughput, distributions.

use plimsoll_analyze::{Findings, Percentile, Steadiness, StepSummary, TimeSummary};
use plimsoll_record::{FailureCounts, Run, StatusCounts, StepEnd};
use schemars::JsonSchema;
use serde::Serialize;

use super::generator::GeneratorDocument;
use super::moment::MomentDocument;
use super::request::{RequestDocument, failed_checks};
use super::{bounds, finite, ms};

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepDocument {
    /// Index of the step in the run.
    pub index: u32,
    /// Connections of a closed loop, or those an open loop began with.
    pub connections: u32,
    /// The most requests under way on one connection.
    pub depth: u16,
    /// The offered rate of an open loop, requests per second, its mean where it changes; null for a closed loop.
    pub rate_per_sec: Option<f64>,
    /// Seconds that were measured: after the warm-up and before the drain, or until the target was lost.
    pub duration_sec: Option<f64>,
    /// Seconds of warm-up that were left out.
    pub warmup_sec: Option<f64>,
    /// Seconds it took for the requests under way to end.
    pub drain_sec: Option<f64>,
    /// Requests that were due, over the whole step.
    pub intended: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Complete responses of whatever status.
    pub completed: u64,
    /// Responses with a status of 200 to 399 that passed every check.
    pub ok: u64,
    /// Responses by status; `0` stands for any outside 100 to 599.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub status: StatusCounts,
    /// Failed requests by kind.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub failed: FailureCounts,
    /// Responses that failed a check, by check; they are completed and not ok.
    pub failed_checks: std::collections::BTreeMap<String, u64>,
    /// Bytes received, heads included.
    pub bytes_in: u64,
    /// Bytes sent, heads included.
    pub bytes_out: u64,
    /// Bytes received per second while measured.
    pub bytes_in_per_sec: Option<f64>,
    /// Connections opened again after the server had closed them between two requests.
    pub reconnects: u64,
    /// Connections opened, the first ones included.
    pub connects: u64,
    /// TLS handshakes completed.
    pub handshakes: u64,
    /// TLS handshakes that resumed an earlier session.
    pub resumed: u64,
    /// Responses per second while measured.
    pub throughput_per_sec: Option<f64>,
    /// Its 95 % interval, or null where it is not known.
    pub throughput_interval: Option<[f64; 2]>,
    /// Responses with success over everything that ended, warm-up and drain included; null if nothing ended.
    pub success_ratio: Option<f64>,
    /// Its 95 % interval, with room below 1 even where all succeeded; null if nothing ended.
    pub success_interval: Option<[f64; 2]>,
    /// True if throughput settled to within ±2 %.
    pub steady: bool,
    /// `steady`, `wide`, `moving`, `too_short`, or `ramp` where the offered rate was to change.
    pub steadiness: &'static str,
    /// Why the load ended: `steady`, `time_limit`, `request_limit`, `stopped`, `cut` or `target_lost`.
    #[schemars(with = "String")]
    pub end: StepEnd,
    /// done − intended.
    pub latency_ms: TimesDocument,
    /// done − sent.
    pub service_ms: TimesDocument,
    /// Time to open a connection, a TLS handshake included, of those opened while measured.
    pub connect_ms: TimesDocument,
    /// The TLS handshake's part of it.
    pub handshake_ms: TimesDocument,
    /// The requests of a plan of several, in its order; empty for a plan of one, whose figures are those of the step.
    pub requests: Vec<RequestDocument>,
    /// The step over time where the offered rate changes; else empty.
    pub over_time: Vec<MomentDocument>,
    /// The generator's check of itself during this step.
    pub generator: GeneratorDocument,
}

impl StepDocument {
    pub(super) fn of(run: &Run, findings: &Findings, step: &StepSummary) -> Self {
        let plan = &findings.plan;
        let counts = &step.counts;
        Self {
            index: step.index,
            connections: step.connections,
            depth: step.depth,
            rate_per_sec: step.rate_per_sec,
            duration_sec: finite(step.measured_sec),
            warmup_sec: finite(step.warmup_sec),
            drain_sec: finite(step.drain_sec),
            intended: counts.intended,
            sent: counts.sent,
            completed: counts.completed,
            ok: counts.ok,
            status: counts.status.clone(),
            failed: counts.failed,
            failed_checks: failed_checks(plan, &counts.checks),
            bytes_in: counts.bytes_in,
            bytes_out: counts.bytes_out,
            bytes_in_per_sec: finite(step.bytes_in_per_sec),
            reconnects: counts.reconnects,
            connects: counts.connects,
            handshakes: counts.handshakes,
            resumed: counts.resumed,
            throughput_per_sec: finite(step.throughput.value),
            throughput_interval: bounds(step.throughput.interval),
            success_ratio: step.success_ratio.and_then(finite),
            success_interval: bounds(step.success_interval),
            steady: step.steadiness == Steadiness::Steady,
            steadiness: steadiness_name(step.steadiness),
            end: step.end,
            latency_ms: TimesDocument::of(&step.latency),
            service_ms: TimesDocument::of(&step.service),
            connect_ms: TimesDocument::of(&step.connect),
            handshake_ms: TimesDocument::of(&step.handshake),
            requests: step.requests.iter().map(|request| RequestDocument::of(plan, request)).collect(),
            over_time: step.moments.iter().map(MomentDocument::of).collect(),
            generator: GeneratorDocument::of(run, &step.generator),
        }
    }
}

fn steadiness_name(steadiness: Steadiness) -> &'static str {
    match steadiness {
        Steadiness::Steady => "steady",
        Steadiness::Wide => "wide",
        Steadiness::Moving => "moving",
        Steadiness::TooShort => "too_short",
        Steadiness::Ramp => "ramp",
    }
}

/// A distribution of times in milliseconds; null where too few requests ended to know a value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimesDocument {
    /// How many times are in it.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub stdev: Option<f64>,
    /// The shortest.
    pub min: Option<f64>,
    /// 50th percentile.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// 95 % intervals of the percentiles.
    pub percentile_intervals: TimesIntervals,
}

/// 95 % intervals of the percentiles, in milliseconds; null where one is not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is the interval of the percentile it is named after")]
pub struct TimesIntervals {
    pub p50: Option<[f64; 2]>,
    pub p75: Option<[f64; 2]>,
    pub p90: Option<[f64; 2]>,
    pub p95: Option<[f64; 2]>,
    pub p99: Option<[f64; 2]>,
    pub p999: Option<[f64; 2]>,
}

impl TimesDocument {
    pub(super) fn of(times: &TimeSummary) -> Self {
        let any = |ns: f64| ms(ns).filter(|_| times.count > 0);
        let at = |percentile: Percentile| percentile.ns.and_then(ms);
        Self {
            count: times.count,
            mean: any(times.mean_ns),
            stdev: any(times.stdev_ns),
            min: any(times.min_ns),
            p50: at(times.p50),
            p75: at(times.p75),
            p90: at(times.p90),
            p95: at(times.p95),
            p99: at(times.p99),
            p999: at(times.p999),
            max: any(times.max_ns),
            percentile_intervals: TimesIntervals::of(times),
        }
    }
}

impl TimesIntervals {
    fn of(times: &TimeSummary) -> Self {
        let of = |percentile: Percentile| {
            bounds(percentile.interval_ns.map(|(lower, upper)| (lower / 1e6, upper / 1e6)))
        };
        Self {
            p50: of(times.p50),
            p75: of(times.p75),
            p90: of(times.p90),
            p95: of(times.p95),
            p99: of(times.p99),
            p999: of(times.p999),
        }
    }
}
