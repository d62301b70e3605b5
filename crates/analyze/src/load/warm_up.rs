//! Decides whether a target is warm, so that the load before the first step may end.

use std::collections::BTreeMap;

use plimsoll_record::{CorruptHistogram, Frame, FrameHead, latency_histogram};
use plimsoll_stats::{Truncation, mean, mser5};

use super::series::{Point, half_width, series};

/// A level must last at least this long: compilers that run alongside the program, caches and pools pause for a second or two between
/// one stair and the next.
const MIN_LEVEL_SEC: f64 = 5.0;

/// A target is warm when the 95 % interval of its speed is within this ratio. That is wider than for a step, since the figures come from
/// the steps.
const TOLERANCE: f64 = 0.05;

/// Speed still climbs if the second half is faster than the first by more than this ratio.
const CLIMB: f64 = 0.02;

/// Complete intervals between two looks; two looks in a row must agree.
const LOOK_EVERY: usize = 5;

/// The number of intervals over which the throughput at the end is averaged.
const END_INTERVALS: usize = 20;

/// The load before the first step, so far.
#[derive(Debug, Clone)]
pub struct WarmUp {
    workers: usize,
    by: Speed,
    heads: Vec<FrameHead>,
    /// By interval, the requests that ended and the sum of their service times in seconds.
    taken: BTreeMap<u32, (f64, f64)>,
}

/// The measure of a target's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// Throughput, for a closed loop, where it is the target's own.
    Throughput,
    /// Service time, for an open loop, whose throughput equals the offered rate from the first second on.
    ServiceTime,
}

impl WarmUp {
    /// Begins a load by this many workers.
    pub fn new(workers: u32, by: Speed) -> Self {
        Self { workers: workers as usize, by, heads: Vec::new(), taken: BTreeMap::new() }
    }

    /// Discards all frames: the same load continues under other conditions.
    pub fn forget(&mut self) {
        self.heads.clear();
        self.taken.clear();
    }

    /// Adds a frame; fails if its times cannot be decoded.
    pub fn add(&mut self, frame: &Frame) -> Result<(), CorruptHistogram> {
        if self.by == Speed::ServiceTime {
            let mut times = latency_histogram();
            frame.service_times().add_to(&mut times)?;
            let (count, seconds) = self.taken.entry(frame.head.interval).or_default();
            *count += times.len() as f64;
            *seconds += times.len() as f64 * times.mean() / 1e9;
        }
        self.heads.push(frame.head.clone());
        Ok(())
    }

    /// True once the speed no longer rises: two looks in a row find a level.
    pub fn is_steady(&self) -> bool {
        let points = self.speeds();
        let now = points.len() - points.len() % LOOK_EVERY;
        now > LOOK_EVERY && is_level(&points[..now - LOOK_EVERY]) && is_level(&points[..now])
    }

    /// Completed requests per second over the last intervals so far.
    pub fn throughput_per_sec(&self) -> f64 {
        let points = series(&self.heads, self.workers);
        mean(&points[points.len().saturating_sub(END_INTERVALS)..])
    }

    /// The number of failed requests, and of all that ended.
    pub fn failed(&self) -> (u64, u64) {
        self.heads.iter().map(|head| &head.counts).fold((0, 0), |(failed, ended), counts| {
            (failed + counts.failed.total(), ended + counts.failed.total() + counts.completed)
        })
    }

    /// The speed over time, as a rate.
    fn speeds(&self) -> Vec<Point> {
        let mut points = series(&self.heads, self.workers);
        if self.by == Speed::ServiceTime {
            for point in &mut points {
                let (count, seconds) = self.taken.get(&point.interval).copied().unwrap_or_default();
                point.rate_per_sec = if seconds > 0.0 { count / seconds } else { 0.0 };
            }
        }
        points
    }
}

/// True if these rates have reached a level and stay there.
///
/// A just-in-time compiler makes a program faster in stairs: it runs level for a while, then faster at once. So the part that MSER-5
/// leaves must be level, must last as long as the climb (the cut is in the first half) and at least five seconds, and its second half
/// must not be above its first. A target that grows slower needs no warm-up.
fn is_level(points: &[Point]) -> bool {
    let Truncation::After(cut) = mser5(points) else { return false };
    let rest = &points[cut..];
    let (first, second) = rest.split_at(rest.len() / 2);
    let narrow = half_width(rest).is_some_and(|half| half <= TOLERANCE * mean(rest));
    let seconds: f64 = rest.iter().map(|point| point.span_sec).sum();
    narrow && seconds >= MIN_LEVEL_SEC && mean(second) <= (1.0 + CLIMB) * mean(first)
}

#[cfg(test)]
mod tests;
