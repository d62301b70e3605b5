//! Little's law, as a check of the generator's counts and of how busy it keeps its connections.
//!
//! Little (1961): the mean number of requests under way is throughput times mean time, N = X·R. X and R are computed from the
//! requests that ended in the measured window, successful or not; requests that ended in the drain are left out, since their times
//! extend beyond the window.

use std::collections::BTreeMap;

use plimsoll_record::FrameHead;

use super::evidence::Evidence;
use crate::Steadiness;
use crate::load::frames::per_second;

/// The law requires that requests are answered.
const MIN_SUCCESS: f64 = 0.99;
/// If a smaller ratio of its connections is open, a closed loop is limited by opening them.
const MIN_OPEN_RATIO: f64 = 0.95;
/// A window shorter than this many latencies of a request under way has too many requests across its edges: those that have not
/// ended at its end are on average half such a latency old, which removes N·L/2 of N·T. With 25 that is 2 %. Where the window begins
/// with its step nothing compensates for that: no request is older than the step.
const MIN_LATENCIES: f64 = 25.0;
/// In an open loop N is a gauge read at the ends of frames. With fewer requests under way than these, summed over all readings, its
/// mean is too uncertain: the relative error of a mean of Poisson counts is 1/√count.
const MIN_UNDER_WAY: u64 = 2500;

/// Both sides of the law for a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    /// N.
    pub(super) expected: f64,
    /// X·R.
    pub(super) observed: f64,
}

impl Law {
    /// |N − X·R| / N.
    pub(super) fn error(self) -> f64 {
        (self.expected - self.observed).abs() / self.expected
    }
}

/// Evaluates the law for a step; `None` where it does not apply.
pub(super) fn law(evidence: &Evidence<'_>) -> Option<Law> {
    let answered = evidence.summary.success_ratio.is_some_and(|ratio| ratio >= MIN_SUCCESS);
    let law = if is_fixed(evidence) { closed(evidence) } else { open(evidence) };
    law.filter(|_| answered)
}

/// True where N is known in advance: in a closed loop without pipelining. A pipeline is refilled only when it has run empty, so that its
/// N must be measured.
pub(super) fn is_fixed(evidence: &Evidence<'_>) -> bool {
    let pipelined = evidence.step.depth > 1 && !evidence.plan.http2;
    evidence.step.rate_per_sec.is_none() && !pipelined
}

/// In a closed loop without think time N is the number of open connections times the depth. If X·R is less, connections were idle, which
/// is the generator's fault.
fn closed(evidence: &Evidence<'_>) -> Option<Law> {
    let times = evidence.measured_times;
    let (mean_sec, whole_mean_sec) = (times.mean_ns / 1e9, evidence.summary.latency.mean_ns / 1e9);
    let applies = open_ratio(evidence).is_some_and(|ratio| ratio >= MIN_OPEN_RATIO)
        && long_enough(evidence, times.under_way_sec().max(whole_mean_sec));
    let depth = f64::from(evidence.step.depth.max(1));
    let expected = || mean_of(evidence.measured, |head| head.connections) * depth;
    applies.then(|| Law { expected: expected(), observed: ended_per_sec(evidence) * mean_sec })
}

/// In an open loop N is the mean of the requests under way, and R the time since they were sent. While the number under way grows the
/// law does not hold, without being a fault.
fn open(evidence: &Evidence<'_>) -> Option<Law> {
    let workers = evidence.measured.iter().filter(|head| head.of_worker());
    let read: u64 = workers.map(|head| head.in_flight).sum();
    let mean_sec = evidence.measured_service_mean_ns / 1e9;
    let applies = read >= MIN_UNDER_WAY
        && evidence.summary.steadiness == Steadiness::Steady
        && long_enough(evidence, mean_sec);
    let expected = || mean_of(evidence.measured, |head| head.in_flight);
    applies.then(|| Law { expected: expected(), observed: ended_per_sec(evidence) * mean_sec })
}

fn long_enough(evidence: &Evidence<'_>, mean_sec: f64) -> bool {
    evidence.summary.measured_sec >= MIN_LATENCIES * mean_sec
}

fn ended_per_sec(evidence: &Evidence<'_>) -> f64 {
    per_second(evidence.measured.iter().copied(), |head| head.counts.ended())
}

/// The mean of a gauge in these frames, read at the end of each, summed over workers.
pub(super) fn mean_of(heads: &[&FrameHead], gauge: impl Fn(&FrameHead) -> u64) -> f64 {
    let mut workers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.of_worker()) {
        let (sum, frames) = workers.entry(head.worker).or_default();
        *sum += gauge(head);
        *frames += 1;
    }
    workers.values().map(|(sum, frames)| *sum as f64 / *frames as f64).sum()
}

/// Open connections over those of the step; `None` for an open loop or without frames.
pub(super) fn open_ratio(evidence: &Evidence<'_>) -> Option<f64> {
    let applies = evidence.step.rate_per_sec.is_none()
        && evidence.step.connections > 0
        && !evidence.measured.is_empty();
    let open = || mean_of(evidence.measured, |head| head.connections);
    applies.then(|| open() / f64::from(evidence.step.connections))
}
