//! Whether goodput is back after an overload, as its load goes on.

use plimsoll_plan::{BACK_WINDOWS, MIN_WINDOW_SEC, Slo, window_sec};
use plimsoll_record::{CorruptHistogram, Frame, RateStage};

use super::shape::Shape;
use super::slices::{Slice, Slices, limit_ms};
use crate::Recovery;

/// Goodput is back with this part of what it was before.
pub(super) const BACK: f64 = 0.95;
/// More requests beyond the limit than this are not within it, as for a 99th percentile.
const BEYOND_RATIO: f64 = 0.01;
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
        back_after_sec(&self.shape, &self.slices.whole()).is_some()
    }
}

/// What is compared: the good requests over those that fell due, or that ended if these are more, and the requests beyond the
/// limit over those that ended.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    good: u64,
    all: u64,
    beyond: u64,
    ended: u64,
}

impl Share {
    fn of<'s>(slices: impl IntoIterator<Item = &'s Slice>) -> Self {
        let mut due = 0;
        let mut share = slices.into_iter().fold(Self::default(), |sum, slice| {
            due += slice.due;
            Self {
                good: sum.good + slice.good,
                all: 0,
                beyond: sum.beyond + slice.beyond,
                ended: sum.ended + slice.ended,
            }
        });
        share.all = due.max(share.ended);
        share
    }

    /// `None` where nothing fell due or ended.
    fn good_ratio(self) -> Option<f64> {
        (self.all > 0).then(|| self.good as f64 / self.all as f64)
    }

    fn beyond_ratio(self) -> f64 {
        self.beyond as f64 / self.ended.max(1) as f64
    }
}

/// The good requests over all; `None` where there were none.
pub(super) fn good_ratio(slices: &[Slice]) -> Option<f64> {
    Share::of(slices).good_ratio()
}

fn between(slices: &[Slice], from_sec: f64, to_sec: f64) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(move |slice| (from_sec..to_sec).contains(&slice.middle_sec()))
}

/// How many windows after the overload are known.
fn whole_windows(shape: &Shape, slices: &[Slice]) -> usize {
    let known_sec = slices.last().map_or(0.0, |slice| slice.ended_sec);
    ((known_sec - shape.ends_sec) / window_sec(shape.base_per_sec)).floor().max(0.0) as usize
}

/// How long after the overload goodput was back to stay, in seconds: in each of three windows in a row nearly as large a part of
/// the requests is good as before, and over the three no more are beyond the limit than conditions allow, or than there were
/// before. `None` while it is not.
fn back_after_sec(shape: &Shape, slices: &[Slice]) -> Option<f64> {
    let before = Share::of(between(slices, shape.counts_sec, shape.begins_sec));
    let needed = BACK * before.good_ratio()?;
    let allowed = BEYOND_RATIO.max(before.beyond_ratio());
    let window_sec = window_sec(shape.base_per_sec);
    let count = whole_windows(shape, slices);
    let window = |index: usize| {
        let from_sec = shape.ends_sec + index as f64 * window_sec;
        let within: Vec<&Slice> = between(slices, from_sec, from_sec + window_sec).collect();
        within
    };
    let is_good = |index: &usize| Share::of(window(*index)).good_ratio().is_some_and(|ratio| ratio >= needed);
    let is_back = |first: &usize| {
        (*first..first + BACK_WINDOWS).all(|index| is_good(&index))
            && Share::of((*first..first + BACK_WINDOWS).flat_map(window)).beyond_ratio() <= allowed
    };
    let first = (0..count.saturating_sub(BACK_WINDOWS - 1)).find(is_back)?;
    Some(first as f64 * window_sec)
}

/// What became of goodput after an overload of a rate.
pub(super) fn recovery(shape: &Shape, slices: &[Slice], rate_per_sec: f64) -> Recovery {
    if let Some(sec) = back_after_sec(shape, slices) {
        return Recovery::After { sec };
    }
    let known_sec = slices.last().map_or(0.0, |slice| slice.ended_sec);
    let watched_sec = known_sec - shape.ends_sec;
    // The last interval of a load may be cut.
    let is_complete =
        shape.load_ends_sec > shape.ends_sec && known_sec >= shape.load_ends_sec - MIN_WINDOW_SEC;
    // Goodput that came back in the last of these windows was not seen to be back.
    let down = whole_windows(shape, slices).checked_sub(BACK_WINDOWS).filter(|_| is_complete);
    let Some(down) = down else { return Recovery::Unknown };
    let down_sec = down as f64 * window_sec(shape.base_per_sec);
    let queue_sec = shape.queue_sec(rate_per_sec);
    let stuck = down_sec >= STUCK * queue_sec;
    Recovery::Not { watched_sec, queue_sec, stuck }
}
