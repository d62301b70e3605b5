//! The summary of one step.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_plan::{Level, Plan, RateProfile, Stage};
use plimsoll_record::{
    CorruptHistogram, EncodedHistogram, Frame, FrameHead, GeneratorShare, Histogram, Phase, RateStage, Run,
    Step, StepEnd,
};
use plimsoll_stats::wilson;

use super::frames::{counts_of, merged, per_second};
use super::percentile::{limited, summary};
use super::ramp_windows::over_time;
use super::requests::{Divided, by_request};
use super::series::series;
use super::steady::{Settled, settle_closed, settle_open};
use crate::generator::evidence::{EndedTimes, Evidence};
use crate::generator::self_check;
use crate::{Estimate, Steadiness, StepSummary};

/// The frames of a step, divided at the end of the warm-up.
struct Window<'a> {
    settled: Settled,
    /// Frames under load, after the warm-up and before the target was lost.
    measured: Vec<&'a Frame>,
    /// Later frames, and those of the drain, in which the last requests of the measured window ended.
    after: Vec<&'a Frame>,
    /// True if the measured window extends to the last answer, so that nothing is left to drain.
    to_the_last: bool,
}

impl<'a> Window<'a> {
    /// All frames in which requests of the measured window ended.
    fn ended(&self) -> impl Iterator<Item = &'a Frame> {
        self.measured.iter().chain(&self.after).copied()
    }
}

/// The latencies from which the percentiles of a step are computed.
pub(crate) fn latencies(plan: &Plan, step: &Step, frames: &[&Frame]) -> Result<Histogram, CorruptHistogram> {
    let varies = plan.level().and_then(Level::profile).is_some_and(RateProfile::varies);
    merged(window(step, varies, frames).ended(), |frame| &frame.latency)
}

fn window<'a>(step: &Step, varies: bool, frames: &[&'a Frame]) -> Window<'a> {
    let last = last_interval(step, frames);
    let under_load = |frame: &&Frame| frame.head.phase == Phase::Measure && frame.head.interval <= last;
    let loaded = frames.iter().copied().filter(under_load);
    let points = series(loaded.map(|frame| &frame.head), workers(frames));
    let settled = match step.rate_per_sec {
        None => settle_closed(&points),
        // Nothing is cut, and no interval is computed, since that supposes a level.
        Some(_) if varies => Settled { cut: 0, half_width: None, steadiness: Steadiness::Ramp, drift: None },
        Some(rate) => settle_open(&points, rate),
    };
    let first = if settled.cut == 0 { 0 } else { points.get(settled.cut).map_or(0, |point| point.interval) };
    // After a generator was lost less was offered, and it is unknown which of the requests that ended then were due before.
    let whole = generator_lost_after(step, frames).is_none();
    let ended = |frame: &&Frame| match frame.head.phase {
        Phase::Drain => whole,
        Phase::Measure => frame.head.interval >= first && (whole || frame.head.interval <= last),
    };
    let (measured, after): (Vec<_>, Vec<_>) = frames.iter().copied().filter(ended).partition(under_load);
    match measured_to_the_last_answer(step.end, completed(&measured), completed(frames)) {
        true => Window { settled, measured: frames.to_vec(), after: Vec::new(), to_the_last: true },
        false => Window { settled, measured, after, to_the_last: false },
    }
}

/// True if a step is measured until its last answer, and not only during its load.
///
/// The load of a number of requests is over when a connection has nothing more to send. From then on connections become idle one
/// by one, which would distort the throughput of a long step. But where most answers are still to come at that instant, as with one
/// request on each connection, the time of the load means nothing; then all answers are divided by the time to the last of them.
pub fn measured_to_the_last_answer(end: StepEnd, answered_under_load: u64, answered: u64) -> bool {
    end == StepEnd::RequestLimit && answered_under_load * 2 < answered
}

