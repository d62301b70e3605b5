//! The search for the highest rate within the conditions: which rate is tried next, whether it held, and the result.
//!
//! Arrivals are random (Poisson) and independent of earlier requests, as from many users. [`Judge`] decides on one rate during its
//! load, [`bracket`](bracket::next) chooses the next rate, and [`of_run`] computes the same results from a recorded run.

pub mod bracket;
mod judge;
mod outage;

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_plan::{LatencyLimit, Plan, RateSearchOrder, Slo};
use plimsoll_record::{CorruptHistogram, Frame, Run, Step, StepEnd};
use plimsoll_stats::sequential::{Precision, fewest_trials};

use crate::load::summary::summarize;
use crate::{
    Breach, Estimate, GeneratorReason, Held, RateSearch, SearchEnd, SloCheck, StepSummary, TrialOutcome,
    TrialSummary,
};

pub use bracket::{Aim, Bracket, Trial};
pub use judge::Judge;
pub use outage::DOWN;
pub(crate) use outage::outage;

/// The longest time of one trial is the remaining budget divided by this, within the bounds below.
const TRIALS_LEFT: u32 = 4;
const SHORTEST: Duration = Duration::from_secs(8);
const LONGEST: Duration = Duration::from_secs(60);
/// The usual time of a trial, over the shortest time in which a rate can be decided.
const ENOUGH: f64 = 1.5;
/// A trial that needs more than [`LONGEST`] takes this many times the shortest time in which it can be decided.
const JUST_ENOUGH: f64 = 1.1;

/// True if a step is a trial of its run's search: steps of the ladder before it have no rate, and overloads have several.
pub(crate) fn is_trial(plan: &Plan, step: &Step) -> bool {
    plan.search.is_some() && step.rate_per_sec.is_some() && step.stages.is_empty()
}

/// Arrivals may be served a little faster than a closed loop, as a server can read several waiting requests at once, but not this many
/// times as fast.
const OUT_OF_REACH: f64 = 1.25;

/// The shortest rest after a rate that broke, unless the next trial tests the way down from an overload.
pub const REST: Duration = Duration::from_secs(1);

/// The longest time of a trial of this rate, in requests per second, within the budget that is left; `None` if the budget is too short.
/// A slow page gets the time in which enough of its responses arrive.
pub fn longest_trial(
    slo: &Slo,
    rate_per_sec: f64,
    tolerance: f64,
    left: Option<Duration>,
) -> Option<Duration> {
    let held_sec = judge::held_sec(slo, rate_per_sec, tolerance);
    let responses_sec = fewest_responses(slo, judge::FINE) as f64 / rate_per_sec;
    let needed_sec = ENOUGH * responses_sec.max(held_sec);
    let usual = Duration::try_from_secs_f64(needed_sec).unwrap_or(LONGEST).clamp(SHORTEST, LONGEST);
    // With fewer responses the rate cannot be decided.
    let fewest_sec = fewest_responses(slo, judge::COARSE) as f64 / rate_per_sec;
    let least_sec = JUST_ENOUGH * fewest_sec.max(held_sec);
    let shortest = usual.max(Duration::try_from_secs_f64(least_sec).unwrap_or(Duration::MAX));
    let longest = LONGEST.max(shortest);
    let Some(left) = left else { return Some(longest) };
    (left >= shortest).then(|| (left / TRIALS_LEFT).clamp(shortest, longest))
}

