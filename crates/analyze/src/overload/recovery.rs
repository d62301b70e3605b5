//! Whether goodput has recovered after an overload, decided during its load.

use std::ops::Range;

use plimsoll_plan::{BACK_WINDOWS, MIN_WINDOW_SEC, Slo, window_sec};
use plimsoll_record::{CorruptHistogram, Frame, RateStage};
use plimsoll_stats::wilson;

use super::shape::Shape;
use super::slices::{Slice, Slices, limit_ms};
use crate::Recovery;

/// Goodput has recovered at this fraction of its earlier value.
const BACK: f64 = 0.95;
/// At most this share of requests may exceed the limit, as for a 99th percentile.
const BEYOND_RATIO: f64 = 0.01;
/// In one window of 160 fewer requests end than fall due by more than this many standard deviations. Under random arrivals the numbers
/// under way at two instants are Poisson variables of one mean N; their difference has the standard deviation √(2·N).
const CHANCE_DEVIATIONS: f64 = 2.5;
/// Chance explains at most this fraction of the due requests, so that a target that answers nothing is down at any number under way.
const MAX_CHANCE: f64 = 0.5;
/// A target is stuck if it stays down for this many times as long as a queue of the excess would last: something else keeps it down.
pub(crate) const STUCK: f64 = 1.25;

/// Follows an overload during its load and reports when goodput has recovered.
#[derive(Debug)]
pub struct RecoveryWatch {
    shape: Shape,
    slices: Slices,
}

impl RecoveryWatch {
    /// `None` for a step whose stages are no overload, or that does not return to the base.
    pub fn new(stages: &[RateStage], slo: &Slo, workers: usize) -> Option<Self> {
        let shape = Shape::of(stages, slo).filter(|shape| shape.load_ends_sec > shape.ends_sec)?;
        Some(Self { shape, slices: Slices::new(limit_ms(slo), workers) })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// When a histogram of it cannot be read.
    pub fn add(&mut self, frame: &Frame) -> Result<(), CorruptHistogram> {
        self.slices.add(frame)
    }

    /// True once goodput has recovered.
    pub fn is_back(&self) -> bool {
        let slices = self.slices.whole();
        Windows::new(&self.shape, &slices).is_some_and(|windows| windows.first(Windows::is_back).is_some())
    }
}

/// Counts of requests over a span.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    due: u64,
    ended: u64,
    good: u64,
    beyond: u64,
}

impl Share {
    fn of<'s>(slices: impl IntoIterator<Item = &'s Slice>) -> Self {
        slices.into_iter().fold(Self::default(), |sum, slice| Self {
            due: sum.due + slice.due,
            ended: sum.ended + slice.ended,
            good: sum.good + slice.good,
            beyond: sum.beyond + slice.beyond,
        })
    }

    /// The share of good requests among those that ended or are missing. Missing are due requests that did not end, beyond what chance
    /// explains with this many under way. `None` where none was due or ended.
    fn good_ratio(self, under_way: f64) -> Option<f64> {
        let due = self.due as f64;
        let chance = CHANCE_DEVIATIONS * (2.0 * under_way).sqrt();
        let all = (due - chance.min(MAX_CHANCE * due)).max(self.ended as f64);
        (all > 0.0).then(|| self.good as f64 / all)
    }

    /// The share of ended requests that exceeded the limit.
    fn beyond_ratio(self) -> f64 {
        self.beyond as f64 / self.ended.max(1) as f64
    }
}

/// The mean number of requests sent but not answered; 0 without a slice.
fn under_way<'s>(slices: impl IntoIterator<Item = &'s Slice>) -> f64 {
    let counted = |(sum, count): (u64, u64), slice: &Slice| (sum + slice.in_flight, count + 1);
    let (sum, count) = slices.into_iter().fold((0, 0), counted);
    sum as f64 / count.max(1) as f64
}

/// The share of good requests; `None` where there were none.
pub(super) fn good_ratio(slices: &[Slice]) -> Option<f64> {
    Share::of(slices).good_ratio(under_way(slices))
}

fn between(slices: &[Slice], from_sec: f64, to_sec: f64) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(move |slice| (from_sec..to_sec).contains(&slice.middle_sec()))
}