/// The last interval that is measured. A lost target is measured until its last answer, since the time without a target does not
/// belong to its throughput. A step that lost a generator is measured until the last interval to which all generators contributed.
fn last_interval(step: &Step, frames: &[&Frame]) -> u32 {
    let of_target = last_answered(step, frames);
    generator_lost_after(step, frames).map_or(of_target, |last| last.min(of_target))
}

/// The last interval that all generators of a step handed over; `None` if none was lost.
fn generator_lost_after(step: &Step, frames: &[&Frame]) -> Option<u32> {
    let lost = step.generators.iter().filter(|share| share.lost_ns.is_some());
    let last = |share: &GeneratorShare| {
        let own = frames.iter().map(|frame| &frame.head).filter(|head| share.has(head.worker));
        own.map(|head| head.interval).max().unwrap_or(0)
    };
    lost.map(last).min()
}

fn last_answered(step: &Step, frames: &[&Frame]) -> u32 {
    let answered = frames.iter().map(|frame| &frame.head);
    let answered = answered.filter(|head| head.phase == Phase::Measure && head.counts.completed > 0);
    let last = answered.map(|head| head.interval).max();
    last.filter(|_| step.end == StepEnd::TargetLost).unwrap_or(u32::MAX)
}

fn completed(frames: &[&Frame]) -> u64 {
    frames.iter().map(|frame| frame.head.counts.completed).sum()
}

fn workers(frames: &[&Frame]) -> usize {
    frames.iter().map(|frame| frame.head.worker).collect::<BTreeSet<_>>().len()
}

/// Begin of the first and end of the last of these frames, in nanoseconds since the run began.
fn bounds_ns(frames: &[&Frame]) -> Option<(u64, u64)> {
    let began = frames.iter().map(|frame| frame.head.began_ns).min()?;
    let ended = frames.iter().map(|frame| frame.head.ended_ns).max()?;
    Some((began, ended))
}

