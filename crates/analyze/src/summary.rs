//! What one step came to.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::{
    CorruptHistogram, Counts, EncodedHistogram, Frame, FrameHead, Histogram, HostSample, Phase, Step,
    latency_histogram,
};

use crate::generator::{Evidence, health};
use crate::proportion::wilson;
use crate::quantile::summary;
use crate::series::series;
use crate::steady::{Settled, settle_closed, settle_open};
use crate::{Estimate, StepSummary};

/// The frames of a step, divided by the cut.
struct Window<'a> {
    settled: Settled,
    /// Frames under load, after the warm-up.
    measured: Vec<&'a Frame>,
    /// Those, and the frames of the drain: where the requests of the measured window ended.
    ended: Vec<&'a Frame>,
}

/// Settles a step: the intervals of an open loop are never cut.
fn settle(step: &Step, points: &[crate::series::Point]) -> Settled {
    step.rate_per_sec.map_or_else(|| settle_closed(points), |rate| settle_open(points, rate))
}

fn window<'a>(step: &Step, frames: &[&'a Frame]) -> Window<'a> {
    let points = series(frames.iter().map(|frame| &frame.head), workers(frames));
    let settled = settle(step, &points);
    let first = if settled.cut == 0 { 0 } else { points.get(settled.cut).map_or(0, |point| point.interval) };
    let ended: Vec<&Frame> = frames
        .iter()
        .filter(|frame| frame.head.phase == Phase::Drain || frame.head.interval >= first)
        .copied()
        .collect();
    let measured = ended.iter().filter(|frame| frame.head.phase == Phase::Measure).copied().collect();
    Window { settled, measured, ended }
}

fn workers(frames: &[&Frame]) -> usize {
    frames.iter().map(|frame| frame.head.worker).collect::<BTreeSet<_>>().len()
}

/// Something counted, per second: each worker's count over the length of its own frames, summed over workers.
pub(crate) fn per_second<'a>(
    heads: impl IntoIterator<Item = &'a FrameHead>,
    count: impl Fn(&Counts) -> u64,
) -> f64 {
    let mut by_worker: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for head in heads {
        let (sum, span_sec) = by_worker.entry(head.worker).or_default();
        *sum += count(&head.counts);
        *span_sec += head.span_sec();
    }
    by_worker
        .values()
        .filter(|(_, span_sec)| *span_sec > 0.0)
        .map(|(sum, span_sec)| *sum as f64 / span_sec)
        .sum()
}

/// All counts of these frames together.
fn counts_of(frames: &[&Frame]) -> Counts {
    let mut sum = Counts::default();
    frames.iter().for_each(|frame| sum.merge(&frame.head.counts));
    sum
}

/// One of the histograms of these frames, merged.
fn merged(
    frames: &[&Frame],
    which: impl Fn(&Frame) -> &EncodedHistogram,
) -> Result<Histogram, CorruptHistogram> {
    let mut sum = latency_histogram();
    frames.iter().try_for_each(|frame| which(frame).add_to(&mut sum))?;
    Ok(sum)
}

/// When the first of these frames began and the last ended, in nanoseconds since the run began.
fn bounds_ns(frames: &[&Frame]) -> Option<(u64, u64)> {
    let began = frames.iter().map(|frame| frame.head.began_ns).min()?;
    let ended = frames.iter().map(|frame| frame.head.ended_ns).max()?;
    Some((began, ended))
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

/// The throughput of the measured window: the value is requests over time, the interval is laid around it.
fn throughput(window: &Window<'_>) -> Estimate {
    let value = per_second(window.measured.iter().map(|frame| &frame.head), |counts| counts.completed);
    let interval = window.settled.half_width.map(|half| ((value - half).max(0.0), value + half));
    Estimate { value, interval }
}

/// What one step came to, from its frames and the samples of the generator's host.
///
/// # Errors
/// When a stored histogram cannot be decoded.
pub(crate) fn summarize(
    step: &Step,
    frames: &[&Frame],
    hosts: &[HostSample],
) -> Result<StepSummary, CorruptHistogram> {
    let window = window(step, frames);
    let latency = summary(&merged(&window.ended, |frame| &frame.latency)?);
    let service = summary(&merged(&window.ended, |frame| &frame.service)?);
    let send_lag = merged(&window.ended, |frame| &frame.send_lag)?;
    let measured: Vec<&FrameHead> = window.measured.iter().map(|frame| &frame.head).collect();
    let (began_ns, ended_ns) = bounds_ns(&window.measured).unwrap_or((step.began_ns, step.began_ns));
    let load_began_ns = bounds_ns(frames).map_or(step.began_ns, |(began, _)| began);
    let ended = counts_of(&window.ended);
    let mut summary = StepSummary {
        index: step.index,
        connections: step.connections,
        rate_per_sec: step.rate_per_sec,
        counts: counts_of(frames),
        success_ratio: ended.success_ratio(),
        success_interval: wilson(ended.ok, ended.ended()),
        warmup_sec: seconds(load_began_ns, began_ns),
        measured_sec: seconds(began_ns, ended_ns),
        drain_sec: seconds(step.ended_ns, step.drained_ns),
        throughput: throughput(&window),
        bytes_in_per_sec: per_second(measured.iter().copied(), |counts| counts.bytes_in),
        steadiness: window.settled.steadiness,
        end: step.end,
        latency,
        service,
        generator: crate::GeneratorHealth::default(),
    };
    let all: Vec<&FrameHead> = frames.iter().map(|frame| &frame.head).collect();
    summary.generator = health(&Evidence {
        step,
        summary: &summary,
        all: &all,
        measured: &measured,
        send_lag: &send_lag,
        hosts,
    });
    Ok(summary)
}
