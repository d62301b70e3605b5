//! A target that was not seen to stop growing.
//!
//! What is used up stops it already, whatever the last step gained. Else, where throughput hardly followed the load, what
//! holds it is looked for as on a plateau. Else nothing limits yet, and what is busy or comes next is named.

use super::bounds;
use super::context::RuleContext;
use super::decide::{self, LoadOutcome};
use super::load::{gain_row, grew};
use super::next;
use crate::findings::{Advice, Claim, Confidence, Knee, Limit, StepSummary, Verdict};
use crate::hosts::utilisation::{BUSY, TIE};
use crate::load::knee::usable;
use crate::observations::Case;

/// The most load over the least, from which on throughput that hardly differs does not follow it: three doublings, each of which
/// would have to gain 5 % to go on growing.
const LEVEL_LOADS: u32 = 8;

/// What the load alone shows of it.
pub(super) fn still_growing(case: &Case<'_>, knee: Option<&Knee>, last: &StepSummary) -> Verdict {
    let mut evidence: Vec<_> = gain_row(case).into_iter().collect();
    evidence.push(case.generator_row(last));
    let confidence = match knee {
        Some(_) if grew(case.steps) => Confidence::Measured,
        Some(_) => Confidence::Inferred,
        None => Confidence::Unknown,
    };
    let advice = vec![Advice::Climb(last.connections)];
    Verdict { evidence, advice, ..case.verdict(Limit::None, confidence) }
}

/// What the hosts show of it. `base` is what the load alone shows.
pub(super) fn with_hosts(base: Verdict, ctx: &RuleContext<'_>) -> Verdict {
    if let Some(found) = decide::nothing_left(ctx).or_else(|| level(ctx)) {
        return found;
    }
    let grows = base.limit == Limit::None;
    let next_limit = if grows { next::next(ctx, &[]) } else { None };
    // What is busy leaves little to grow by: the last gain may be one of a step that was disturbed less.
    let also = if grows { next::busy(ctx) } else { Vec::new() };
    let confidence = match base.confidence {
        Confidence::Measured if !also.is_empty() => Confidence::Inferred,
        other => other,
    };
    Verdict { next_limit, also, confidence, excluded: ctx.excluded(&[]), ..base }
}

/// Throughput that did not follow the load, though the last step was a little higher. Nothing is certain, for there was no
/// plateau.
fn level(ctx: &RuleContext<'_>) -> Option<Verdict> {
    let steps = usable(ctx.steps());
    let is_level = hardly_differs(&steps, ctx.throughput())
        || !grew(ctx.steps())
        || gained_little(&steps) && decide::is_something_busy(ctx);
    let found = if is_level { decide::limit(ctx, LoadOutcome::Plateau) } else { None };
    let found = found.filter(|found| !is_the_load(ctx, found))?;
    Some(Verdict { confidence: Confidence::Inferred, ..found })
}

/// A pool as large as what is under way: X·S₀ is the load, where S₀ is of the step itself.
fn is_the_load(ctx: &RuleContext<'_>, found: &Verdict) -> bool {
    let under_way = ctx.step().map(StepSummary::under_way);
    let is_load = |at_once: f64| under_way.is_some_and(|under_way| at_once >= (1.0 - TIE) * under_way);
    matches!(&found.claim, Some(Claim::Pool { law, .. }) if is_load(law.at_once))
}

/// True if the last step gained no more than is left of something that is busy.
fn gained_little(steps: &[&StepSummary]) -> bool {
    let [before @ .., last] = steps else { return false };
    let best = before.iter().map(|step| step.throughput.value).fold(0.0, f64::max);
    last.throughput.value <= best / BUSY
}

/// True if throughput was nearly as high with a small part of the load.
fn hardly_differs(steps: &[&StepSummary], highest_per_sec: f64) -> bool {
    let [lowest, .., highest] = steps else { return false };
    highest.connections >= LEVEL_LOADS * lowest.connections
        && lowest.throughput.value >= bounds::LEVEL * highest_per_sec
}
