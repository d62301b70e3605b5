//! A run over time: the load in short windows, and what hosts used meanwhile. Figures and pages show it; no rule reads it.

use std::collections::BTreeMap;

use plimsoll_record::{Counts, Frame, FrameHead, Histogram, Phase, Run, latency_histogram};

use crate::analysis::AnalyzeError;
use crate::hosts::track::Span;
use crate::hosts::tracks::{Hosts, StepSamples};
use crate::hosts::usage;
use crate::load::frames::per_second;
use crate::load::percentile::percentile;
use crate::{Percentile, Resource};

/// A run is divided into so many windows at most, and into fewer for hosts, which are read less often.
const MOMENTS_MAX: f64 = 600.0;
const HOST_MOMENTS_MAX: f64 = 240.0;
/// No window is shorter, in seconds.
const SHORTEST_SEC: f64 = 0.2;
const HOST_SHORTEST_SEC: f64 = 1.0;
/// The lengths that a window may have, in seconds, times any power of ten.
const LENGTHS: [f64; 3] = [1.0, 2.0, 5.0];
/// Latencies are counted in so many classes for each power of ten, which are equally wide on a logarithmic scale.
const CLASSES_PER_DECADE: f64 = 10.0;

/// A run in windows of equal length, from its begin on.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The length of a window of the load, in seconds.
    pub window_sec: f64,
    /// The windows in which there was load, in order.
    pub moments: Vec<Moment>,
    /// The bounds of the classes of latency in nanoseconds, one more than there are classes; empty without a response.
    pub bounds_ns: Vec<f64>,
    /// The length of a window of the hosts, in seconds.
    pub host_window_sec: f64,
    /// The begin of each window of the hosts, in seconds since the run began.
    pub hosts_at_sec: Vec<f64>,
    /// What was used of each resource in each of these windows.
    pub resources: Vec<Resource>,
}

/// One window of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Its begin, in seconds since the run began.
    pub at_sec: f64,
    /// What was counted in it, of all workers, after the load too.
    pub counts: Counts,
    /// Responses, and requests that fell due, per second while there was load; `None` where there was none.
    pub throughput_per_sec: Option<f64>,
    pub due_per_sec: Option<f64>,
    /// At its end, of all workers.
    pub in_flight: u64,
    pub backlog: u64,
    pub connections: u64,
    pub p50: Percentile,
    pub p99: Percentile,
    /// How many requests ended in each class of latency; empty if none did.
    pub latency: Vec<u64>,
}

/// The frames of one window.
#[derive(Default)]
struct Window<'a> {
    frames: Vec<&'a Frame>,
}