/// Evaluates one step of a search; `None` for any other step, and for a trial that was cut undecided. `before` is the previous trial.
///
/// # Errors
/// When a histogram cannot be read.
pub fn trial(
    run: &Run,
    plan: &Plan,
    step: &Step,
    before: Option<&TrialSummary>,
) -> Result<Option<TrialSummary>, CorruptHistogram> {
    let (Some(order), Some(rate_per_sec)) = (plan.search, step.rate_per_sec) else { return Ok(None) };
    if !is_trial(plan, step) {
        return Ok(None);
    }
    let frames: Vec<&Frame> = run.frames_of(step.index).collect();
    let summary = summarize(run, plan, step, &frames)?;
    let workers = frames.iter().map(|frame| frame.head.worker).collect::<BTreeSet<_>>();
    let mut judge = Judge::new(plan.slo.clone(), rate_per_sec, workers.len(), order.tolerance);
    frames.iter().try_for_each(|frame| judge.add(frame))?;
    let known = if step.end == StepEnd::Cut { judge.outcome() } else { judge.last_outcome() };
    let outcome = match known {
        Some(TrialOutcome::Held) => TrialOutcome::Held,
        _ if step.end == StepEnd::TargetLost => TrialOutcome::Broken(Breach::Success),
        _ if is_generator_limited(&summary) => TrialOutcome::GeneratorLimited,
        Some(outcome) => outcome,
        None if step.end == StepEnd::Cut => return Ok(None),
        None => TrialOutcome::Close,
    };
    let after_overload = before.is_some_and(|before| is_after_overload(run, before, step));
    Ok(Some(TrialSummary { step: summary, outcome, after_overload }))
}

/// True if the step began without a rest after a rate that broke.
fn is_after_overload(run: &Run, before: &TrialSummary, step: &Step) -> bool {
    let ended_ns =
        run.steps.iter().find(|other| other.index == before.step.index).map(|other| other.drained_ns);
    let rested_ns = step.began_ns.saturating_sub(ended_ns.unwrap_or_default());
    matches!(before.outcome, TrialOutcome::Broken(_)) && rested_ns < REST.as_nanos() as u64
}

/// The number of responses, none of them late, that decides that a rate keeps all latency limits.
fn fewest_responses(slo: &Slo, precision: Precision) -> u64 {
    let shares = slo.latency.iter().map(LatencyLimit::late_ratio).filter(|share| *share > 0.0);
    shares.map(|share| fewest_trials(share, precision)).max().unwrap_or_default()
}

/// The aim of a plan's search.
pub fn aim(plan: &Plan, order: RateSearchOrder) -> Aim {
    Aim { tolerance: order.tolerance, asked_per_sec: plan.slo.throughput_per_sec }
}

/// Converts trials to the form that [`bracket`] uses.
pub fn tried<'a>(trials: impl IntoIterator<Item = &'a TrialSummary>) -> Vec<Trial> {
    let trial = |summary: &TrialSummary| {
        let TrialSummary { step, outcome, after_overload } = summary;
        let (outcome, after_overload) = (*outcome, *after_overload);
        step.rate_per_sec.map(|rate_per_sec| Trial { rate_per_sec, outcome, after_overload })
    };
    trials.into_iter().filter_map(trial).collect()
}

/// True if the generator may have caused what was measured. Requests that wait for a connection of an overloaded target, and
/// retransmitted packets, are no such sign.
fn is_generator_limited(step: &StepSummary) -> bool {
    let is_own = |reason: &GeneratorReason| {
        !matches!(
            reason,
            GeneratorReason::BehindSchedule { .. }
                | GeneratorReason::LittlesLaw { .. }
                | GeneratorReason::Retransmits { .. }
                | GeneratorReason::NearCeiling { .. }
        )
    };
    step.generator.reasons.iter().any(is_own)
}

/// All trials of a run, in order.
///
/// # Errors
/// When a histogram of this step cannot be read.
pub fn trials(run: &Run, plan: &Plan) -> Result<Vec<TrialSummary>, (u32, CorruptHistogram)> {
    let mut trials: Vec<TrialSummary> = Vec::new();
    for step in &run.steps {
        let next = trial(run, plan, step, trials.last()).map_err(|error| (step.index, error))?;
        trials.extend(next);
    }
    Ok(trials)
}

/// The outcome of the last trial at the lowest rate.
fn lowest(trials: &[TrialSummary]) -> Option<TrialOutcome> {
    let rate = |trial: &TrialSummary| trial.step.rate_per_sec.unwrap_or_default();
    let lowest = trials.iter().rev().min_by(|one, other| rate(one).total_cmp(&rate(other)));
    lowest.map(|trial| trial.outcome)
}

