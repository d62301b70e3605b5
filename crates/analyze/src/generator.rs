//! The generator's self-check: did anything of its own hold the load back?
//!
//! Each rule is meant to stay silent while the target alone is slow. A generator that shares its machine
//! with the target competes with it for the CPU; being starved there is a fact like any other, and the
//! throughput seen is a lower bound of what the target gives on a machine of its own.

use std::collections::BTreeMap;

use plimsoll_record::{FailureKind, FrameHead, Histogram, HostSample, Reading, Step};

use crate::summary::per_second;
use crate::{GeneratorHealth, GeneratorReason, StepSummary};

/// A worker this busy has no room for another tenth of load, whatever the target does.
const BUSY_RATIO: f64 = 0.90;
/// A worker that waits this part of its time for a CPU sends late and notices answers late.
const STARVED_RATIO: f64 = 0.20;
/// Lag below this is the resolution of timers and of one round of events, in nanoseconds.
const SEND_LAG_LEAST_NS: f64 = 1e6;
/// Lag matters if it is of the size of what is measured: at least this ratio of the median service time.
const SEND_LAG_RATIO: f64 = 0.5;
/// Little's law may fall short by this ratio, for requests cut at the window's edges.
const LITTLE_ERROR: f64 = 0.05;
/// Little's law speaks only of requests that are answered.
const LITTLE_SUCCESS_LEAST: f64 = 0.99;
/// With fewer of its connections open than this ratio, a closed loop is held back by their opening.
const OPEN_RATIO_LEAST: f64 = 0.95;
/// A window shorter than so many mean latencies has too many requests across its edges.
const LITTLE_LATENCIES_LEAST: f64 = 10.0;
/// An open loop that sends less than this ratio of what falls due is behind.
const SENT_RATIO: f64 = 0.99;
/// More stolen CPU time than this ratio is felt.
const STOLEN_RATIO: f64 = 0.05;
/// Workers that used, or waited for, less of a core than this would not have used the stolen time.
const WANTED_RATIO: f64 = 0.50;

/// What the self-check looks at.
pub(crate) struct Evidence<'a> {
    /// The step.
    pub(crate) step: &'a Step,
    /// What it came to; its own `generator` is not looked at.
    pub(crate) summary: &'a StepSummary,
    /// All frames of the step.
    pub(crate) all: &'a [&'a FrameHead],
    /// Frames under load after the warm-up.
    pub(crate) measured: &'a [&'a FrameHead],
    /// Mean latency of the requests that ended in those, in nanoseconds.
    pub(crate) measured_mean_ns: f64,
    /// How long the generator held requests back.
    pub(crate) send_lag: &'a Histogram,
    /// The samples of all hosts over the run.
    pub(crate) hosts: &'a [HostSample],
}

/// What one worker's thread spent in the measured window.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    span_ns: u64,
    cpu_ns: u64,
    starved_ns: u64,
}

impl Spent {
    fn ratio_of(&self, part_ns: u64) -> f64 {
        if self.span_ns == 0 { 0.0 } else { part_ns as f64 / self.span_ns as f64 }
    }
}

fn spent_by_worker(heads: &[&FrameHead]) -> BTreeMap<u32, Spent> {
    let mut workers: BTreeMap<u32, Spent> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.of_worker()) {
        let spent = workers.entry(head.worker).or_default();
        spent.span_ns += head.ended_ns.saturating_sub(head.began_ns);
        spent.cpu_ns += head.time.user_ns + head.time.system_ns;
        spent.starved_ns += head.time.starved_ns;
    }
    workers
}

