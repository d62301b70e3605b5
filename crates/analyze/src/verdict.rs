//! What limits the target: from the load alone, and from the hosts that were looked at.
//!
//! The load tells whether the generator was the limit, whether the target was pushed to its limit, and whether it refuses.
//! Where it was pushed and hosts were looked at, the rules in `rules` are asked one by one, and `decide` makes one
//! verdict of their answers, or leaves it at «not known». Each verdict comes with what it rests on and with the next thing
//! to try.

mod advice;
mod attribution;
mod bounds;
mod decide;
mod failures;
mod generator;
mod phrase;
mod rules;
mod scene;
mod text;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::StepEnd;
use plimsoll_stats::ratio;
use plimsoll_units::{count_text, grouped};

use crate::findings::answered_late;
use crate::hosts::GENERATOR;
use crate::knee::{counts_for_capacity, whole};
use crate::topology::Flow;
use crate::usage::Seen;
use crate::{
    Confidence, EvidenceRow, GeneratorHealth, Knee, Limit, Moment, Resource, Steadiness, StepSummary, Verdict,
};
pub(crate) use bounds::{BUSY, FREE, TIE};
pub(crate) use generator::may_be_the_targets;
pub(crate) use phrase::{bits_text, joined, percent};

use decide::Ground;
use failures::{all_failed, all_late, failing, failures, lost};
use generator::{generator_limited, generator_row};
use scene::Scene;

/// An open loop that is answered at less than this ratio of its rate is not kept up with.
const ACHIEVED_RATIO: f64 = 0.99;

/// In one moment of a changing rate less than this ratio of what falls due is short of it. At a rising rate answers are
/// always a little behind.
const MOMENT_RATIO: f64 = 0.95;

/// What the verdict is made from.
pub(crate) struct Case<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// All steps.
    pub(crate) steps: &'a [StepSummary],
    /// The knee, if there is one.
    pub(crate) knee: Option<&'a Knee>,
    /// The generator's health at the step that decides.
    pub(crate) generator: &'a GeneratorHealth,
}

impl Case<'_> {
    fn target(&self) -> String {
        self.plan.target.authority()
    }

    fn verdict(&self, limit: Limit, confidence: Confidence) -> Verdict {
        let place = if limit == Limit::Generator { GENERATOR.to_owned() } else { self.target() };
        Verdict::new(limit, place, confidence)
    }
}

/// One line of evidence.
fn row(what: impl Into<String>, value: f64, of: Option<f64>, at: String) -> EvidenceRow {
    EvidenceRow { what: what.into(), value, of, at }
}

/// Where a step stands: `600 connections`, or `2,000 requests/s` for an open loop.
fn at(step: &StepSummary) -> String {
    step.rate_per_sec
        .map_or_else(|| connections_text(step.connections), |rate| format!("{} requests/s", count_text(rate)))
}

pub(crate) fn connections_text(connections: u32) -> String {
    let plural = if connections == 1 { "" } else { "s" };
    format!("{} connection{plural}", grouped(u64::from(connections)))
}

/// What was seen of the hosts.
pub(crate) struct Watched<'a> {
    pub(crate) seen: &'a Seen<'a>,
    pub(crate) resources: &'a [Resource],
    pub(crate) flow: &'a Flow,
}

/// The verdict on a run.
pub(crate) fn verdict(case: &Case<'_>, watched: &Watched<'_>) -> Verdict {
    let Some(last) = case.steps.last() else { return nothing_ran(case) };
    if case.steps.iter().all(|step| step.counts.ok == 0) {
        return all_failed(case, last);
    }
    if let Some(step) = case.steps.iter().find(|step| step.end == StepEnd::TargetLost) {
        return lost(case, step);
    }
    if answered_late(case.steps) {
        return all_late(case, last);
    }
    let scene = |step: usize| Scene {
        case,
        seen: watched.seen,
        resources: watched.resources,
        flow: watched.flow,
        step,
    };
    if let Some(own) = own_limit(case, &scene(deciding(case))) {
        return own;
    }
    let last_index = case.steps.len() - 1;
    match (&case.plan.load, case.knee) {
        (Load::Single { .. }, _) if last.rate_per_sec.is_some() => {
            with_hosts(open_loop(case, last), &scene(last_index), Ground::OneLevel)
        }
        (Load::Single { .. }, _) => with_hosts(one_level(case, last), &scene(last_index), Ground::OneLevel),
        (Load::Ladder { .. }, Some(knee)) if knee.reached => {
            with_hosts(plateau(case, knee), &scene(deciding(case)), Ground::Plateau)
        }
        (Load::Ladder { .. }, _) if whole(last) && !counts_for_capacity(last) => {
            with_hosts(failing(case, last), &scene(last_index), Ground::Failing)
        }
        // From one rung nothing is known of growth.
        (Load::Ladder { .. }, None) if case.steps.len() == 1 => {
            with_hosts(one_level(case, last), &scene(last_index), Ground::OneLevel)
        }
        (Load::Ladder { .. }, knee) => growing(still_growing(case, knee, last), &scene(deciding(case))),
    }
}

