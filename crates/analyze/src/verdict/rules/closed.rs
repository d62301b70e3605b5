//! `connections`, as the load itself sees it: a server closes new connections without an answer and goes on serving those
//! it has.
//!
//! Condition: in two steps or more 5 % of the requests or more found their connection closed; what is served is the same
//! within 10 % over all of these; it was less before; a host is watched and nothing of the target is busy. A server that
//! fails serves less. One that closes what has waited too long for a worker looks the same, so that a pool is an
//! alternative. The server's own status page is no help: the connection that asks for it is closed as well.

use crate::findings::{Advice, Claim, Limit, Observation, StepSummary};
use crate::hosts::utilisation::BUSY;
use crate::verdict::candidate::Candidate;
use crate::verdict::case::{at, row};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::served::{
    MIN_PART, SAME_SERVED, closed_part, most_served, served_per_sec, was_level_before,
};

pub(in crate::verdict) fn candidate(ctx: &RuleContext<'_>) -> Option<Candidate> {
    let all = ctx.case.steps;
    let closing: Vec<usize> = (0..all.len()).filter(|index| closed_part(&all[*index]) >= MIN_PART).collect();
    let [first, .., last] = closing[..] else { return None };
    let least = closing.iter().map(|index| served_per_sec(&all[*index])).reduce(f64::min)?;
    let most = most_served(all);
    let stopped_before = was_level_before(all, least) || closing.len() == all.len();
    let is_level = least > 0.0 && most <= (1.0 + SAME_SERVED) * least;
    if !is_watched(ctx) || is_busy(ctx, first) || stopped_before || !is_level {
        return None;
    }
    Some(found(ctx, (&all[first], &all[last]), (least, most)))
}

fn is_watched(ctx: &RuleContext<'_>) -> bool {
    ctx.hosts().iter().any(|host| ctx.cpu_share(host).is_some())
}

fn is_busy(ctx: &RuleContext<'_>, step: usize) -> bool {
    let mut spent = ctx.of_target().filter(|resource| resource.kind.is_spent());
    spent.any(|resource| resource.utilisation(step).is_some_and(|share| share >= BUSY))
}

fn found(
    ctx: &RuleContext<'_>,
    (first, last): (&StepSummary, &StepSummary),
    (least, most): (f64, f64),
) -> Candidate {
    let place = ctx.front_place();
    let claim = Claim::Closed { part: closed_part(last), per_sec: most, at: at(last), from: at(first) };
    Candidate {
        evidence: vec![
            row(Observation::Closed, closed_part(last), Some(1.0), at(last)),
            ctx.row(Observation::ServedWhileClosing, least, Some(most)),
        ],
        advice: vec![Advice::AllowMore],
        alternatives: vec![Candidate::named(Limit::Pool, place.clone())],
        ..Candidate::new(Limit::Connections, place, claim)
    }
}
