//! `connections`, as the load itself shows it: a server closes new connections without an answer and goes on serving those
//! it has. In two steps or more, 5 % of the requests found their connection closed; what is served is the same within 10 % over
//! these steps; less was served before; and nothing of a watched target is busy.
//!
//! A server that closes what has waited too long for a worker looks the same, so a pool is an alternative.

use crate::findings::{Advice, Claim, Evidence, Limit, Observation, StepSummary};
use crate::hosts::utilisation::BUSY;
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::served::{
    MIN_PART, SAME_SERVED, closed_part, most_served, served_per_sec, was_level_before,
};

pub(crate) fn candidate(ctx: &RuleContext<'_>) -> Option<Candidate> {
    let all = ctx.steps();
    let closing: Vec<usize> = (0..all.len()).filter(|index| closed_part(&all[*index]) >= MIN_PART).collect();
    let [first, .., last] = closing[..] else { return None };
    let least = closing.iter().map(|index| served_per_sec(&all[*index])).reduce(f64::min)?;
    let most = most_served(all);
    let stopped_before = was_level_before(all, least) || closing.len() == all.len();
    let is_level = least > 0.0 && most <= (1.0 + SAME_SERVED) * least;
    if !ctx.is_cpu_known() || is_busy(ctx, first) || stopped_before || !is_level {
        return None;
    }
    Some(found(ctx, (&all[first], &all[last]), (least, most)))
}

fn is_busy(ctx: &RuleContext<'_>, step: usize) -> bool {
    let mut spent = ctx.limiting();
    spent.any(|resource| resource.utilisation(step).is_some_and(|share| share >= BUSY))
}

fn found(
    ctx: &RuleContext<'_>,
    (first, last): (&StepSummary, &StepSummary),
    (least, most): (f64, f64),
) -> Candidate {
    let place = ctx.front_place();
    let claim = Claim::Closed { part: closed_part(last), per_sec: most, at: last.at(), from: first.at() };
    Candidate {
        evidence: vec![
            Evidence::new(Observation::Closed, closed_part(last), Some(1.0), last.at()),
            ctx.row(Observation::ServedWhileClosing, least, Some(most)),
        ],
        advice: vec![Advice::AllowMore],
        alternatives: vec![Candidate::named(Limit::Pool, place.clone())],
        ..Candidate::new(Limit::Connections, place, claim)
    }
}
