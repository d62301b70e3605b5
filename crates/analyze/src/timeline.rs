//! A run over time: the load in short windows, and the use of hosts. For figures and pages; no rule reads it.

use std::collections::BTreeMap;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::{Counts, Frame, FrameHead, Histogram, Phase, Run, Step, latency_histogram};

use crate::Resource;
use crate::analysis::AnalyzeError;
use crate::hosts::curves::{Curve, curves};
use crate::hosts::track::Span;
use crate::hosts::tracks::{Hosts, StepSamples};
use crate::hosts::usage;
use crate::load::frames::{counts_of, per_second};
use crate::load::percentile::quantile_ns;
use crate::overload::is_overload;
use crate::search::is_trial;

/// The most windows of a run; fewer for hosts, which are sampled less often.
const MOMENTS_MAX: f64 = 600.0;
const HOST_MOMENTS_MAX: f64 = 240.0;
/// The shortest windows, in seconds.
const SHORTEST_SEC: f64 = 0.2;
const HOST_SHORTEST_SEC: f64 = 1.0;
/// The possible lengths of a window, in seconds, times any power of ten.
const LENGTHS: [f64; 3] = [1.0, 2.0, 5.0];
/// The number of latency classes for each power of ten; the classes have equal width on a logarithmic scale.
const CLASSES_PER_DECADE: f64 = 10.0;

/// A run in windows of equal length, from its begin.
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
    /// The use of each resource in each window of the hosts.
    pub resources: Vec<Resource>,
    /// Garbage collection, stalls, waits and the CPU of processes in each window of the hosts.
    pub curves: Vec<Curve>,
}

/// One window of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Its begin, in seconds since the run began.
    pub at_sec: f64,
    /// Counts of all workers, also those after the load.
    pub counts: Counts,
    /// Responses and due requests per second of load; `None` where there was no load.
    pub throughput_per_sec: Option<f64>,
    pub due_per_sec: Option<f64>,
    /// Gauges at its end, summed over workers.
    pub in_flight: u64,
    pub backlog: u64,
    pub connections: u64,
    /// Percentiles of latency in nanoseconds; `None` with too few requests.
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    /// The number of requests that ended in each class of latency; empty if none did.
    pub latency: Vec<u64>,
}

/// The purpose of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    Ladder,
    /// A rate that a search tries.
    Trial,
    Overload,
    /// The only step of a plan.
    Load,
}

/// The purpose of a step in a run of this plan.
pub fn step_kind(plan: &Plan, step: &Step) -> StepKind {
    match &plan.load {
        _ if is_overload(plan, step) => StepKind::Overload,
        Load::Single { .. } => StepKind::Load,
        Load::Ladder { .. } if is_trial(plan, step) => StepKind::Trial,
        Load::Ladder { .. } => StepKind::Ladder,
    }
}

/// The frames of one window.
type Window<'a> = Vec<&'a Frame>;

/// The number of requests that ended in each class of latency. The class is ⌊[`CLASSES_PER_DECADE`]·log₁₀ ns⌋.
type Classes = BTreeMap<i32, u64>;

