//! The highest rate within the conditions: which rate is tried next, whether it held, and what the search came to.
//!
//! Requests arrive at random (Poisson), whatever became of those before, as from many users. [`Judge`] decides on one rate
//! while its load goes on, [`bracket`](bracket::next) which rate is next, [`of_run`] reads the same off a recorded run.

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

/// The longest time of one trial: a part of what is left, within these bounds.
const TRIALS_LEFT: u32 = 4;
const SHORTEST: Duration = Duration::from_secs(8);
const LONGEST: Duration = Duration::from_secs(60);
/// How many times the shortest time in which a rate can hold a trial may take.
const ENOUGH: f64 = 1.5;
/// A trial that needs more than [`LONGEST`] takes this many times the least time that decides it.
const JUST_ENOUGH: f64 = 1.1;

/// Whether a step belongs to the search of its run: the steps of the ladder before it have no rate, and overloads have several.
pub(crate) fn is_trial(plan: &Plan, step: &Step) -> bool {
    plan.search.is_some() && step.rate_per_sec.is_some() && step.stages.is_empty()
}

/// Arrivals may be served a little faster than a closed loop is, as a server may read several waiting requests at once; so many
/// times as fast they are not.
const OUT_OF_REACH: f64 = 1.25;

/// A rate that broke is followed by a rest at least so long, unless the way down from an overload is tried.
pub const REST: Duration = Duration::from_secs(1);

/// How long a trial of this rate, in requests per second, may take of the budget that is left; `None` if that is too little. A slow
/// page takes the time that enough of its responses take.
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
    // Without so many responses no time is enough.
    let fewest_sec = fewest_responses(slo, judge::COARSE) as f64 / rate_per_sec;
    let least_sec = JUST_ENOUGH * fewest_sec.max(held_sec);
    let shortest = usual.max(Duration::try_from_secs_f64(least_sec).unwrap_or(Duration::MAX));
    let longest = LONGEST.max(shortest);
    let Some(left) = left else { return Some(longest) };
    (left >= shortest).then(|| (left / TRIALS_LEFT).clamp(shortest, longest))
}

/// One step of a search; `None` for any other. `before` is the trial before it.
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

/// Whether the step began without a rest after a rate that broke.
fn is_after_overload(run: &Run, before: &TrialSummary, step: &Step) -> bool {
    let ended_ns =
        run.steps.iter().find(|other| other.index == before.step.index).map(|other| other.drained_ns);
    let rested_ns = step.began_ns.saturating_sub(ended_ns.unwrap_or_default());
    matches!(before.outcome, TrialOutcome::Broken(_)) && rested_ns < REST.as_nanos() as u64
}

/// The responses, none of them late, that decide that a rate holds all limits of latency.
fn fewest_responses(slo: &Slo, precision: Precision) -> u64 {
    let shares = slo.latency.iter().map(LatencyLimit::late_ratio).filter(|share| *share > 0.0);
    shares.map(|share| fewest_trials(share, precision)).max().unwrap_or_default()
}

/// What the search of this plan is after.
pub fn aim(plan: &Plan, order: RateSearchOrder) -> Aim {
    Aim { tolerance: order.tolerance, asked_per_sec: plan.slo.throughput_per_sec }
}

/// The trials as the choice of the next rate sees them.
pub fn tried<'a>(trials: impl IntoIterator<Item = &'a TrialSummary>) -> Vec<Trial> {
    let trial = |summary: &TrialSummary| {
        let TrialSummary { step, outcome, after_overload } = summary;
        let (outcome, after_overload) = (*outcome, *after_overload);
        step.rate_per_sec.map(|rate_per_sec| Trial { rate_per_sec, outcome, after_overload })
    };
    trials.into_iter().filter_map(trial).collect()
}

/// True if what was seen may be of the generator. Requests that wait for a connection of an overloaded target, and packets that
/// are sent again, are no such sign.
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

/// What the last trial at the lowest rate came to.
fn lowest(trials: &[TrialSummary]) -> Option<TrialOutcome> {
    let rate = |trial: &TrialSummary| trial.step.rate_per_sec.unwrap_or_default();
    let lowest = trials.iter().rev().min_by(|one, other| rate(one).total_cmp(&rate(other)));
    lowest.map(|trial| trial.outcome)
}

/// What the search of a run came to; `None` if there was none, or not one rate was tried.
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

/// Whether this rate holds, in requests per second, by the trials at it, below and above it; `None` where none of them says so.
fn holds(plan: &Plan, search: Option<&RateSearch>, rate_per_sec: f64) -> Option<bool> {
    let tolerance = plan.search?.tolerance;
    Bracket::of(tolerance, &tried(&search?.trials)).holds(rate_per_sec)
}

/// The check of a plan that asks for a search, after a ladder whose best step served `closed_per_sec`: the throughput within the
/// conditions is the rate that holds. Without one, no condition is known to hold, although a closed loop held it; unless the user
/// gave none.
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
