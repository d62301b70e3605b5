//! The highest rate within the conditions: which rate is tried next, whether it held, and what the search came to.
//!
//! Requests arrive at random (Poisson), whatever became of those before, as from many users. [`Judge`] decides on one rate
//! while its load goes on, [`bracket`](bracket::next) which rate is next, [`of_run`] reads the same off a recorded run.

pub mod bracket;
mod judge;

use std::collections::BTreeSet;

use plimsoll_plan::Plan;
use plimsoll_record::{CorruptHistogram, Frame, Run, Step, StepEnd};

use crate::load::summary::summarize;
use crate::{
    Breach, Estimate, GeneratorReason, Held, RateSearch, SearchEnd, SloCheck, StepSummary, TrialOutcome,
    TrialSummary,
};

pub use bracket::{Bracket, Trial};
pub use judge::Judge;

/// Whether a step belongs to the search of its run: the steps of the ladder before it have no rate.
pub(crate) fn is_trial(plan: &Plan, step: &Step) -> bool {
    plan.search.is_some() && step.rate_per_sec.is_some()
}

/// One step of a search; `None` for any other.
///
/// # Errors
/// When a histogram cannot be read.
pub fn trial(run: &Run, plan: &Plan, step: &Step) -> Result<Option<TrialSummary>, CorruptHistogram> {
    let (Some(order), Some(rate_per_sec)) = (plan.search, step.rate_per_sec) else { return Ok(None) };
    let frames: Vec<&Frame> = run.frames_of(step.index).collect();
    let summary = summarize(run, plan, step, &frames)?;
    let workers = frames.iter().map(|frame| frame.head.worker).collect::<BTreeSet<_>>();
    let mut judge = Judge::new(plan.slo, rate_per_sec, workers.len(), order.tolerance);
    frames.iter().try_for_each(|frame| judge.add(frame))?;
    let outcome = match judge.outcome() {
        Some(TrialOutcome::Held) => TrialOutcome::Held,
        _ if step.end == StepEnd::TargetLost => TrialOutcome::Broken(Breach::Success),
        _ if is_generator_limited(&summary) => TrialOutcome::GeneratorLimited,
        Some(outcome) => outcome,
        None if step.end == StepEnd::Cut => return Ok(None),
        None => TrialOutcome::Close,
    };
    Ok(Some(TrialSummary { step: summary, outcome }))
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

/// What the search of a run came to; `None` if there was none, or not one rate was tried.
pub(crate) fn of_run(run: &Run, plan: &Plan) -> Result<Option<RateSearch>, (u32, CorruptHistogram)> {
    let Some(order) = plan.search else { return Ok(None) };
    let mut trials = Vec::new();
    for step in &run.steps {
        trials.extend(trial(run, plan, step).map_err(|error| (step.index, error))?);
    }
    if trials.is_empty() {
        return Ok(None);
    }
    let tried: Vec<Trial> = trials.iter().filter_map(Trial::of).collect();
    let bracket = Bracket::of(&tried);
    let end = match bracket::next(order.tolerance, &tried) {
        _ if bracket.limited_per_sec.is_some() && bracket.broken.is_none() => SearchEnd::GeneratorLimited,
        bracket::Next::Try(_) => SearchEnd::Unfinished,
        bracket::Next::Done if bracket.held_per_sec.is_none() => SearchEnd::NeverHeld,
        bracket::Next::Done => SearchEnd::Found,
    };
    Ok(Some(RateSearch {
        held_per_sec: bracket.held_per_sec,
        broken_per_sec: bracket.broken.map(|(rate, _)| rate),
        breach: bracket.broken.map(|(_, breach)| breach),
        moved: bracket.moved,
        end,
        trials,
    }))
}

/// The check of a ladder, with what the search says of it: the throughput within the conditions is the rate that holds.
pub(crate) fn judged(check: SloCheck, search: Option<&RateSearch>) -> SloCheck {
    let Some(search) = search else { return check };
    let never = |breaches: &[Breach]| {
        search.end == SearchEnd::NeverHeld && search.breach.is_some_and(|breach| breaches.contains(&breach))
    };
    let held = |held, breaches| if never(breaches) { Held::No } else { held };
    let interval = search.held_per_sec.zip(search.broken_per_sec);
    let within = search.held_per_sec.map(|value| Estimate { value, interval });
    let throughput = check.slo.throughput_per_sec.map_or(Held::Yes, |required| {
        match (search.held_per_sec, search.broken_per_sec) {
            (Some(held), _) if held >= required => Held::Yes,
            (_, Some(broken)) if broken <= required => Held::No,
            _ => Held::Unknown,
        }
    });
    SloCheck {
        p99: held(check.p99, &[Breach::Latency, Breach::Queue]),
        success: held(check.success, &[Breach::Success]),
        throughput,
        throughput_within: within.or(check.throughput_within),
        ..check
    }
}