/// The step that the answer is taken from: that of the plateau, or the last.
fn deciding(case: &Case<'_>) -> usize {
    let of_plateau =
        |knee: &Knee| case.steps.iter().position(|step| step.connections == knee.plateau_connections);
    case.knee.and_then(of_plateau).unwrap_or_else(|| case.steps.len().saturating_sub(1))
}

/// The generator's own limit, which comes before all others: what it says of itself, and what was seen of its host.
/// A reason that a target can give it too, or that only delays, stands back where a host of the target's is at its end.
fn own_limit(case: &Case<'_>, scene: &Scene<'_>) -> Option<Verdict> {
    let reasons = &case.generator.reasons;
    if reasons.is_empty() {
        return generator::host_limited(scene);
    }
    let shared = reasons.iter().all(generator::may_be_the_targets);
    let delayed = reasons.iter().all(generator::only_delays);
    let counts = |found: &Verdict| {
        found.confidence == Confidence::Measured && (shared || delayed && found.limit.is_whatever_the_pace())
    };
    let found = if delayed { decide::limit(scene, Ground::Plateau).filter(counts) } else { None };
    Some(found.unwrap_or_else(|| generator_limited(case)))
}

/// A window too short to tell anything of hosts: whatever they seem to show may be one tick of their clocks.
fn too_short(base: Verdict, scene: &Scene<'_>) -> Verdict {
    if scene.hosts().is_empty() && base.limit == Limit::Unknown {
        return base;
    }
    let place = scene.case.target();
    let mut evidence = base.evidence;
    let what = "time measured in s, against the least that tells anything of hosts or of a rate";
    evidence.insert(0, scene.row(what, scene.decisive().measured_sec, Some(bounds::WINDOW_LEAST_SEC)));
    let advice = vec![advice::TOO_SHORT.to_owned()];
    Verdict { evidence, advice, ..Verdict::new(Limit::Unknown, place, Confidence::Unknown) }
}

/// What the hosts tell of a target that was pushed to its limit, with what the load tells behind it.
fn with_hosts(base: Verdict, scene: &Scene<'_>, ground: Ground) -> Verdict {
    if !scene.is_long_enough() {
        return too_short(base, scene);
    }
    if base.limit != Limit::Unknown {
        return base;
    }
    match decide::limit(scene, ground) {
        Some(mut found) => {
            found
                .evidence
                .extend(base.evidence.into_iter().filter(|row| !row.what.contains("of the generator")));
            found
        }
        None => Verdict { excluded: decide::looked_at(scene), ..base },
    }
}

/// A target that was not pushed to its limit still shows what will stop it. What is used up stops it already, whatever the
/// last step gained: there is nothing left to gain.
fn growing(base: Verdict, scene: &Scene<'_>) -> Verdict {
    if !scene.is_long_enough() {
        return too_short(base, scene);
    }
    if let Some(found) = decide::used_up(scene).or_else(|| decide::level(scene)) {
        return found;
    }
    let grows = base.limit == Limit::None;
    let next_limit = if grows { decide::next(scene, &[]) } else { None };
    // What is busy leaves little to grow by: the last gain may be one of a step that was disturbed less.
    let also = if grows { decide::busy(scene) } else { Vec::new() };
    let confidence = match base.confidence {
        Confidence::Measured if !also.is_empty() => Confidence::Inferred,
        other => other,
    };
    Verdict { next_limit, also, confidence, excluded: decide::looked_at(scene), ..base }
}