/// A run over time.
///
/// # Errors
/// When a histogram of the run cannot be read.
pub fn timeline(run: &Run) -> Result<Timeline, AnalyzeError> {
    let length_sec = run.steps.iter().map(|step| step.drained_ns).max().unwrap_or(0) as f64 / 1e9;
    let window_sec = window_sec(length_sec / MOMENTS_MAX, SHORTEST_SEC);
    let mut windows: BTreeMap<u64, Window<'_>> = BTreeMap::new();
    for frame in &run.frames {
        let at_ns = frame.head.began_ns.midpoint(frame.head.ended_ns);
        windows.entry((at_ns as f64 / 1e9 / window_sec) as u64).or_default().frames.push(frame);
    }
    let timed = windows.values().map(Window::times).collect::<Result<Vec<_>, _>>()?;
    let bounds_ns = bounds_ns(&timed);
    let moment = |((number, window), times): ((&u64, &Window<'_>), &Histogram)| {
        window.moment(*number as f64 * window_sec, times, &bounds_ns)
    };
    let moments = windows.iter().zip(&timed).map(moment).collect();
    let host_window_sec = self::window_sec(length_sec / HOST_MOMENTS_MAX, HOST_SHORTEST_SEC);
    let count = (length_sec / host_window_sec).ceil() as u32;
    let hosts_at_sec: Vec<f64> = (0..count).map(|number| f64::from(number) * host_window_sec).collect();
    let resources = resources(run, &hosts_at_sec, host_window_sec);
    Ok(Timeline { window_sec, moments, bounds_ns, host_window_sec, hosts_at_sec, resources })
}

/// The shortest length of a window that is at least as long as both.
fn window_sec(least_sec: f64, shortest_sec: f64) -> f64 {
    let least_sec = least_sec.max(shortest_sec);
    let decade = 10f64.powf(least_sec.log10().floor());
    let fits = |length: &f64| *length >= least_sec * (1.0 - 1e-9);
    LENGTHS.iter().map(|length| length * decade).find(fits).unwrap_or(10.0 * decade)
}

fn resources(run: &Run, at_sec: &[f64], window_sec: f64) -> Vec<Resource> {
    let ns = |sec: f64| (sec * 1e9) as u64;
    let span = |from: &f64| Span { from_ns: ns(*from), to_ns: ns(from + window_sec) };
    used(run, &at_sec.iter().map(span).collect::<Vec<_>>())
}

/// What was used of each resource between two times, in nanoseconds since the run began; of a run that goes on too.
pub fn used_between(run: &Run, from_ns: u64, to_ns: u64) -> Vec<Resource> {
    used(run, &[Span { from_ns, to_ns }])
}

fn used(run: &Run, spans: &[Span]) -> Vec<Resource> {
    let machine_cores = f64::from(run.manifest.machine.limits.cores);
    let hosts = Hosts::new(run);
    usage::used(&StepSamples { hosts: &hosts, spans, machine_cores })
}

/// Bounds of classes that hold every time.
fn bounds_ns(timed: &[Histogram]) -> Vec<f64> {
    let known = || timed.iter().filter(|times| !times.is_empty());
    let Some(least) = known().map(|times| times.min().max(1)).min() else { return Vec::new() };
    let most = known().map(Histogram::max).max().unwrap_or(least);
    let class = |ns: u64| ((ns as f64).log10() * CLASSES_PER_DECADE).floor() as i32;
    (class(least)..=class(most) + 1).map(|class| 10f64.powf(f64::from(class) / CLASSES_PER_DECADE)).collect()
}

impl Window<'_> {
    fn times(&self) -> Result<Histogram, AnalyzeError> {
        let mut times = latency_histogram();
        for frame in &self.frames {
            let step = frame.head.step;
            frame.latency.add_to(&mut times).map_err(|source| AnalyzeError::Histogram { step, source })?;
        }
        Ok(times)
    }

    fn moment(&self, at_sec: f64, times: &Histogram, bounds_ns: &[f64]) -> Moment {
        let mut counts = Counts::default();
        self.frames.iter().for_each(|frame| counts.merge(&frame.head.counts));
        let last = self.last_of_workers();
        let sum = |of: fn(&Frame) -> u64| last.values().map(|frame| of(frame)).sum();
        Moment {
            at_sec,
            counts,
            throughput_per_sec: self.under_load(|head| head.counts.completed),
            due_per_sec: self.under_load(|head| head.counts.intended),
            in_flight: sum(|frame| frame.head.in_flight),
            backlog: sum(|frame| frame.head.backlog),
            connections: sum(|frame| frame.head.connections),
            p50: percentile(times, 0.5),
            p99: percentile(times, 0.99),
            latency: classes(times, bounds_ns),
        }
    }

    /// The last frame of each worker.
    fn last_of_workers(&self) -> BTreeMap<u32, &Frame> {
        let mut last: BTreeMap<u32, &Frame> = BTreeMap::new();
        for frame in self.frames.iter().filter(|frame| frame.head.of_worker()) {
            let kept = last.entry(frame.head.worker).or_insert(frame);
            if frame.head.ended_ns >= kept.head.ended_ns {
                *kept = frame;
            }
        }
        last
    }

    fn under_load(&self, count: impl Fn(&FrameHead) -> u64) -> Option<f64> {
        let heads =
            || self.frames.iter().map(|frame| &frame.head).filter(|head| head.phase == Phase::Measure);
        heads().next().is_some().then(|| per_second(heads(), count))
    }
}

fn classes(times: &Histogram, bounds_ns: &[f64]) -> Vec<u64> {
    if times.is_empty() {
        return Vec::new();
    }
    let mut counts = vec![0; bounds_ns.len().saturating_sub(1)];
    for value in times.iter_recorded() {
        let above = bounds_ns.partition_point(|bound| *bound <= value.value_iterated_to() as f64);
        if let Some(count) = counts.get_mut(above.saturating_sub(1)) {
            *count += value.count_at_value();
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_a_round_length() {
        let length = |least: f64| window_sec(least, SHORTEST_SEC);
        assert_eq!([0.0, 0.2, 0.21, 1.0, 3.0, 6.0].map(length), [0.2, 0.2, 0.5, 1.0, 5.0, 10.0]);
    }

    #[test]
    fn every_time_is_in_one_class() {
        let mut times = latency_histogram();
        for ns in [1, 999, 1000, 5_000_000, 5_000_000_000] {
            times.record(ns).unwrap();
        }
        let bounds = bounds_ns(std::slice::from_ref(&times));
        let counts = classes(&times, &bounds);
        assert_eq!((counts.len() + 1, counts.iter().sum::<u64>()), (bounds.len(), 5));
        assert_eq!((counts[0], *counts.last().unwrap()), (1, 1));
        assert!(bounds_ns(&[latency_histogram()]).is_empty());
    }
}