/// The generator's health over one step.
pub(crate) fn health(evidence: &Evidence<'_>) -> GeneratorHealth {
    let workers = spent_by_worker(evidence.measured);
    let highest = |ratio: fn(&Spent) -> f64| workers.values().map(ratio).fold(0.0, f64::max);
    let cpu_sec =
        |part: fn(&FrameHead) -> u64| evidence.all.iter().map(|head| part(head)).sum::<u64>() as f64 / 1e9;
    let lag_ns = |quantile| {
        if evidence.send_lag.is_empty() { 0.0 } else { evidence.send_lag.value_at_quantile(quantile) as f64 }
    };
    let mut health = GeneratorHealth {
        reasons: Vec::new(),
        cpu_sec: cpu_sec(|head| head.time.user_ns + head.time.system_ns),
        kernel_sec: cpu_sec(|head| head.time.system_ns),
        busiest_worker_ratio: highest(|spent| spent.ratio_of(spent.cpu_ns)),
        starved_ratio: highest(|spent| spent.ratio_of(spent.starved_ns)),
        send_lag_p50_ns: lag_ns(0.5),
        send_lag_p99_ns: lag_ns(0.99),
        littles_law_error: littles_law(evidence)
            .map(|(expected, observed)| (expected - observed).abs() / expected),
        open_ratio: open_ratio(evidence),
        workers: spent_by_worker(evidence.all).len() as u32,
    };
    health.reasons = reasons(evidence, &workers, &health);
    health
}

fn reasons(
    evidence: &Evidence<'_>,
    workers: &BTreeMap<u32, Spent>,
    health: &GeneratorHealth,
) -> Vec<GeneratorReason> {
    let mut reasons: Vec<GeneratorReason> = workers.iter().filter_map(busy).collect();
    reasons.extend(workers.iter().filter_map(starved));
    reasons.extend(late(evidence, health));
    reasons.extend(out_of_law(evidence));
    reasons.extend(behind(evidence, health));
    reasons.extend(out_of_resources(evidence));
    reasons.extend(stolen(evidence, health));
    reasons
}

fn busy((worker, spent): (&u32, &Spent)) -> Option<GeneratorReason> {
    let ratio = spent.ratio_of(spent.cpu_ns);
    (ratio >= BUSY_RATIO).then_some(GeneratorReason::WorkerBusy { worker: *worker, ratio })
}

fn starved((worker, spent): (&u32, &Spent)) -> Option<GeneratorReason> {
    let ratio = spent.ratio_of(spent.starved_ns);
    (ratio >= STARVED_RATIO).then_some(GeneratorReason::WorkerStarved { worker: *worker, ratio })
}

/// Lag is compared with the median service time: half a millisecond means much where an answer takes one,
/// and nothing where it takes a hundred. A floor of 1 ms keeps a scheduler's ordinary jitter out.
fn late(evidence: &Evidence<'_>, health: &GeneratorHealth) -> Option<GeneratorReason> {
    let service_p50_ns = evidence.summary.service.p50.ns?;
    let limit_ns = SEND_LAG_LEAST_NS.max(SEND_LAG_RATIO * service_p50_ns);
    let p99_ns = health.send_lag_p99_ns;
    (p99_ns > limit_ns).then_some(GeneratorReason::SendLag { p99_ns, service_p50_ns })
}

/// The mean number of open connections while measured: the gauge at the end of each frame.
fn mean_open(heads: &[&FrameHead]) -> f64 {
    let mut workers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.of_worker()) {
        let (open, frames) = workers.entry(head.worker).or_default();
        *open += head.connections;
        *frames += 1;
    }
    workers.values().map(|(open, frames)| *open as f64 / *frames as f64).sum()
}

/// Open connections over those of the step, in a closed loop that has frames.
fn open_ratio(evidence: &Evidence<'_>) -> Option<f64> {
    let applies = evidence.step.rate_per_sec.is_none()
        && evidence.step.connections > 0
        && !evidence.measured.is_empty();
    applies.then(|| mean_open(evidence.measured) / f64::from(evidence.step.connections))
}

