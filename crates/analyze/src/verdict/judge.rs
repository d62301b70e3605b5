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
use crate::findings::{Advice, Confidence, Knee, Limit, Observation, StepSummary, Verdict};
use crate::hosts::tracks::GENERATOR;
use crate::load::knee::{counts_for_capacity, whole};
use crate::observations::{Case, Observations};

/// The verdict on a run. In this order: nothing answered, the target lost, answers too late, unless the generator made less
/// load than it should; the generator's own limit; what the load and the hosts show.
pub(crate) fn of_run(case: &Case<'_>, obs: &Observations<'_>) -> Verdict {
    let Some(last) = case.steps.last() else { return nothing_ran(case) };
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
    let at_last = RuleContext { obs, load: case.steps.len() - 1 };
    own_limit(case, &deciding).unwrap_or_else(|| of_target(case, last, &deciding, &at_last))
}

/// The verdict on a row of a table, which has one load and no run.
pub(crate) fn of_row(obs: &Observations<'_>, row: usize) -> Verdict {
    let ctx = RuleContext { obs, load: row };
    generator::row_limited(&ctx).unwrap_or_else(|| with_hosts(unexplained(&ctx), &ctx, LoadOutcome::Row))
}

fn of_target(
    case: &Case<'_>,
    last: &StepSummary,
    deciding: &RuleContext<'_>,
    at_last: &RuleContext<'_>,
) -> Verdict {
    match (&case.plan.load, case.knee) {
        (Load::Single { .. }, _) if last.rate_per_sec.is_some() => {
            with_hosts(open_loop(case, last), at_last, LoadOutcome::OneLevel)
        }
        (Load::Single { .. }, _) => with_hosts(one_level(case, last), at_last, LoadOutcome::OneLevel),
        (Load::Ladder { .. }, Some(knee)) if knee.reached => {
            with_hosts(plateau(case, knee), deciding, LoadOutcome::Plateau)
        }
        (Load::Ladder { .. }, _) if whole(last) && !counts_for_capacity(last) => {
            with_hosts(failing(case, last), at_last, LoadOutcome::Failing)
        }
        // From one step nothing is known of growth.
        (Load::Ladder { .. }, None) if case.steps.len() == 1 => {
            with_hosts(one_level(case, last), at_last, LoadOutcome::OneLevel)
        }
        (Load::Ladder { .. }, knee) => growing(case, (last, knee), deciding),
    }
}

fn growing(case: &Case<'_>, (last, knee): (&StepSummary, Option<&Knee>), ctx: &RuleContext<'_>) -> Verdict {
    let base = still_growing(case, knee, last);
    if ctx.is_long_enough() { growing::with_hosts(base, ctx) } else { too_short(base, ctx) }
}

/// The generator's own limit, which comes before all others: what it reports of itself, and what was observed of its host.
/// A reason that a target can give it too, or that only delays, stands back where a host of the target's is at its end.
fn own_limit(case: &Case<'_>, ctx: &RuleContext<'_>) -> Option<Verdict> {
    let reasons = &case.generator.reasons;
    if reasons.is_empty() {
        return generator::host_limited(ctx);
    }
    let is_shared = reasons.iter().all(generator::may_be_the_targets);
    let only_delays = reasons.iter().all(generator::only_delays);
    // What others take of the CPU of its own machine is what keeps the generator waiting.
    let here = |host: &str| ctx.obs.hosts.are_one_machine(host, GENERATOR);
    let is_taken_here = |found: &Verdict| found.place.is_other() && here(found.host());
    let counts = |found: &Verdict| {
        generator::are_lost_on(reasons, found.limit)
            || found.confidence == Confidence::Measured
                && (is_shared || found.limit.is_whatever_the_pace() && !is_taken_here(found))
    };
    let found = if only_delays { decide::limit(ctx, LoadOutcome::Plateau).filter(counts) } else { None };
    Some(found.unwrap_or_else(|| generator_limited(case)))
}

/// A window too short to show anything of hosts: what they seem to show may be one tick of their clocks.
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

/// What the hosts show of a target that was pushed to its limit, followed by what the load shows.
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
    // The verdict has a row on the generator of its own.
    let of_load = base.evidence.into_iter().filter(|row| row.observed != Observation::BusiestWorker);
    found.evidence.extend(of_load);
    found
}