/// Computes the run over time.
///
/// # Errors
/// When a histogram of the run cannot be read.
pub fn timeline(run: &Run) -> Result<Timeline, AnalyzeError> {
    let length_sec = run.drained_ns() as f64 / 1e9;
    let window_sec = window_sec(length_sec / MOMENTS_MAX, SHORTEST_SEC);
    let mut windows: BTreeMap<u64, Window<'_>> = BTreeMap::new();
    for frame in &run.frames {
        let at_ns = frame.head.began_ns.midpoint(frame.head.ended_ns);
        windows.entry((at_ns as f64 / 1e9 / window_sec) as u64).or_default().push(frame);
    }
    let mut times = latency_histogram();
    let moment =
        |(number, window): (&u64, &Window<'_>)| moment(*number as f64 * window_sec, window, &mut times);
    let counted = windows.iter().map(moment).collect::<Result<Vec<_>, _>>()?;
    let (moments, bounds_ns) = in_the_same_classes(counted);
    let host_window_sec = self::window_sec(length_sec / HOST_MOMENTS_MAX, HOST_SHORTEST_SEC);
    let count = (length_sec / host_window_sec).ceil() as u32;
    let hosts_at_sec: Vec<f64> = (0..count).map(|number| f64::from(number) * host_window_sec).collect();
    let spans = spans_of(&hosts_at_sec, host_window_sec);
    let hosts = Hosts::new(run);
    let resources = used(run, &hosts, &spans);
    let curves = curves(run, &hosts, &spans, &resources);
    Ok(Timeline { window_sec, moments, bounds_ns, host_window_sec, hosts_at_sec, resources, curves })
}

/// The shortest permitted length of a window that is at least as long as both arguments.
fn window_sec(least_sec: f64, shortest_sec: f64) -> f64 {
    let least_sec = least_sec.max(shortest_sec);
    let decade = 10f64.powf(least_sec.log10().floor());
    let fits = |length: &f64| *length >= least_sec * (1.0 - 1e-9);
    LENGTHS.iter().map(|length| length * decade).find(fits).unwrap_or(10.0 * decade)
}

fn spans_of(at_sec: &[f64], window_sec: f64) -> Vec<Span> {
    let ns = |sec: f64| (sec * 1e9) as u64;
    at_sec.iter().map(|from| Span { from_ns: ns(*from), to_ns: ns(from + window_sec) }).collect()
}

/// The use of each resource between two instants, in nanoseconds since the run began; also during a run.
pub(crate) fn used_between(run: &Run, from_ns: u64, to_ns: u64) -> Vec<Resource> {
    used(run, &Hosts::new(run), &[Span { from_ns, to_ns }])
}

fn used(run: &Run, hosts: &Hosts<'_>, spans: &[Span]) -> Vec<Resource> {
    let machine_cores = f64::from(run.manifest.machine.limits.cores);
    usage::used(&StepSamples { hosts, spans, machine_cores })
}

/// Computes a window without its latency classes, which are returned next to it. `times` is a scratch histogram.
fn moment(at_sec: f64, frames: &[&Frame], times: &mut Histogram) -> Result<(Moment, Classes), AnalyzeError> {
    times.reset();
    for frame in frames {
        let step = frame.head.step;
        frame.latency.add_to(times).map_err(|source| AnalyzeError::Histogram { step, source })?;
    }
    let last = last_of_workers(frames);
    let sum = |of: fn(&FrameHead) -> u64| last.values().map(|head| of(head)).sum();
    let moment = Moment {
        at_sec,
        counts: counts_of(frames.iter().map(|frame| &frame.head)),
        throughput_per_sec: under_load(frames, |head| head.counts.completed),
        due_per_sec: under_load(frames, |head| head.counts.intended),
        in_flight: sum(|head| head.in_flight),
        backlog: sum(|head| head.backlog),
        connections: sum(|head| head.connections),
        p50_ns: quantile_ns(times, 0.5),
        p99_ns: quantile_ns(times, 0.99),
        latency: Vec::new(),
    };
    Ok((moment, classes(times)))
}

/// The last frame of each worker.
fn last_of_workers<'a>(frames: &[&'a Frame]) -> BTreeMap<u32, &'a FrameHead> {
    let mut heads: Vec<&FrameHead> =
        frames.iter().map(|frame| &frame.head).filter(|head| head.of_worker()).collect();
    heads.sort_by_key(|head| head.ended_ns);
    heads.into_iter().map(|head| (head.worker, head)).collect()
}

fn under_load(frames: &[&Frame], count: impl Fn(&FrameHead) -> u64) -> Option<f64> {
    let heads = || frames.iter().map(|frame| &frame.head).filter(|head| head.phase == Phase::Measure);
    heads().next().is_some().then(|| per_second(heads(), count))
}

fn classes(times: &Histogram) -> Classes {
    let mut classes = Classes::new();
    for value in times.iter_recorded() {
        let logarithm = (value.value_iterated_to().max(1) as f64).log10();
        let class = (logarithm * CLASSES_PER_DECADE).floor() as i32;
        *classes.entry(class).or_default() += value.count_at_value();
    }
    classes
}

/// Fills in the classes of each window over one common range, and returns their bounds in nanoseconds.
fn in_the_same_classes(counted: Vec<(Moment, Classes)>) -> (Vec<Moment>, Vec<f64>) {
    let known = || counted.iter().flat_map(|(_, classes)| classes.keys().copied());
    let range = known().min().zip(known().max());
    let filled = |(moment, classes): (Moment, Classes)| {
        let range = range.filter(|_| !classes.is_empty());
        let counts = range.into_iter().flat_map(|(least, most)| least..=most);
        let latency = counts.map(|class| classes.get(&class).copied().unwrap_or(0)).collect();
        Moment { latency, ..moment }
    };
    let bound = |class: i32| 10f64.powf(f64::from(class) / CLASSES_PER_DECADE);
    let bounds = range.into_iter().flat_map(|(least, most)| least..=most + 1).map(bound).collect();
    (counted.into_iter().map(filled).collect(), bounds)
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
        let (moment, _) = moment(0.0, &[], &mut latency_histogram()).unwrap();
        let (moments, bounds) = in_the_same_classes(vec![(moment.clone(), classes(&times))]);
        let counts = &moments[0].latency;
        assert_eq!((counts.len() + 1, counts.iter().sum::<u64>()), (bounds.len(), 5));
        assert_eq!((counts[0], *counts.last().unwrap()), (1, 1));
        assert!(in_the_same_classes(vec![(moment, Classes::new())]).1.is_empty());
    }
}
