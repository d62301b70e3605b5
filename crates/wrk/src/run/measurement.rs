//! Computes the numbers of wrk's text from the frames of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_record::{CorruptHistogram, Counts, Frame, Histogram, Phase, Run, Step, latency_histogram};

use crate::options::{Dialect, Options};
use crate::stats::{Measured, RateSampler, SocketErrors};
use crate::text;

/// The lowest status that counts as an error.
const BAD_STATUS_FIRST: u16 = 400;

/// Returns what the run measured.
///
/// Responses and bytes are those within the load's time, so that their rates are correct. The latencies and errors
/// include everything that ended, also after the load.
pub(super) fn measured(options: &Options, run: &Run) -> Result<Measured, CorruptHistogram> {
    let (mut under_load, mut all) = (Counts::default(), Counts::default());
    let (mut latency, mut service_time) = (latency_histogram(), latency_histogram());
    for frame in &run.frames {
        all.merge(&frame.head.counts);
        if frame.head.phase == Phase::Measure {
            under_load.merge(&frame.head.counts);
        }
        frame.latency.add_to(&mut latency)?;
        if options.service_time {
            frame.service_times().add_to(&mut service_time)?;
        }
    }
    let bad = |(status, count): (u16, u64)| if status >= BAD_STATUS_FIRST { count } else { 0 };
    Ok(Measured {
        runtime_us: run.steps.first().map_or(0, |step| load_ns(run, step) / 1000),
        requests: under_load.completed,
        bytes: under_load.bytes_in,
        errors: SocketErrors::from_failures(&all.failed),
        bad_statuses: under_load.status.iter().map(bad).sum(),
        latency,
        service_time,
        rates: rates(run),
    })
}

/// Returns how long the load lasted, in nanoseconds: a script may have stopped every thread early.
fn load_ns(run: &Run, step: &Step) -> u64 {
    let under_load = run.frames.iter().filter(|frame| frame.head.phase == Phase::Measure);
    let last_ns = under_load.map(|frame| frame.head.ended_ns).max().unwrap_or(step.ended_ns);
    last_ns.min(step.ended_ns).saturating_sub(step.began_ns)
}

/// Groups the frames by thread.
fn threads(run: &Run) -> BTreeMap<u32, Vec<&Frame>> {
    let mut threads: BTreeMap<u32, Vec<&Frame>> = BTreeMap::new();
    for frame in &run.frames {
        threads.entry(frame.head.worker).or_default().push(frame);
    }
    threads
}

/// Returns the rates of all threads. Intervals that the end of the load cut short are left out: their rates would be random.
fn rates(run: &Run) -> Vec<u64> {
    let sampled =
        |frame: &&&Frame| frame.head.phase == Phase::Measure && span(frame) >= RateSampler::INTERVAL / 2;
    let of_thread = |frames: Vec<&Frame>| {
        let mut sampler = RateSampler::default();
        let sample = |frame: &&Frame| sampler.observe(frame.head.counts.completed, span(frame));
        frames.iter().filter(sampled).filter_map(sample).collect::<Vec<u64>>()
    };
    threads(run).into_values().flat_map(of_thread).collect()
}

fn span(frame: &Frame) -> Duration {
    Duration::from_nanos(frame.head.ended_ns.saturating_sub(frame.head.began_ns))
}

/// Returns the lines that wrk2 prints for each thread after [`text::CALIBRATION_DELAY`].
pub(super) fn calibrations(options: &Options, run: &Run) -> Result<Vec<String>, CorruptHistogram> {
    if options.dialect == Dialect::Wrk || options.duration <= text::CALIBRATION_DELAY {
        return Ok(Vec::new());
    }
    let Some(step) = run.steps.first() else { return Ok(Vec::new()) };
    let until_ns = step.began_ns + text::CALIBRATION_DELAY.as_nanos() as u64;
    let line = |frames: Vec<&Frame>| Ok(text::calibration(&latencies_until(&frames, until_ns)?));
    threads(run).into_values().map(line).filter_map(Result::transpose).collect()
}

fn latencies_until(frames: &[&Frame], until_ns: u64) -> Result<Histogram, CorruptHistogram> {
    let mut sum = latency_histogram();
    for frame in frames.iter().filter(|frame| frame.head.began_ns < until_ns) {
        frame.latency.add_to(&mut sum)?;
    }
    Ok(sum)
}
