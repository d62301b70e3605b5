//! Whether goodput is back after an overload, as its load goes on.

use std::ops::Range;

use plimsoll_plan::{BACK_WINDOWS, MIN_WINDOW_SEC, Slo, window_sec};
use plimsoll_record::{CorruptHistogram, Frame, RateStage};
use plimsoll_stats::wilson;

use super::shape::Shape;
use super::slices::{Slice, Slices, limit_ms};
use crate::Recovery;

/// Goodput is back with this part of what it was before.
const BACK: f64 = 0.95;
/// More requests beyond the limit than this are not within it, as for a 99th percentile.
const BEYOND_RATIO: f64 = 0.01;
/// Under random arrivals the requests under way at two instants are Poisson variables of one mean N, whose difference has the standard
/// deviation √(2·N). In one window of 160 fewer end than fall due by more than so many of these.
const CHANCE_DEVIATIONS: f64 = 2.5;
/// Chance explains no more than this part of what fell due, so that a target which answers nothing is down however much is under way.
const MAX_CHANCE: f64 = 0.5;
/// A target that is down for so many times as long as a queue of the excess would last is kept down by something else.
pub(crate) const STUCK: f64 = 1.25;

/// Follows an overload while it goes on, and says when goodput is back.
#[derive(Debug)]
pub struct RecoveryWatch {
    shape: Shape,
    slices: Slices,
}

impl RecoveryWatch {
    /// `None` for a step whose stages are no overload, or at whose end the base is not watched.
    pub fn new(stages: &[RateStage], slo: &Slo, workers: usize) -> Option<Self> {
        let shape = Shape::of(stages, slo).filter(|shape| shape.load_ends_sec > shape.ends_sec)?;
        Some(Self { shape, slices: Slices::new(limit_ms(slo), workers) })
    }

    /// Takes in a frame.
    ///
    /// # Errors
    /// When a histogram of it cannot be read.
    pub fn add(&mut self, frame: &Frame) -> Result<(), CorruptHistogram> {
        self.slices.add(frame)
    }

    /// True once goodput is back.
    pub fn is_back(&self) -> bool {
        let slices = self.slices.whole();
        Windows::new(&self.shape, &slices).is_some_and(|windows| windows.first(Windows::is_back).is_some())
    }
}

/// What became of the requests of a span.
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

    /// The good requests over those that ended and those that are missing: that fell due and did not end, beyond what chance explains
    /// with so many requests under way. `None` where nothing fell due or ended.
    fn good_ratio(self, under_way: f64) -> Option<f64> {
        let due = self.due as f64;
        let chance = CHANCE_DEVIATIONS * (2.0 * under_way).sqrt();
        let all = (due - chance.min(MAX_CHANCE * due)).max(self.ended as f64);
        (all > 0.0).then(|| self.good as f64 / all)
    }

    /// The requests beyond the limit over those that ended.
    fn beyond_ratio(self) -> f64 {
        self.beyond as f64 / self.ended.max(1) as f64
    }
}

/// The requests that are sent and not answered, on average; none without a slice.
fn under_way<'s>(slices: impl IntoIterator<Item = &'s Slice>) -> f64 {
    let counted = |(sum, count): (u64, u64), slice: &Slice| (sum + slice.in_flight, count + 1);
    let (sum, count) = slices.into_iter().fold((0, 0), counted);
    sum as f64 / count.max(1) as f64
}

/// The good requests over all; `None` where there were none.
pub(super) fn good_ratio(slices: &[Slice]) -> Option<f64> {
    Share::of(slices).good_ratio(under_way(slices))
}

fn between(slices: &[Slice], from_sec: f64, to_sec: f64) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(move |slice| (from_sec..to_sec).contains(&slice.middle_sec()))
}

/// The windows after an overload, and what makes goodput in them what it was before.
struct Windows<'s> {
    slices: &'s [Slice],
    /// When the first of them begins.
    from_sec: f64,
    span_sec: f64,
    /// How long the load is known.
    known_sec: f64,
    /// How many of them are known.
    count: usize,
    /// The part of the requests that is good at least.
    good_ratio: f64,
    /// The part of those that ended that is beyond the limit of latency at most.
    beyond_ratio: f64,
    /// Requests under way before the overload.
    under_way: f64,
}

impl<'s> Windows<'s> {
    /// `None` where nothing fell due or ended before the overload.
    fn new(shape: &Shape, slices: &'s [Slice]) -> Option<Self> {
        let before = || between(slices, shape.counts_sec, shape.begins_sec);
        let (share, under_way) = (Share::of(before()), under_way(before()));
        let good_ratio = BACK * share.good_ratio(under_way)?;
        // What is always late is known from a sample, and so is what is late in the windows.
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

    /// Whether nearly as large a part of the requests is good as before: in each of the windows in a row that begin with this one, and in
    /// all of them together, where chance explains less.
    fn is_up(&self, first: usize) -> bool {
        let is_good = |windows: Range<usize>| {
            self.share(windows).good_ratio(self.under_way).is_some_and(|ratio| ratio >= self.good_ratio)
        };
        let mut row = first..first + BACK_WINDOWS;
        is_good(row.clone()) && row.all(|index| is_good(index..index + 1))
    }

    /// Whether goodput is up, and no more requests are beyond the limit than conditions allow, or than there were before.
    fn is_back(&self, first: usize) -> bool {
        self.is_up(first) && self.share(first..first + BACK_WINDOWS).beyond_ratio() <= self.beyond_ratio
    }

    /// The first window, of those that are known, with which a row of this kind begins.
    fn first(&self, begins: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        (0..self.count.saturating_sub(BACK_WINDOWS - 1)).find(|first| begins(self, *first))
    }
}

/// What became of goodput after an overload of a rate.
pub(super) fn recovery(shape: &Shape, slices: &[Slice], rate_per_sec: f64) -> Recovery {
    let Some(windows) = Windows::new(shape, slices) else { return Recovery::Unknown };
    if let Some(first) = windows.first(Windows::is_back) {
        return Recovery::After { sec: first as f64 * windows.span_sec };
    }
    let watched_sec = windows.known_sec - shape.ends_sec;
    // The last interval of a load may be cut.
    let is_complete =
        shape.load_ends_sec > shape.ends_sec && windows.known_sec >= shape.load_ends_sec - MIN_WINDOW_SEC;
    // Goodput that came back in the last of these windows was not seen to be back.
    let down = windows.count.checked_sub(BACK_WINDOWS).filter(|_| is_complete);
    let Some(down) = down else { return Recovery::Unknown };
    let down_sec = down as f64 * windows.span_sec;
    let queue_sec = shape.queue_sec(rate_per_sec);
    // What is late although as much is good as before is not down.
    let stuck = down_sec >= STUCK * queue_sec && windows.first(Windows::is_up).is_none();
    Recovery::Not { watched_sec, queue_sec, stuck }
}