/// N and X·R of a closed loop, where its connections are open, requests are answered and the window is long
/// against them.
///
/// Little (1961): the mean number of requests under way is throughput times mean latency, N = X·R. In a
/// closed loop without think time it is the number of open connections, times the requests that each has under way.
/// When X·R falls short, connections
/// stood idle, and that is the generator's doing. X and R are both of the requests that ended in the measured
/// window, well or badly; the ages of those that ended in the drain are no time of the window.
fn littles_law(evidence: &Evidence<'_>) -> Option<(f64, f64)> {
    let summary = evidence.summary;
    let mean_sec = evidence.measured_mean_ns / 1e9;
    let longest_mean_sec = mean_sec.max(summary.latency.mean_ns / 1e9);
    let applies = open_ratio(evidence).is_some_and(|ratio| ratio >= OPEN_RATIO_LEAST)
        && summary.success_ratio.is_some_and(|ratio| ratio >= LITTLE_SUCCESS_LEAST)
        && summary.measured_sec >= LITTLE_LATENCIES_LEAST * longest_mean_sec;
    let ended_per_sec = || per_second(evidence.measured.iter().copied(), |head| head.counts.ended());
    let expected = || mean_open(evidence.measured) * f64::from(evidence.step.depth.max(1));
    applies.then(|| (expected(), ended_per_sec() * mean_sec))
}

fn out_of_law(evidence: &Evidence<'_>) -> Option<GeneratorReason> {
    let (expected, observed) = littles_law(evidence)?;
    (observed < (1.0 - LITTLE_ERROR) * expected).then_some(GeneratorReason::LittlesLaw { expected, observed })
}

/// An open loop is behind by its own fault only if its workers had no time left, or were late with requests
/// for which a connection was free; a request that finds all connections taken waits for the target.
fn behind(evidence: &Evidence<'_>, health: &GeneratorHealth) -> Option<GeneratorReason> {
    evidence.step.rate_per_sec?;
    let rate = |count: fn(&FrameHead) -> u64| per_second(evidence.measured.iter().copied(), count);
    let (offered_per_sec, sent_per_sec) = (rate(|head| head.counts.intended), rate(|head| head.counts.sent));
    let no_time_left = health.busiest_worker_ratio + health.starved_ratio >= BUSY_RATIO;
    let own_fault = no_time_left || late(evidence, health).is_some();
    (sent_per_sec < SENT_RATIO * offered_per_sec && own_fault)
        .then_some(GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec })
}

fn out_of_resources(evidence: &Evidence<'_>) -> impl Iterator<Item = GeneratorReason> {
    let failed = evidence.summary.counts.failed;
    [FailureKind::NoPortsLeft, FailureKind::NoDescriptorsLeft]
        .into_iter()
        .map(move |kind| (kind, failed.of(kind)))
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| GeneratorReason::OutOfResources { kind, count })
}

/// Counters of the generator's CPU over the step, from the last sample before it to the first after it.
///
/// Stolen time holds back only a generator that wanted it: workers that were mostly idle would not have used it.
fn stolen(evidence: &Evidence<'_>, health: &GeneratorHealth) -> Option<GeneratorReason> {
    if health.busiest_worker_ratio + health.starved_ratio < WANTED_RATIO {
        return None;
    }
    let samples: Vec<(&HostSample, u64, u64)> = evidence.hosts.iter().filter_map(cpu_counters).collect();
    let before = samples.iter().rev().find(|(sample, ..)| sample.ended_ns <= evidence.step.began_ns);
    let after = samples.iter().find(|(sample, ..)| sample.began_ns >= evidence.step.ended_ns);
    let (_, steal_before, total_before) = before.or(samples.first())?;
    let (_, steal_after, total_after) = after.or(samples.last())?;
    let total = total_after.saturating_sub(*total_before);
    let ratio = steal_after.saturating_sub(*steal_before) as f64 / total.max(1) as f64;
    (total > 0 && ratio >= STOLEN_RATIO).then_some(GeneratorReason::Stolen { ratio })
}

/// `steal_ms` and `total_ms` of a sample of the generator's CPU.
fn cpu_counters(sample: &HostSample) -> Option<(&HostSample, u64, u64)> {
    let Reading::Ok(counters) = &sample.reading else { return None };
    let of_generator = sample.host == "generator" && sample.source == "cpu";
    of_generator.then_some(())?;
    Some((sample, *counters.get("steal_ms")?, *counters.get("total_ms")?))
}
