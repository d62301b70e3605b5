//! What the load alone shows: whether the target was pushed to its limit.

use super::context::RuleContext;
use super::facts::concurrency::is_saturated;
use super::failures::{failing, failures};
use super::next::nearly;
use crate::findings::{
    Advice, At, Confidence, Evidence, Knee, Limit, LoadEffect, Observation, Place, RampWindow, RowClaim,
    Steadiness, StepSummary, TimeSummary, Verdict,
};
use crate::hosts::resource::Resource;
use crate::load::knee::{counts_for_capacity, usable};
use crate::observations::Case;
use crate::table::load_effect;
use plimsoll_stats::ratio;

/// An open loop falls behind if it answers less than this ratio of what fell due and could be answered while it was measured.
const ACHIEVED_RATIO: f64 = 0.99;

/// A window of a changing rate is short if it answers less than this ratio of what falls due. At a rising rate answers are
/// always a little behind.
const WINDOW_RATIO: f64 = 0.95;

/// Beyond the shortest time of a request, at most this share of a window counts as spent on the way. If a target serves a
/// part c of the rate, the mean grows with the time, to (1/c − 1)/2 of it: for c ≤ 1/2 that would explain all that is missing.
const MAX_ON_THE_WAY: f64 = 0.4;

/// The smallest gain from step to step that counts as growth.
const MIN_GAIN: f64 = 0.05;

/// The run ended before its first step.
pub(super) fn nothing_ran(case: &Case<'_>) -> Verdict {
    Verdict { advice: vec![Advice::NothingRan], ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The first window of a changing rate in which clearly less was answered than fell due, if that also holds for every later window
/// of at least that rate, and one of these answered less than it could: where a rate begins, answers are behind only until the
/// first of them arrive.
fn first_short(step: &StepSummary) -> Option<&RampWindow> {
    let is_short = |window: &RampWindow| window.throughput_per_sec < WINDOW_RATIO * window.due_per_sec;
    let is_behind = |window: &RampWindow| {
        let part = answerable(&step.latency, window.began_sec, window.end_sec);
        window.throughput_per_sec < ACHIEVED_RATIO * window.due_per_sec * part
    };
    let windows = &step.ramp_windows;
    windows.iter().enumerate().map(|(index, window)| (&windows[index..], window)).find_map(
        |(later, window)| {
            let comparable = |other: &&RampWindow| other.rate_per_sec >= window.rate_per_sec;
            let mut all = later.iter().filter(comparable);
            (all.clone().all(is_short) && all.any(is_behind)).then_some(window)
        },
    )
}

/// Requests per second that fell due while the load was on, at most the planned rate: after a generator was lost, others
/// fell due that are not measured.
fn due_per_sec(step: &StepSummary, offered_per_sec: f64) -> f64 {
    (step.counts.intended as f64 / step.measured_sec.max(f64::MIN_POSITIVE)).min(offered_per_sec)
}

/// The share of what falls due in a window that can be answered in it; the load began at second 0. Answers to what fell due before
/// the window replace those that are on the way at its end, except within a latency L of the load's begin: E(L − began)⁺ is
/// missing, which Scarf 1958 bounds by the mean and the deviation.
fn answerable(latency: &TimeSummary, began_sec: f64, end_sec: f64) -> f64 {
    let (mean, deviation, shortest) = (latency.mean_ns / 1e9, latency.stdev_ns / 1e9, latency.min_ns / 1e9);
    let length_sec = (end_sec - began_sec).max(f64::MIN_POSITIVE);
    let past = began_sec - mean;
    let on_the_way = mean.min((deviation.hypot(past) - past) / 2.0);
    let shortest = (shortest - began_sec).max(0.0);
    let missing = shortest + (on_the_way - shortest).clamp(0.0, MAX_ON_THE_WAY * length_sec);
    (1.0 - missing / length_sec).max(0.0)
}

/// An open loop shows whether the target keeps up with one rate, and no more.
pub(super) fn open_loop(case: &Case<'_>, step: &StepSummary) -> Verdict {
    if !counts_for_capacity(step) {
        return failing(case, step);
    }
    let (offered_per_sec, achieved_per_sec) = (step.rate_per_sec.unwrap_or_default(), step.throughput.value);
    let due_per_sec = due_per_sec(step, offered_per_sec);
    let short = first_short(step);
    let is_behind = step.steadiness == Steadiness::Moving
        || achieved_per_sec
            < ACHIEVED_RATIO * due_per_sec * answerable(&step.latency, 0.0, step.measured_sec)
        || short.is_some();
    let mut evidence: Vec<Evidence> = short.into_iter().map(short_row).collect();
    evidence.push(Evidence::new(Observation::Answered, achieved_per_sec, Some(due_per_sec), step.at()));
    evidence.push(case.generator_row(step));
    if is_behind {
        let short_per_sec = short.map_or(offered_per_sec, |window| window.rate_per_sec);
        let advice = vec![Advice::WatchAtRate(short_per_sec), Advice::Sweep];
        Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
    } else {
        let advice = vec![Advice::HigherRate];
        Verdict { evidence, advice, ..case.verdict(Limit::None, Confidence::Measured) }
    }
}

fn short_row(window: &RampWindow) -> Evidence {
    let at = At::Seconds { from: window.began_sec, to: window.end_sec };
    Evidence::new(Observation::Answered, window.throughput_per_sec, Some(window.due_per_sec), at)
}

/// One closed-loop level does not show whether more connections would give more.
pub(super) fn one_level(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, mut advice) =
        if counts_for_capacity(step) { Default::default() } else { failures(case, step) };
    evidence.push(case.generator_row(step));
    advice.push(Advice::Sweep);
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The highest usable step and the best lower one.
fn last_two(steps: &[StepSummary]) -> Option<(&StepSummary, &StepSummary)> {
    let usable = usable(steps);
    let (last, before) = usable.split_last()?;
    let best = before.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value))?;
    Some((last, best))
}

