//! Little's law, a check of the generator's own counting and keeping busy.
//!
//! Little (1961): the mean number of requests under way is throughput times mean time, N = X·R. X and R are both of
//! the requests that ended in the measured window, well or badly; the ages of those that ended in the drain are no
//! time of the window.

use std::collections::BTreeMap;

use plimsoll_record::FrameHead;

use super::evidence::Evidence;
use crate::Steadiness;
use crate::load::frames::per_second;

/// Little's law speaks only of requests that are answered.
const MIN_SUCCESS: f64 = 0.99;
/// With fewer of its connections open than this ratio, a closed loop is held back by their opening.
const MIN_OPEN_RATIO: f64 = 0.95;
/// A window shorter than so many latencies of a request under way has too many requests across its edges: those that have not
/// ended when it does are on average half such a latency old, which takes N·L/2 of N·T away. Of 25 that is 2 %. Where the window
/// begins with its step nothing makes up for that: no request is older than it.
const MIN_LATENCIES: f64 = 25.0;
/// In an open loop N is a gauge read at the ends of frames; with fewer requests under way than these, counted over
/// all readings, its mean is known too badly: the error of a mean of Poisson counts is 1/√count.
const MIN_UNDER_WAY: u64 = 2500;

/// What the law says of a step.
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

/// The law of a step, where it can be applied.
pub(super) fn law(evidence: &Evidence<'_>) -> Option<Law> {
    let answered = evidence.summary.success_ratio.is_some_and(|ratio| ratio >= MIN_SUCCESS);
    let law = if is_fixed(evidence) { closed(evidence) } else { open(evidence) };
    law.filter(|_| answered)
}

/// True where N is known beforehand: in a closed loop, but for pipelines. Those are filled again when they have run
/// empty, so their N is only known by looking.
pub(super) fn is_fixed(evidence: &Evidence<'_>) -> bool {
    let pipelined = evidence.step.depth > 1 && !evidence.plan.http2;
    evidence.step.rate_per_sec.is_none() && !pipelined
}

/// In a closed loop without think time N is the number of open connections, times the streams that each has under
/// way. When X·R falls short, connections stood idle, and that is the generator's doing.
fn closed(evidence: &Evidence<'_>) -> Option<Law> {
    let times = evidence.measured_times;
    let (mean_sec, whole_mean_sec) = (times.mean_ns / 1e9, evidence.summary.latency.mean_ns / 1e9);
    let applies = open_ratio(evidence).is_some_and(|ratio| ratio >= MIN_OPEN_RATIO)
        && long_enough(evidence, times.under_way_sec().max(whole_mean_sec));
    let depth = f64::from(evidence.step.depth.max(1));
    let expected = || mean_of(evidence.measured, |head| head.connections) * depth;
    applies.then(|| Law { expected: expected(), observed: ended_per_sec(evidence) * mean_sec })
}

/// In an open loop N is the mean of the requests under way, and R the time since they were sent. Where more and more
/// are under way the law does not hold, and that shows no fault.
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

/// The mean of a gauge while measured: read at the end of each frame, summed over workers.
pub(super) fn mean_of(heads: &[&FrameHead], gauge: impl Fn(&FrameHead) -> u64) -> f64 {
    let mut workers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.of_worker()) {
        let (sum, frames) = workers.entry(head.worker).or_default();
        *sum += gauge(head);
        *frames += 1;
    }
    workers.values().map(|(sum, frames)| *sum as f64 / *frames as f64).sum()
}

/// Open connections over those of the step, in a closed loop that has frames.
pub(super) fn open_ratio(evidence: &Evidence<'_>) -> Option<f64> {
    let applies = evidence.step.rate_per_sec.is_none()
        && evidence.step.connections > 0
        && !evidence.measured.is_empty();
    let open = || mean_of(evidence.measured, |head| head.connections);
    applies.then(|| open() / f64::from(evidence.step.connections))
}
