//! Verdicts on a target whose throughput was not observed to stop growing.
//!
//! A used-up resource stops it already, whatever the last step gained. Otherwise, if throughput hardly followed the load, the
//! limit is looked for as on a plateau. Otherwise nothing limits yet, and the verdict names what is busy or comes next.

use super::bounds;
use super::context::RuleContext;
use super::decide::{self, LoadOutcome};
use super::load::{gain_row, grew};
use super::next;
use crate::findings::{Advice, Claim, Confidence, Knee, Limit, StepSummary, Verdict};
use crate::hosts::utilisation::{BUSY, TIE};
use crate::load::knee::usable;
use crate::observations::Case;

/// From this ratio of the highest load to the lowest on, throughput that hardly differs does not follow the load: three doublings, each
/// of which would have to gain 5 % to go on growing.
const LEVEL_LOADS: u32 = 8;

/// The verdict by the load alone.
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

/// The verdict by the hosts; `base` is the verdict by the load alone.
pub(super) fn with_hosts(base: Verdict, ctx: &RuleContext<'_>) -> Verdict {
    if let Some(found) = decide::nothing_left(ctx).or_else(|| level(ctx)) {
        return found;
    }
    let grows = base.limit == Limit::None;
    let next_limit = if grows { next::next(ctx, &[]) } else { None };
    // A busy resource leaves little room for growth: the last gain may only mean that the step was disturbed less.
    let also = if grows { next::busy(ctx) } else { Vec::new() };
    let confidence = match base.confidence {
        Confidence::Measured if !also.is_empty() => Confidence::Inferred,
        other => other,
    };
    Verdict { next_limit, also, confidence, excluded: ctx.excluded(&[]), ..base }
}

/// The verdict if throughput did not follow the load, though the last step was a little higher. It is only inferred, because there
/// was no plateau.
fn level(ctx: &RuleContext<'_>) -> Option<Verdict> {
    let steps = usable(ctx.steps());
    let is_level = hardly_differs(&steps, ctx.throughput())
        || !grew(ctx.steps())
        || gained_little(&steps) && decide::is_something_busy(ctx);
    let found = if is_level { decide::limit(ctx, LoadOutcome::Plateau) } else { None };
    let found = found.filter(|found| !is_the_load(ctx, found))?;
    Some(Verdict { confidence: Confidence::Inferred, ..found })
}

/// True for a pool as large as the load: if S₀ is of the step itself, X·S₀ is the number of requests under way.
fn is_the_load(ctx: &RuleContext<'_>, found: &Verdict) -> bool {
    let under_way = ctx.step().map(StepSummary::under_way);
    let is_load = |at_once: f64| under_way.is_some_and(|under_way| at_once >= (1.0 - TIE) * under_way);
    matches!(&found.claim, Some(Claim::Pool { law, .. }) if is_load(law.at_once))
}

/// True if the last step gained no more than a busy resource has left.
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
