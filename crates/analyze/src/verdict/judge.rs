//! The verdict on a run: first what the load alone shows, then what the hosts show.

use plimsoll_plan::Load;
use plimsoll_record::StepEnd;

use super::bounds;
use super::context::RuleContext;
use super::decide::{self, LoadOutcome};
use super::failures::{all_failed, all_late, failing, lost};
use super::generator::{self, generator_limited};
use super::growing::{self, still_growing};
use super::load::{nothing_ran, one_level, open_loop, plateau, unexplained};
use crate::findings::answered_late;
use crate::findings::{Advice, Confidence, Limit, Observation, StepSummary, Verdict};
use crate::hosts::tracks::GENERATOR;
use crate::load::knee::{counts_for_capacity, whole};
use crate::observations::{Case, Observations};

/// Judges a run, in this order: nothing answered; the target lost; answers too late, unless the generator made less load than it
/// should; the generator's own limit; what the load and the hosts show.
pub(crate) fn of_run(case: &Case<'_>, obs: &Observations<'_>) -> Verdict {
    let Some(highest) = case.highest() else { return nothing_ran(case) };
    let last = &case.steps[highest];
    if case.steps.iter().all(|step| step.counts.ok == 0) {
        return all_failed(case, last);
    }
    if let Some(step) = case.steps.iter().find(|step| step.end == StepEnd::TargetLost) {
        return lost(case, step);
    }
    if answered_late(case.steps) && case.generator.reasons.iter().all(generator::only_delays) {
        return all_late(case, last);
    }
    let deciding = RuleContext { obs, load: case.deciding() };
    own_limit(case, last, &deciding).unwrap_or_else(|| of_target(case, last, &deciding))
}

/// The verdict on a row of a table, which has one load and no run.
pub(crate) fn of_row(obs: &Observations<'_>, row: usize) -> Verdict {
    let ctx = RuleContext { obs, load: row };
    generator::row_limited(&ctx).unwrap_or_else(|| with_hosts(unexplained(&ctx), &ctx, LoadOutcome::Row))
}

fn of_target(case: &Case<'_>, last: &StepSummary, deciding: &RuleContext<'_>) -> Verdict {
    let (base, outcome) = by_load(case, last);
    match outcome {
        Some(outcome) => with_hosts(base, &judged_at(case, outcome, deciding), outcome),
        None if deciding.is_long_enough() => growing::with_hosts(base, deciding),
        None => too_short(base, deciding),
    }
}

/// The verdict by the load alone, and how the load ended; `None` where throughput still grew.
fn by_load(case: &Case<'_>, last: &StepSummary) -> (Verdict, Option<LoadOutcome>) {
    match (&case.plan.load, case.knee) {
        (Load::Single { .. }, _) if last.rate_per_sec.is_some() => {
            (open_loop(case, last), Some(LoadOutcome::OneLevel))
        }
        (Load::Single { .. }, _) => (one_level(case, last), Some(LoadOutcome::OneLevel)),
        (Load::Ladder { .. }, Some(knee)) if knee.reached => {
            (plateau(case, knee), Some(LoadOutcome::Plateau))
        }
        (Load::Ladder { .. }, _) if whole(last) && !counts_for_capacity(last) => {
            (failing(case, last), Some(LoadOutcome::Failing))
        }
        // One step shows nothing about growth.
        (Load::Ladder { .. }, None) if case.steps.len() == 1 => {
            (one_level(case, last), Some(LoadOutcome::OneLevel))
        }
        (Load::Ladder { .. }, knee) => (still_growing(case, knee, last), None),
    }
}

/// The step at which hosts are judged: that of the plateau, or of the most load.
fn judged_at<'s>(case: &Case<'_>, outcome: LoadOutcome, deciding: &RuleContext<'s>) -> RuleContext<'s> {
    match outcome {
        LoadOutcome::Plateau => *deciding,
        _ => RuleContext { load: case.highest().unwrap_or(deciding.load), ..*deciding },
    }
}

/// The generator's own limit, which comes before all others: by its own reports, and by the samples of its host. A reason that a
/// target can cause as well, or that only delays, gives way to a used-up resource of the target's hosts.
fn own_limit(case: &Case<'_>, last: &StepSummary, ctx: &RuleContext<'_>) -> Option<Verdict> {
    let reasons = &case.generator.reasons;
    if reasons.is_empty() {
        return generator::host_limited(ctx);
    }
    let is_shared = reasons.iter().all(generator::may_be_the_targets);
    let only_delays = reasons.iter().all(generator::only_delays);
    // Others that take the CPU of the generator's own machine keep the generator waiting.
    let here = |host: &str| ctx.obs.hosts.are_one_machine(host, GENERATOR);
    let is_taken_here = |found: &Verdict| found.place.is_other() && here(found.host());
    let counts = |found: &Verdict| {
        generator::are_lost_on(reasons, found.limit)
            || found.confidence == Confidence::Measured
                && (is_shared || found.limit.is_whatever_the_pace() && !is_taken_here(found))
    };
    let found = if only_delays { next_to_delays(case, last, ctx, counts) } else { None };
    Some(found.unwrap_or_else(|| generator_limited(case)))
}

/// What the hosts show if the generator only delays: the same as if it did not.
fn next_to_delays(
    case: &Case<'_>,
    last: &StepSummary,
    deciding: &RuleContext<'_>,
    counts: impl Fn(&Verdict) -> bool,
) -> Option<Verdict> {
    let (base, outcome) = by_load(case, last);
    match outcome {
        Some(outcome) => {
            let ctx = judged_at(case, outcome, deciding);
            let found = decide::found(&ctx, outcome).filter(|_| base.limit == Limit::Unknown);
            found.filter(counts).map(|found| decide::by_one_load(found, outcome))
        }
        None => decide::nothing_left(deciding).filter(counts),
    }
}

/// The window is too short for samples of hosts: what they seem to show may be one tick of their clocks.
fn too_short(base: Verdict, ctx: &RuleContext<'_>) -> Verdict {
    if ctx.hosts().is_empty() && base.limit == Limit::Unknown {
        return base;
    }
    let time = ctx
        .step()
        .map(|step| ctx.row(Observation::MeasuredTime, step.measured_sec, Some(bounds::MIN_WINDOW_SEC)));
    Verdict {
        evidence: time.into_iter().chain(base.evidence).collect(),
        advice: vec![Advice::TooShort],
        ..Verdict::new(Limit::Unknown, ctx.target(), Confidence::Unknown)
    }
}

/// The verdict by the hosts on a target that was pushed to its limit, followed by the evidence of the load.
fn with_hosts(base: Verdict, ctx: &RuleContext<'_>, outcome: LoadOutcome) -> Verdict {
    if !ctx.is_long_enough() {
        return too_short(base, ctx);
    }
    if base.limit != Limit::Unknown {
        return base;
    }
    let Some(mut found) = decide::limit(ctx, outcome) else {
        return Verdict { excluded: ctx.excluded(&[]), ..base };
    };
    // The verdict has its own row about the generator.
    let of_load = base.evidence.into_iter().filter(|row| row.observed != Observation::BusiestWorker);
    found.evidence.extend(of_load);
    found
}
