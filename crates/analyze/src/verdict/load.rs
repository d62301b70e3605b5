//! What the load alone shows: whether the target was pushed to its limit.

use super::context::RuleContext;
use super::facts::concurrency::is_saturated;
use super::failures::{failing, failures};
use super::next::nearly;
use crate::findings::{
    Advice, At, Confidence, Evidence, Knee, Limit, LoadEffect, Observation, Place, RampWindow, RowClaim,
    Steadiness, StepSummary, Verdict,
};
use crate::hosts::resource::Resource;
use crate::load::knee::{counts_for_capacity, usable};
use crate::observations::Case;
use crate::table::load_effect;
use plimsoll_stats::ratio;

/// An open loop is not kept up with if it is answered at less than this ratio of what fell due and could be answered while it was
/// measured.
const ACHIEVED_RATIO: f64 = 0.99;

/// In one window of a changing rate less than this ratio of what falls due is short of it. At a rising rate answers are
/// always a little behind.
const WINDOW_RATIO: f64 = 0.95;

/// The least that counts as growth from step to step.
const MIN_GAIN: f64 = 0.05;

/// The run ended before its first step.
pub(super) fn nothing_ran(case: &Case<'_>) -> Verdict {
    Verdict { advice: vec![Advice::NothingRan], ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The first window of a changing rate in which clearly less was answered than fell due, if it was so in every later one
/// of at least that rate too: where a rate begins to rise, answers are behind only until the first of them are in. Until a
/// latency after the load began they are behind at any rate.
fn first_short(step: &StepSummary) -> Option<&RampWindow> {
    let is_answered = |window: &RampWindow| window.began_sec >= step.latency.mean_ns / 1e9;
    let is_short = |window: &RampWindow| window.throughput_per_sec < WINDOW_RATIO * window.due_per_sec;
    let windows = &step.ramp_windows;
    windows.iter().enumerate().map(|(index, window)| (&windows[index..], window)).find_map(
        |(later, window)| {
            let comparable = |other: &&RampWindow| other.rate_per_sec >= window.rate_per_sec;
            let is_behind = is_answered(window) && later.iter().filter(comparable).all(is_short);
            is_behind.then_some(window)
        },
    )
}

/// Requests that fell due a second while the load was on, at most as many as were planned: after a generator was lost, others
/// fell due that are not measured.
fn due_per_sec(step: &StepSummary, offered_per_sec: f64) -> f64 {
    (step.counts.intended as f64 / step.measured_sec.max(f64::MIN_POSITIVE)).min(offered_per_sec)
}

/// The part of what falls due that can be answered in the measured time: what falls due in the last mean latency of it is answered
/// afterwards.
fn answerable(step: &StepSummary) -> f64 {
    let mean_sec = step.latency.mean_ns / 1e9;
    (1.0 - mean_sec / step.measured_sec.max(f64::MIN_POSITIVE)).max(0.0)
}

/// An open loop shows whether one rate is kept up with, and no more.
pub(super) fn open_loop(case: &Case<'_>, step: &StepSummary) -> Verdict {
    if !counts_for_capacity(step) {
        return failing(case, step);
    }
    let (offered_per_sec, achieved_per_sec) = (step.rate_per_sec.unwrap_or_default(), step.throughput.value);
    let due_per_sec = due_per_sec(step, offered_per_sec);
    let short = first_short(step);
    let is_behind = step.steadiness == Steadiness::Moving
        || achieved_per_sec < ACHIEVED_RATIO * due_per_sec * answerable(step)
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

/// Whether the last step is known to have gained anything: its scatter and that of the best before may be larger than what
/// they differ by.
pub(super) fn grew(steps: &[StepSummary]) -> bool {
    let ratio = last_two(steps).and_then(|(last, best)| ratio(last.throughput, best.throughput));
    ratio.and_then(|ratio| ratio.interval).is_none_or(|(low, _)| low > 1.0)
}

/// The gain of the last step, where there are two.
pub(super) fn gain_row(case: &Case<'_>) -> Option<Evidence> {
    let (gain, step) = last_gain(case.steps)?;
    Some(Evidence::new(Observation::LastGain, gain, Some(MIN_GAIN), step.at()))
}

/// The target is at its limit and the generator is not: the target, or something behind it or between,
/// is the limit. Which, only the hosts show.
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

/// A row of a table in which nothing was found.
pub(super) fn unexplained(ctx: &RuleContext<'_>) -> Verdict {
    let shares = ctx.spent_by_share();
    let load = ctx.row_of_table().map_or(LoadEffect::Untried, |row| load_effect(ctx.obs.rows, row));
    let fullest = shares.first().map(|(fullest, _)| ctx.use_of(fullest));
    // One tier alone is where it is, or what requests pass on the way to it.
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
