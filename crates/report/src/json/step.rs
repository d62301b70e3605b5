//! One step: its counts, its throughput, its distributions; and the requests and windows it is made of.

use std::collections::BTreeMap;

use plimsoll_analyze::{
    Findings, RampWindow, RequestSummary, Steadiness, StepSummary, TimeSummary, wants_status,
};
use plimsoll_plan::Plan;
use plimsoll_record::{FailureCounts, Run, StatusCounts, StepEnd, Tally};

use super::document::{Interval, document, each, ms};
use super::generator::GeneratorDocument;

document! {
    /// One step.
    pub struct StepDocument(run: &Run, findings: &Findings, step: &StepSummary) {
        /// Index of the step in the run.
        index: u32 = step.index,
        /// Connections of a closed loop, or the initial connections of an open loop.
        connections: u32 = step.connections,
        /// The maximum number of requests in flight on one connection.
        depth: u16 = step.depth,
        /// The offered rate of an open loop, requests per second; its mean where it changes. Null for a closed loop.
        rate_per_sec: Option<f64> = step.rate_per_sec,
        /// Seconds that were measured: after the warm-up and before the drain, or until the target was lost.
        duration_sec: f64 = step.measured_sec,
        /// Seconds of warm-up that were left out.
        warmup_sec: f64 = step.warmup_sec,
        /// Seconds that the requests in flight took to end, after the load.
        drain_sec: f64 = step.drain_sec,
        /// Requests that fell due over the whole step.
        intended: u64 = step.counts.intended,
        /// Requests that were sent.
        sent: u64 = step.counts.sent,
        /// Complete responses of any status.
        completed: u64 = step.counts.completed,
        /// Responses that passed every check, and have a status of 200 to 399 unless a check is of the status.
        ok: u64 = step.counts.ok,
        /// Responses by status; `0` stands for any status outside 100 to 599.
        #[schemars(with = "BTreeMap<String, u64>")]
        status: StatusCounts = step.counts.status.clone(),
        /// The observed statuses that are no success: by the checks of the status, or without such checks all outside 200
        /// to 399.
        unwanted_status: Vec<u16> = unwanted(&findings.plan, &step.counts.status),
        /// Failed requests by kind.
        #[schemars(with = "BTreeMap<String, u64>")]
        failed: FailureCounts = step.counts.failed,
        /// Responses that failed a check, by check. They are completed but not ok.
        failed_checks: BTreeMap<String, u64> = failed_checks(&findings.plan, &step.counts.checks),
        /// Bytes received, including heads.
        bytes_in: u64 = step.counts.bytes_in,
        /// Bytes sent, including heads.
        bytes_out: u64 = step.counts.bytes_out,
        /// Bytes received per second while measured.
        bytes_in_per_sec: f64 = step.bytes_in_per_sec,
        /// Connections reopened after the server had closed them between two requests.
        reconnects: u64 = step.counts.reconnects,
        /// Connections opened, including the first ones.
        connects: u64 = step.counts.connects,
        /// TLS handshakes completed.
        handshakes: u64 = step.counts.handshakes,
        /// TLS handshakes that resumed an earlier session.
        resumed: u64 = step.counts.resumed,
        /// Responses per second while measured.
        throughput_per_sec: f64 = step.throughput.value,
        /// The 95 % interval of the throughput; null where it is not known.
        throughput_interval: Interval = step.throughput,
        /// True if the generator held the load back: the throughput is a lower bound.
        lower_bound: bool = step.lower_bound,
        /// Successful responses over all requests that ended, warm-up and drain included; null if none ended.
        success_ratio: Option<f64> = step.success_ratio,
        /// The 95 % interval of the success ratio. It extends below 1 even if all requests succeeded. Null if none ended.
        success_interval: Interval = step.success_interval,
        /// True if throughput settled to within ±2 %.
        steady: bool = step.steadiness == Steadiness::Steady,
        /// `steady`, `wide`, `moving`, `too_short`, or `ramp` where the offered rate changes by plan.
        #[schemars(with = "String")]
        steadiness: Steadiness = step.steadiness,
        /// How much throughput rose within a step of a closed loop, relative to its mean; negative if it fell. Null if
        /// that is within 2 % or may be chance.
        drift_ratio: Option<f64> = step.drift,
        /// Why the load ended: `steady`, `time_limit`, `request_limit`, `stopped`, `cut` or `target_lost`.
        #[schemars(with = "String")]
        end: StepEnd = step.end,
        /// done − intended.
        latency_ms: TimesDocument = &step.latency,
        /// done − sent.
        service_ms: TimesDocument = &step.service,
        /// Time to open a connection, including the TLS handshake, for connections opened while measured.
        connect_ms: TimesDocument = &step.connect,
        /// The part of `connect_ms` that the TLS handshake took.
        handshake_ms: TimesDocument = &step.handshake,
        /// The requests of a plan with several, in its order. Empty for a plan with one request: its figures are those of the
        /// step.
        requests: Vec<RequestDocument> =
            each(&step.requests, |request| RequestDocument::new(&findings.plan, request)),
        /// The step over time where the offered rate changes; else empty.
        over_time: Vec<WindowDocument> = each(&step.ramp_windows, WindowDocument::new),
        /// The generator's check of itself during this step.
        generator: GeneratorDocument = GeneratorDocument::new(run, &step.generator),
    }

    /// One request of a plan with several, over one step. Requests that were due but not sent, and bytes, are counted only for
    /// the step as a whole.
    pub struct RequestDocument(plan: &Plan, request: &RequestSummary) {
        /// Its name in the plan.
        name: String = &request.name,
        /// Requests that were sent over the whole step.
        sent: u64 = request.counts.sent,
        /// Complete responses of any status.
        completed: u64 = request.counts.completed,
        /// Responses that passed every check, and have a status of 200 to 399 unless a check is of the status.
        ok: u64 = request.counts.ok,
        /// Responses by status; `0` stands for any status outside 100 to 599.
        #[schemars(with = "BTreeMap<String, u64>")]
        status: StatusCounts = request.counts.status.clone(),
        /// Failed requests by kind.
        #[schemars(with = "BTreeMap<String, u64>")]
        failed: FailureCounts = request.counts.failed,
        /// Responses that failed a check, by check.
        failed_checks: BTreeMap<String, u64> = failed_checks(plan, &request.counts.checks),
        /// Responses per second while measured.
        throughput_per_sec: f64 = request.throughput_per_sec,
        /// Successful responses over all requests that ended; null if none ended.
        success_ratio: Option<f64> = request.success_ratio,
        /// The 95 % interval of the success ratio; null if none ended.
        success_interval: Interval = request.success_interval,
        /// done − intended.
        latency_ms: TimesDocument = &request.latency,
        /// done − sent.
        service_ms: TimesDocument = &request.service,
    }

    /// A window of a step whose offered rate changes.
    pub struct WindowDocument(window: &RampWindow) {
        /// Its start, in seconds since the load began.
        began_sec: f64 = window.began_sec,
        /// Its end, in seconds since the load began.
        end_sec: f64 = window.end_sec,
        /// The offered rate in its middle, requests per second.
        rate_per_sec: f64 = window.rate_per_sec,
        /// Requests that fell due, per second.
        due_per_sec: f64 = window.due_per_sec,
        /// Responses per second.
        throughput_per_sec: f64 = window.throughput_per_sec,
        /// Successful responses over all requests that ended within it; null if none ended.
        success_ratio: Option<f64> = window.success_ratio,
        /// Requests in flight at its end.
        in_flight: u64 = window.in_flight,
        /// Requests due but not sent at its end.
        backlog: u64 = window.backlog,
        /// done − intended of the requests that ended within it.
        latency_ms: TimesDocument = &window.latency,
    }

    /// A distribution of times in milliseconds. A value is null where too few requests ended to know it.
    pub struct TimesDocument(times: &TimeSummary) {
        /// The number of measured times.
        count: u64 = times.count,
        /// Arithmetic mean.
        mean: Option<f64> = known_ms(times, times.mean_ns),
        /// Standard deviation.
        stdev: Option<f64> = known_ms(times, times.stdev_ns),
        /// The minimum.
        min: Option<f64> = known_ms(times, times.min_ns),
        /// 50th percentile.
        p50: Option<f64> = times.p50.ns.map(ms),
        /// 75th percentile.
        p75: Option<f64> = times.p75.ns.map(ms),
        /// 90th percentile.
        p90: Option<f64> = times.p90.ns.map(ms),
        /// 95th percentile.
        p95: Option<f64> = times.p95.ns.map(ms),
        /// 99th percentile.
        p99: Option<f64> = times.p99.ns.map(ms),
        /// 99.9th percentile.
        p999: Option<f64> = times.p999.ns.map(ms),
        /// The maximum.
        max: Option<f64> = known_ms(times, times.max_ns),
        /// 95 % intervals of the percentiles.
        percentile_intervals: PercentileIntervals = PercentileIntervals::new(times),
    }

    /// 95 % intervals of the percentiles, in milliseconds; null where one is not known.
    pub struct PercentileIntervals(times: &TimeSummary) {
        p50: Interval = Interval::from(times.p50.interval_ns).map(ms),
        p75: Interval = Interval::from(times.p75.interval_ns).map(ms),
        p90: Interval = Interval::from(times.p90.interval_ns).map(ms),
        p95: Interval = Interval::from(times.p95.interval_ns).map(ms),
        p99: Interval = Interval::from(times.p99.interval_ns).map(ms),
        p999: Interval = Interval::from(times.p999.interval_ns).map(ms),
    }
}

impl From<&TimeSummary> for TimesDocument {
    fn from(times: &TimeSummary) -> Self {
        Self::new(times)
    }
}

/// Converts a value to milliseconds; `None` if the distribution is empty.
fn known_ms(times: &TimeSummary, ns: f64) -> Option<f64> {
    (times.count > 0).then(|| ms(ns))
}

/// Returns the statuses that the plan does not accept as a success, lowest first; 0 comes last.
fn unwanted(plan: &Plan, statuses: &StatusCounts) -> Vec<u16> {
    statuses.iter().map(|(status, _)| status).filter(|status| !wants_status(plan, *status)).collect()
}

/// Failed checks with their counts, by the text of the check.
pub(crate) fn failed_checks(plan: &Plan, checks: &Tally) -> BTreeMap<String, u64> {
    let name = |check: u16| plan.checks.get(usize::from(check)).cloned().unwrap_or_else(|| check.to_string());
    checks.iter().map(|(check, count)| (name(check), count)).collect()
}
