//! Whether a target is warm: the load before the first step has run for long enough.

use std::collections::BTreeMap;

use plimsoll_record::{CorruptHistogram, Frame, FrameHead, latency_histogram};
use plimsoll_stats::{Truncation, mean, mser5};

use super::series::{Point, half_width, series};

/// What is level must have been so for at least this long: compilers that work alongside the program, caches and pools pause
/// for a second or two between one stair and the next.
const MIN_LEVEL_SEC: f64 = 5.0;

/// A target is warm when the 95 % interval of its speed is within this ratio of it. That is wider than what a step asks for:
/// the figures come from the steps.
const TOLERANCE: f64 = 0.05;

/// A second half that is faster than the first by more than this ratio still climbs.
const CLIMB: f64 = 0.02;

/// It is looked every so many complete intervals, and two looks in a row must agree.
const LOOK_EVERY: usize = 5;

/// The throughput of the last so many intervals is that of the end.
const END_INTERVALS: usize = 20;

/// A load before the first step, as far as it has come.
#[derive(Debug, Clone)]
pub struct WarmUp {
    workers: usize,
    by: Speed,
    heads: Vec<FrameHead>,
    /// Requests that ended and the seconds that they took, by interval.
    taken: BTreeMap<u32, (f64, f64)>,
}

/// How fast a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// By its throughput: that of a closed loop is the target's own.
    Throughput,
    /// By how short it takes: the throughput of an open loop is what is offered from its first second on.
    ServiceTime,
}

impl WarmUp {
    /// A load that `workers` make.
    pub fn new(workers: u32, by: Speed) -> Self {
        Self { workers: workers as usize, by, heads: Vec::new(), taken: BTreeMap::new() }
    }

    /// Forgets what it has seen: the same load goes on under other conditions.
    pub fn forget(&mut self) {
        self.heads.clear();
        self.taken.clear();
    }

    /// Takes in a frame; fails if its times cannot be decoded.
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

    /// True once the target is as fast as it becomes, as far as can be seen: two looks in a row find a level.
    pub fn is_steady(&self) -> bool {
        let points = self.speeds();
        let now = points.len() - points.len() % LOOK_EVERY;
        now > LOOK_EVERY && is_level(&points[..now - LOOK_EVERY]) && is_level(&points[..now])
    }

    /// Completed requests per second at the end, as far as it has come.
    pub fn throughput_per_sec(&self) -> f64 {
        let points = series(&self.heads, self.workers);
        mean(&points[points.len().saturating_sub(END_INTERVALS)..])
    }

    /// Requests that failed, and all that ended.
    pub fn failed(&self) -> (u64, u64) {
        self.heads.iter().map(|head| &head.counts).fold((0, 0), |(failed, ended), counts| {
            (failed + counts.failed.total(), ended + counts.failed.total() + counts.completed)
        })
    }

    /// The series of what the target is judged by, as a rate.
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

/// True if these rates have come to a level and stay there.
///
/// A just-in-time compiler makes a program faster in stairs: it runs level for a while, and then faster at once. So not only
/// must what MSER-5 leaves be level, but it must have been so for as long as the climb took (the cut is in the first half), for
/// five seconds at least, and its second half must not be above its first. What grows slower has nothing to warm up for.
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
