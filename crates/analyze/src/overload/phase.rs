//! The figures of one part of an overload step.

use plimsoll_record::{CorruptHistogram, FailureCounts, Frame, Phase};
use plimsoll_stats::{batch_means, mean};

use super::recovery::good_ratio;
use super::slices::Slice;
use crate::load::frames::merged;
use crate::load::percentile::summary;
use crate::{Estimate, OverloadMoment, OverloadPhase};

/// The length of one point of the curve over time, in seconds.
const MOMENT_SEC: f64 = 0.5;

/// A part of a step, in seconds since its load began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) from_sec: f64,
    pub(super) to_sec: f64,
    pub(super) offered_per_sec: f64,
}

impl Part {
    fn holds(self, at_sec: f64) -> bool {
        (self.from_sec..self.to_sec).contains(&at_sec)
    }
}

/// Computes the figures of a part. A slice or a frame belongs to the part that contains its middle.
pub(super) fn phase(
    frames: &[&Frame],
    slices: &[Slice],
    part: Part,
) -> Result<OverloadPhase, CorruptHistogram> {
    let slices: Vec<Slice> = slices.iter().copied().filter(|slice| part.holds(slice.middle_sec())).collect();
    let began_ns = frames.iter().map(|frame| frame.head.began_ns).min().unwrap_or_default();
    let middle_sec = |frame: &Frame| {
        let since_sec = |ns: u64| ns.saturating_sub(began_ns) as f64 / 1e9;
        (since_sec(frame.head.began_ns) + since_sec(frame.head.ended_ns)) / 2.0
    };
    let is_within = |frame: &&Frame| frame.head.phase == Phase::Measure && part.holds(middle_sec(frame));
    let within: Vec<&Frame> = frames.iter().copied().filter(is_within).collect();
    let sum = |count: fn(&Slice) -> u64| slices.iter().map(count).sum::<u64>();
    let mut failed = FailureCounts::default();
    slices.iter().for_each(|slice| failed.merge(&slice.failed));
    let at_end = slices.last().copied().unwrap_or_default();
    Ok(OverloadPhase {
        offered_per_sec: part.offered_per_sec,
        span_sec: slices.iter().map(Slice::span_sec).sum(),
        due: sum(|slice| slice.due),
        goodput: goodput(&slices),
        good_ratio: good_ratio(&slices),
        answered: sum(|slice| slice.answered),
        late: sum(|slice| slice.ok - slice.good),
        refused: sum(|slice| slice.answered - slice.ok),
        failed,
        latency: summary(&merged(within.iter().copied(), |frame| &frame.latency)?),
        service_mean_ns: merged(within.iter().copied(), Frame::service_times)?.mean(),
        in_flight: at_end.in_flight,
        backlog: at_end.backlog,
    })
}

fn goodput(slices: &[Slice]) -> Estimate {
    let value = mean(slices);
    let half = batch_means::half_width(slices);
    Estimate { value, interval: half.map(|half| ((value - half).max(0.0), value + half)) }
}

/// The figures of a step over time.
pub(super) fn moments(slices: &[Slice]) -> Vec<OverloadMoment> {
    let index = |slice: &Slice| (slice.middle_sec() / MOMENT_SEC).floor();
    slices.chunk_by(|a, b| index(a) == index(b)).filter_map(moment).collect()
}

fn moment(slices: &[Slice]) -> Option<OverloadMoment> {
    let (first, last) = (slices.first()?, slices.last()?);
    let span_sec: f64 = slices.iter().map(Slice::span_sec).sum();
    let per_sec = |count: fn(&Slice) -> u64| slices.iter().map(count).sum::<u64>() as f64 / span_sec;
    Some(OverloadMoment {
        at_sec: (first.began_sec + last.ended_sec) / 2.0,
        due_per_sec: per_sec(|slice| slice.due),
        goodput_per_sec: per_sec(|slice| slice.good),
        answered_per_sec: per_sec(|slice| slice.answered),
    })
}