/// The windows after an overload, and the conditions for recovery.
struct Windows<'s> {
    slices: &'s [Slice],
    /// When the first window begins.
    from_sec: f64,
    span_sec: f64,
    /// Until when the load is known.
    known_sec: f64,
    /// The number of complete windows.
    count: usize,
    /// The smallest share of good requests.
    good_ratio: f64,
    /// The largest share of ended requests that exceed the latency limit.
    beyond_ratio: f64,
    /// The mean number of requests under way before the overload.
    under_way: f64,
}

impl<'s> Windows<'s> {
    /// `None` where no request was due or ended before the overload.
    fn new(shape: &Shape, slices: &'s [Slice]) -> Option<Self> {
        let before = || between(slices, shape.counts_sec, shape.begins_sec);
        let (share, under_way) = (Share::of(before()), under_way(before()));
        let good_ratio = BACK * share.good_ratio(under_way)?;
        // Both shares of late requests, before and in the windows, are samples: the upper bound counts.
        let late_before = wilson(share.beyond, share.ended).map_or(0.0, |(_, high)| high);
        let beyond_ratio = BEYOND_RATIO.max(shape.late_ratio).max(late_before);
        let span_sec = window_sec(shape.base_per_sec);
        let known_sec = slices.last().map_or(0.0, |slice| slice.ended_sec);
        let count = ((known_sec - shape.ends_sec) / span_sec).floor().max(0.0) as usize;
        let from_sec = shape.ends_sec;
        Some(Self { slices, from_sec, span_sec, known_sec, count, good_ratio, beyond_ratio, under_way })
    }

    fn share(&self, windows: Range<usize>) -> Share {
        let at_sec = |index: usize| self.from_sec + index as f64 * self.span_sec;
        Share::of(between(self.slices, at_sec(windows.start), at_sec(windows.end)))
    }

    /// True if nearly as large a share of requests is good as before: in each window of the row that begins with `first`, and over
    /// the whole row, where chance explains less.
    fn is_up(&self, first: usize) -> bool {
        let is_good = |windows: Range<usize>| {
            self.share(windows).good_ratio(self.under_way).is_some_and(|ratio| ratio >= self.good_ratio)
        };
        let mut row = first..first + BACK_WINDOWS;
        is_good(row.clone()) && row.all(|index| is_good(index..index + 1))
    }

    /// True if goodput is up, and no more requests exceed the limit than the conditions allow or than before.
    fn is_back(&self, first: usize) -> bool {
        self.is_up(first) && self.share(first..first + BACK_WINDOWS).beyond_ratio() <= self.beyond_ratio
    }

    /// The first complete window with which such a row begins.
    fn first(&self, begins: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        (0..self.count.saturating_sub(BACK_WINDOWS - 1)).find(|first| begins(self, *first))
    }
}

/// Judges the recovery after an overload, where the target holds `rate_per_sec`.
pub(super) fn recovery(shape: &Shape, slices: &[Slice], rate_per_sec: f64) -> Recovery {
    let Some(windows) = Windows::new(shape, slices) else { return Recovery::Unknown };
    if let Some(first) = windows.first(Windows::is_back) {
        return Recovery::After { sec: first as f64 * windows.span_sec };
    }
    let watched_sec = windows.known_sec - shape.ends_sec;
    // The last interval of a load may be cut.
    let is_complete =
        shape.load_ends_sec > shape.ends_sec && windows.known_sec >= shape.load_ends_sec - MIN_WINDOW_SEC;
    // A recovery in the last windows cannot be confirmed, so that these do not count as time down.
    let down = windows.count.checked_sub(BACK_WINDOWS).filter(|_| is_complete);
    let Some(down) = down else { return Recovery::Unknown };
    let down_sec = down as f64 * windows.span_sec;
    let queue_sec = shape.queue_sec(rate_per_sec);
    // A target with the earlier share of good requests is not down, even if too many others are late.
    let stuck = down_sec >= STUCK * queue_sec && windows.first(Windows::is_up).is_none();
    Recovery::Not { watched_sec, queue_sec, stuck }
}