fn nothing_ran(case: &Case<'_>) -> Verdict {
    let advice = vec![advice::NOTHING_RAN.to_owned()];
    Verdict { advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

const ANSWERED: &str = "requests/s answered, against those offered";

/// The first moment of a changing rate in which clearly less was answered than fell due, if it was so in every later one
/// of at least that rate too: where a rate begins to rise, answers are behind only until the first of them are in.
fn first_short(step: &StepSummary) -> Option<&Moment> {
    let short = |moment: &Moment| moment.throughput_per_sec < MOMENT_RATIO * moment.due_per_sec;
    let moments = &step.moments;
    moments.iter().enumerate().map(|(index, moment)| (&moments[index..], moment)).find_map(
        |(later, moment)| {
            let comparable = |other: &&Moment| other.rate_per_sec >= moment.rate_per_sec;
            later.iter().filter(comparable).all(short).then_some(moment)
        },
    )
}

/// An open loop shows whether one rate is kept up with, and no more.
fn open_loop(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let offered_per_sec = step.rate_per_sec.unwrap_or_default();
    let achieved_per_sec = step.throughput.value;
    let behind = step.steadiness == Steadiness::Moving
        || achieved_per_sec < ACHIEVED_RATIO * offered_per_sec
        || first_short(step).is_some();
    let mut evidence = Vec::new();
    if let Some(moment) = first_short(step) {
        let place = format!("{} s to {} s", count_text(moment.began_sec), count_text(moment.end_sec));
        evidence.push(row(ANSWERED, moment.throughput_per_sec, Some(moment.due_per_sec), place));
    }
    evidence.push(row(ANSWERED, achieved_per_sec, Some(offered_per_sec), at(step)));
    evidence.push(generator_row(case, step));
    if !counts_for_capacity(step) {
        failing(case, step)
    } else if behind {
        let short_per_sec = first_short(step).map_or(offered_per_sec, |moment| moment.rate_per_sec);
        let advice = vec![advice::watch_target_at_rate(short_per_sec), advice::SWEEP.to_owned()];
        Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
    } else {
        let advice = vec![advice::HIGHER_RATE.to_owned()];
        Verdict { evidence, advice, ..case.verdict(Limit::None, Confidence::Measured) }
    }
}

/// One closed-loop level cannot tell whether more connections would give more.
fn one_level(case: &Case<'_>, step: &StepSummary) -> Verdict {
    let (mut evidence, mut advice) =
        if counts_for_capacity(step) { Default::default() } else { failures(case, step) };
    evidence.push(generator_row(case, step));
    advice.push(advice::SWEEP.to_owned());
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Unknown) }
}

/// The highest usable step and the best lower one.
fn last_two(steps: &[StepSummary]) -> Option<(&StepSummary, &StepSummary)> {
    let usable = crate::knee::usable(steps);
    let (last, before) = usable.split_last()?;
    let best = before.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value))?;
    Some((last, best))
}

/// Throughput of the highest usable step over that of the best lower one, minus 1.
fn last_gain(steps: &[StepSummary]) -> Option<(f64, &StepSummary)> {
    let (last, best) = last_two(steps)?;
    Some((last.throughput.value / best.throughput.value - 1.0, last))
}

/// Whether the last step was seen to gain anything: its scatter and that of the best before may be larger than what they differ
/// by.
fn grew(steps: &[StepSummary]) -> bool {
    let ratio = last_two(steps).and_then(|(last, best)| ratio(last.throughput, best.throughput));
    ratio.and_then(|ratio| ratio.interval).is_none_or(|(low, _)| low > 1.0)
}

fn still_growing(case: &Case<'_>, knee: Option<&Knee>, last: &StepSummary) -> Verdict {
    let mut evidence = Vec::new();
    if let Some((gain, step)) = last_gain(case.steps) {
        evidence.push(row("gain of the last step", gain, Some(0.05), at(step)));
    }
    evidence.push(generator_row(case, last));
    let advice = vec![advice::climb(&connections_text(last.connections))];
    let confidence = match knee {
        Some(_) if grew(case.steps) => Confidence::Measured,
        Some(_) => Confidence::Inferred,
        None => Confidence::Unknown,
    };
    Verdict { evidence, advice, ..case.verdict(Limit::None, confidence) }
}

/// The target is at its limit and the generator is not: the target, or something behind it or between,
/// is the limit. Which, only a look at the hosts can tell.
fn plateau(case: &Case<'_>, knee: &Knee) -> Verdict {
    let mut evidence = vec![row(
        "plateau in requests/s",
        knee.plateau.value,
        None,
        connections_text(knee.plateau_connections),
    )];
    if let Some((gain, step)) = last_gain(case.steps) {
        evidence.push(row("gain of the last step", gain, Some(0.05), at(step)));
    }
    evidence.push(row(
        "knee in connections, against plateau × latency of the lowest step",
        f64::from(knee.connections),
        Some(knee.connections_predicted),
        connections_text(knee.connections),
    ));
    if let Some(step) = case.steps.iter().find(|step| step.connections == knee.plateau_connections) {
        evidence.push(generator_row(case, step));
    }
    let depth = case.steps.first().map_or(1.0, |step| f64::from(step.depth));
    let advice = vec![
        advice::watch_target_at(knee.connections),
        advice::many_at_once(knee.connections_predicted * depth),
    ];
    Verdict { evidence, advice, ..case.verdict(Limit::Unknown, Confidence::Inferred) }
}