/// The instant of the last answer, in nanoseconds since the run began.
fn lost_at_ns(step: &Step, window: &Window<'_>) -> u64 {
    let answered = window.measured.iter().filter(|frame| frame.head.counts.completed > 0);
    answered.map(|frame| frame.head.ended_ns).max().unwrap_or(step.began_ns)
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

/// Successes until the end of the measured window, including the warm-up.
fn ok_under_load(window: &Window<'_>, frames: &[&Frame]) -> u64 {
    let last = window.measured.iter().map(|frame| frame.head.interval).max();
    let is_counted = |head: &FrameHead| {
        (window.to_the_last || head.phase == Phase::Measure) && Some(head.interval) <= last
    };
    let heads = frames.iter().map(|frame| &frame.head).filter(|head| is_counted(head));
    heads.map(|head| head.counts.ok).sum()
}

/// The throughput of the measured window: requests over time, with the interval centred on that value.
fn throughput(window: &Window<'_>) -> Estimate {
    let value = per_second(window.measured.iter().map(|frame| &frame.head), |head| head.counts.completed);
    let interval = window.settled.half_width.map(|half| ((value - half).max(0.0), value + half));
    Estimate { value, interval }
}

/// The times of all requests of the measured window, and the moments of those that ended within it.
fn times(
    window: &Window<'_>,
    which: impl Fn(&Frame) -> &EncodedHistogram,
) -> Result<(Histogram, EndedTimes), CorruptHistogram> {
    let mut times = merged(window.measured.iter().copied(), &which)?;
    let ended = EndedTimes { mean_ns: times.mean(), stdev_ns: times.stdev() };
    window.after.iter().try_for_each(|frame| which(frame).add_to(&mut times))?;
    Ok((times, ended))
}

/// The offered rate of a step over time: its recorded stages, or the plan's level where none were recorded.
fn offered(plan: &Plan, step: &Step) -> Option<RateProfile> {
    let stage = |stage: &RateStage| Stage {
        from_per_sec: stage.from_per_sec,
        to_per_sec: stage.to_per_sec,
        duration: Duration::from_nanos(stage.span_ns),
    };
    match step.stages.as_slice() {
        [] => plan.level().and_then(Level::profile).cloned(),
        stages => Some(RateProfile::Stages(stages.iter().map(stage).collect())),
    }
}

/// Summarises one step of a run, from its frames and the facts about the generator's host.
pub(crate) fn summarize(
    run: &Run,
    plan: &Plan,
    step: &Step,
    frames: &[&Frame],
) -> Result<StepSummary, CorruptHistogram> {
    let profile = offered(plan, step);
    let profile = profile.as_ref();
    let window = window(step, profile.is_some_and(RateProfile::varies), frames);
    let (latency_times, measured_times) = times(&window, |frame| &frame.latency)?;
    let latency = summary(&latency_times);
    let (service, service_mean_ns) = match window.ended().any(|frame| frame.service.is_some()) {
        true => {
            let (times, ended) = times(&window, Frame::service_times)?;
            (summary(&times), ended.mean_ns)
        }
        false => (latency, measured_times.mean_ns),
    };
    let send_lag = merged(window.ended(), |frame| &frame.send_lag)?;
    let measured: Vec<&FrameHead> = window.measured.iter().map(|frame| &frame.head).collect();
    let (began_ns, ended_ns) = bounds_ns(&window.measured).unwrap_or((step.began_ns, step.began_ns));
    let load_began_ns = bounds_ns(frames).map_or(step.began_ns, |(began, _)| began);
    let counts = counts_of(frames.iter().map(|frame| &frame.head));
    let ended: Vec<&Frame> = window.ended().collect();
    let divided = Divided { all: frames, measured: &window.measured, ended: &ended };
    let mut summary = StepSummary {
        index: step.index,
        connections: step.connections,
        depth: step.depth,
        rate_per_sec: step.rate_per_sec,
        success_ratio: counts.success_ratio(),
        success_interval: wilson(counts.ok, counts.ended()),
        counts,
        ok_under_load: ok_under_load(&window, frames),
        warmup_sec: seconds(load_began_ns, began_ns),
        measured_sec: seconds(began_ns, ended_ns),
        drain_sec: if window.to_the_last { 0.0 } else { seconds(step.ended_ns, step.drained_ns) },
        throughput: throughput(&window),
        lower_bound: false,
        bytes_in_per_sec: per_second(measured.iter().copied(), |head| head.counts.bytes_in),
        steadiness: window.settled.steadiness,
        drift: window.settled.drift,
        end: step.end,
        lost_at_sec: (step.end == StepEnd::TargetLost).then(|| lost_at_ns(step, &window) as f64 / 1e9),
        latency,
        limited: limited(&latency_times, &plan.slo),
        service,
        connect: summary(&merged(window.measured.iter().copied(), |frame| &frame.connect)?),
        handshake: summary(&merged(window.measured.iter().copied(), |frame| &frame.handshake)?),
        requests: by_request(&plan.requests, &divided)?,
        ramp_windows: over_time(profile, step, frames)?,
        generators: step.generators.len(),
        generator: crate::GeneratorHealth::default(),
    };
    let all: Vec<&FrameHead> = frames.iter().map(|frame| &frame.head).collect();
    summary.generator = self_check(&Evidence {
        run,
        plan,
        step,
        summary: &summary,
        all: &all,
        measured: &measured,
        measured_times,
        measured_service_mean_ns: service_mean_ns,
        send_lag: &send_lag,
    });
    summary.lower_bound = !summary.generator.healthy();
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_requests_that_was_mostly_answered_after_the_load_is_measured_longer() {
        assert!(measured_to_the_last_answer(StepEnd::RequestLimit, 1, 10));
        assert!(!measured_to_the_last_answer(StepEnd::RequestLimit, 901, 1000));
        assert!(!measured_to_the_last_answer(StepEnd::TimeLimit, 1, 10));
    }
}
