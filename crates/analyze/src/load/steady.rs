//! Determines where the warm-up of a step ends, and whether its throughput settled.

use plimsoll_record::FrameHead;
use plimsoll_stats::{
    MIN_MSER_BATCHES, MSER_BATCH, Trend, Truncation, batch_means, mann_kendall, mean, mser5,
};

use super::series::{Point, half_width, series};
use crate::Steadiness;

/// Throughput is known when the half width of its 95 % interval is within this ratio; a smaller drift over the measured window is
/// ignored.
const TOLERANCE: f64 = 0.02;

/// A step is not judged on fewer complete intervals than this.
const MIN_INTERVALS: usize = 20;

/// With fewer answers p99 has no upper bound: 0.99ⁿ > 5 % up to n = 298. This many also make one request more or less at each end of
/// the window count for less than the required 2 %.
pub const MIN_COMPLETED: u64 = 299;

/// Batches in which trends are tested: enough for the test, and long enough to be nearly independent.
const TREND_BATCHES: usize = 20;

/// A queue that grows by more than this fraction of the offered rate will not end.
const QUEUE_GROWTH: f64 = 0.01;

/// The verdict on the intervals of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settled {
    /// The number of intervals at the front that are warm-up.
    pub(crate) cut: usize,
    /// Half the width of the 95 % interval of throughput after the cut.
    pub(crate) half_width: Option<f64>,
    pub(crate) steadiness: Steadiness,
    /// The rise of throughput from begin to end, relative to its mean; negative if it fell. `None` where that is within the tolerance or
    /// may be chance.
    pub(crate) drift: Option<f64>,
}

/// The drift of throughput over these intervals, if it exceeds the tolerance and is significant.
fn drift(points: &[Point]) -> Option<f64> {
    let rates = batch_means::means(points, TREND_BATCHES);
    let trend = mann_kendall(&rates).filter(Trend::is_significant)?;
    let change = trend.slope * (rates.len() as f64 - 1.0) / mean(points);
    (change.abs() > TOLERANCE).then_some(change)
}

/// True if the number of requests due or under way keeps growing.
fn queue_grows(points: &[Point], offered_per_sec: f64) -> bool {
    let mean_queue =
        |batch: &[Point]| batch.iter().map(|point| point.queue as f64).sum::<f64>() / batch.len() as f64;
    let batches: Vec<&[Point]> = batch_means::split(points, TREND_BATCHES).collect();
    let queue: Vec<f64> = batches.iter().copied().map(mean_queue).collect();
    // The batches leave out points at the front, whose time must not count.
    let used_sec: f64 = batches.iter().copied().flatten().map(|point| point.span_sec).sum();
    let batch_sec = used_sec / batches.len().max(1) as f64;
    mann_kendall(&queue).is_some_and(|trend| {
        trend.is_significant() && trend.slope > QUEUE_GROWTH * offered_per_sec * batch_sec
    })
}

fn narrow(points: &[Point], half_width: Option<f64>) -> bool {
    points.len() >= MIN_INTERVALS && half_width.is_some_and(|half| half <= TOLERANCE * mean(points))
}

/// Judges a closed loop: a warm-up is cut, and the rest must be level and known to ±2 %. Nothing is cut if the cut that is found is
/// not explained by a warm-up.
///
/// A series too short for a cut is steady only if all of it is level and known.
pub(crate) fn settle_closed(points: &[Point]) -> Settled {
    let (cut, changed) = match mser5(points) {
        Truncation::TooShort => (0, false),
        Truncation::After(cut) if warms_up(points, cut) => (cut, false),
        Truncation::After(cut) | Truncation::AtLatest(cut) => (0, changes(points, cut)),
    };
    let tail = &points[cut..];
    let half_width = half_width(tail);
    let drift = drift(tail);
    let steadiness = match (changed || drift.is_some(), narrow(tail, half_width)) {
        (false, true) => Steadiness::Steady,
        _ if points.len() < MSER_BATCH * MIN_MSER_BATCHES => Steadiness::TooShort,
        (true, _) => Steadiness::Moving,
        (false, false) => Steadiness::Wide,
    };
    Settled { cut, half_width, steadiness, drift }
}

/// True if the part before the cut is a warm-up: slower than the rest, and so already in its first quarter. A front that is as fast, or
/// begins so, belongs to the figures: the target became slow or failed.
fn warms_up(points: &[Point], cut: usize) -> bool {
    let slow = (1.0 - TOLERANCE) * mean(&points[cut..]);
    cut > 0 && mean(&points[..cut]) < slow && mean(&points[..cut.div_ceil(4)]) < slow
}

/// True if the part before a cut that is not made moves the mean by more than the tolerance, and by more than the interval of the rest:
/// in level noise the minimum is sometimes at a late place.
fn changes(points: &[Point], cut: usize) -> bool {
    let rest = &points[cut..];
    let level = mean(rest);
    (mean(points) - level).abs() > (TOLERANCE * level).max(half_width(rest).unwrap_or(0.0))
}

/// Judges an open loop: nothing is cut, because the user asked for that load and every late answer counts. A queue that keeps growing
/// means that the target does not keep up.
pub(crate) fn settle_open(points: &[Point], offered_per_sec: f64) -> Settled {
    let half_width = half_width(points);
    let steadiness = if queue_grows(points, offered_per_sec) {
        Steadiness::Moving
    } else if narrow(points, half_width) {
        Steadiness::Steady
    } else if points.len() < MIN_INTERVALS {
        Steadiness::TooShort
    } else {
        Steadiness::Wide
    };
    Settled { cut: 0, half_width, steadiness, drift: None }
}

/// True if a running closed-loop step may end, because its throughput is steady and known to ±2 %.
///
/// `heads` are the frames of this step so far, of all its `workers`. Looks take place at every fifth complete interval, and two in a
/// row must succeed: a rule that stops at the first lucky look would claim more than it knows.
pub fn step_is_known<'a>(heads: impl IntoIterator<Item = &'a FrameHead>, workers: u32) -> bool {
    let points = series(heads, workers as usize);
    let now = points.len() - points.len() % MSER_BATCH;
    now > MIN_INTERVALS && known(&points[..now - MSER_BATCH]) && known(&points[..now])
}

fn known(points: &[Point]) -> bool {
    let settled = settle_closed(points);
    let tail = &points[settled.cut..];
    settled.steadiness == Steadiness::Steady
        && tail.iter().map(|point| point.completed).sum::<u64>() >= MIN_COMPLETED
}

#[cfg(test)]
mod tests;