/// Throughput of the highest usable step over that of the best lower one, minus 1.
fn last_gain(steps: &[StepSummary]) -> Option<(f64, &StepSummary)> {
    let (last, best) = last_two(steps)?;
    Some((last.throughput.value / best.throughput.value - 1.0, last))
}

/// False if the gain of the last step over the best lower one may be scatter.
pub(super) fn grew(steps: &[StepSummary]) -> bool {
    let ratio = last_two(steps).and_then(|(last, best)| ratio(last.throughput, best.throughput));
    ratio.and_then(|ratio| ratio.interval).is_none_or(|(low, _)| low > 1.0)
}

/// The gain of the last step, as evidence; `None` with fewer than two usable steps.
pub(super) fn gain_row(case: &Case<'_>) -> Option<Evidence> {
    let (gain, step) = last_gain(case.steps)?;
    Some(Evidence::new(Observation::LastGain, gain, Some(MIN_GAIN), step.at()))
}

/// The verdict on a plateau: the target is at its limit and the generator is not, so that the target, or something behind or
/// in front of it, is the limit. Only the hosts show which.
pub(super) fn plateau(case: &Case<'_>, knee: &Knee) -> Verdict {
    let plateau_at = At::Connections(knee.plateau_connections);
    let mut evidence = vec![Evidence::new(Observation::Plateau, knee.plateau.value, None, plateau_at)];
    evidence.extend(gain_row(case));
    let (connections, predicted) = (f64::from(knee.connections), knee.connections_predicted);
    evidence.push(Evidence::new(
        Observation::Knee,
        connections,
        Some(predicted),
        At::Connections(knee.connections),
    ));
    let step = case.steps.iter().find(|step| step.connections == knee.plateau_connections);
    evidence.extend(step.map(|step| case.generator_row(step)));
    let depth = case.steps.first().map_or(1.0, |step| f64::from(step.depth));
    let lowest = usable(case.steps).into_iter().next();
    let at_once = match lowest.is_some_and(|lowest| is_saturated(lowest, knee.plateau.value)) {
        true => Advice::BeginLower,
        false => Advice::CompareAtOnce(knee.connections_predicted * depth),
    };
    let advice = vec![Advice::WatchAtConnections(knee.connections), at_once];
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}

/// The verdict on a row of a table in which nothing was found.
pub(super) fn unexplained(ctx: &RuleContext<'_>) -> Verdict {
    let shares = ctx.spent_by_share();
    let load = ctx.row_of_table().map_or(LoadEffect::Untried, |row| load_effect(ctx.obs.rows, row));
    let fullest = shares.first().map(|(fullest, _)| ctx.use_of(fullest));
    // With a single tier, the limit is that tier, or something on the way to it.
    let (advice, confidence, place) = match (&fullest, &ctx.hosts()[..]) {
        (None, _) => (Advice::AddFigures, Confidence::Unknown, Place::Nowhere),
        (Some(_), [only]) => (Advice::LookInto, Confidence::Inferred, Place::host(*only)),
        (Some(_), _) => (Advice::LookInto, Confidence::Inferred, Place::Nowhere),
    };
    let of_resource = |(resource, _): &(&Resource, f64)| {
        let used = ctx.use_of(resource);
        ctx.share_row(Observation::Resource(used.resource), used.share)
    };
    Verdict {
        evidence: shares.iter().map(of_resource).collect(),
        advice: vec![advice],
        claim: Some(RowClaim::NotInTable { fullest, load }.into()),
        also: ctx.nearly_full().into_iter().map(|resource| nearly(ctx, resource).suspect(ctx)).collect(),
        ..Verdict::new(Limit::Unknown, place, confidence)
    }
}