/// The result of a run's search; `None` if there was none, or no rate was tried.
pub(crate) fn of_run(run: &Run, plan: &Plan) -> Result<Option<RateSearch>, (u32, CorruptHistogram)> {
    let Some(order) = plan.search else { return Ok(None) };
    let trials = trials(run, plan)?;
    if trials.is_empty() {
        return Ok(None);
    }
    let is_whole = |trial: &&TrialSummary| trial.step.end != StepEnd::TargetLost;
    let (whole, tried) = (tried(trials.iter().filter(is_whole)), tried(&trials));
    let aim = aim(plan, order);
    let bracket = Bracket::of(aim.tolerance, &tried);
    let end = match bracket::next(aim, &tried) {
        _ if bracket.limited_per_sec.is_some() && bracket.broken.is_none() => SearchEnd::GeneratorLimited,
        bracket::Next::Try { .. } | bracket::Next::GaveUp => SearchEnd::Unfinished,
        bracket::Next::Done if bracket.held_per_sec.is_none() => match lowest(&trials) {
            Some(TrialOutcome::Broken(_)) => SearchEnd::NeverHeld,
            _ => SearchEnd::Unfinished,
        },
        bracket::Next::Done => SearchEnd::Found,
    };
    Ok(Some(RateSearch {
        held_per_sec: bracket.held_per_sec,
        broken_per_sec: bracket.broken.map(|(rate, _)| rate),
        breach: bracket.broken.map(|(_, breach)| breach),
        drift: bracket::drift(order.tolerance, &whole),
        hysteresis_per_sec: bracket.hysteresis_per_sec,
        outage: None,
        end,
        trials,
    }))
}

/// Whether this rate holds, in requests per second, by the trials at, below and above it; `None` if they do not decide.
fn holds(plan: &Plan, search: Option<&RateSearch>, rate_per_sec: f64) -> Option<bool> {
    let tolerance = plan.search?.tolerance;
    Bracket::of(tolerance, &tried(&search?.trials)).holds(rate_per_sec)
}

/// Completes the check of a plan with a search. The ladder before it had a throughput of `closed_per_sec` at its best step. The throughput
/// within the conditions is the rate that holds. If no rate does, conditions that the closed loop kept become unknown, unless they were
/// only assumed.
pub(crate) fn judged(
    plan: &Plan,
    check: SloCheck,
    search: Option<&RateSearch>,
    closed_per_sec: f64,
) -> SloCheck {
    if plan.search.is_none() || (search.is_none() && plan.slo_assumed) {
        return check;
    }
    let never_held = search.filter(|search| search.end == SearchEnd::NeverHeld);
    let never = never_held.and_then(|search| search.breach);
    let held_per_sec = search.and_then(|search| search.held_per_sec);
    let broken_per_sec = search.and_then(|search| search.broken_per_sec);
    let is_open = held_per_sec.is_none() && never_held.is_none() && !plan.slo_assumed;
    let highest = check.slo.highest_limit();
    let breaks = |limit: &LatencyLimit| match never {
        Some(Breach::Latency(broken)) => broken == *limit,
        Some(Breach::Queue) => highest == Some(*limit),
        Some(Breach::Success) | None => false,
    };
    let seen = |held, breaks| match held {
        _ if held_per_sec.is_some() => Held::Yes,
        _ if breaks => Held::No,
        Held::Yes if is_open => Held::Unknown,
        held => held,
    };
    let latency = check.slo.latency.iter().zip(&check.latency);
    let latency = latency.map(|(limit, held)| seen(*held, breaks(limit))).collect();
    let success = seen(check.success, matches!(never, Some(Breach::Success)));
    let interval = held_per_sec.zip(broken_per_sec);
    let throughput_within = match search {
        Some(_) => held_per_sec.map(|value| Estimate { value, interval }),
        None => check.throughput_within,
    };
    let throughput =
        check.slo.throughput_per_sec.map_or(Held::Yes, |required| match holds(plan, search, required) {
            Some(true) => Held::Yes,
            Some(false) => Held::No,
            None if check.throughput == Held::No && required > OUT_OF_REACH * closed_per_sec => Held::No,
            None => Held::Unknown,
        });
    SloCheck { latency, success, throughput, throughput_within, ..check }
}
