//! `dependency`: requests are passed on to something that no probe watches, and wait there.
//!
//! Condition: the queue of requests leads out of the last watched tier to an address that is not watched. If the requests
//! served at once are as many as the connections out, the dependency answers under load as it does without, and the number
//! of connections may be what limits; if they are fewer, it is slower under load, and it limits for certain.

use crate::findings::{Advice, Claim, Limit, Observation, Place};
use crate::verdict::bounds;
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::queue::Queue;

/// What is not watched, and whether it is slower under load. `at_once` is how many requests are served at once.
pub(crate) fn candidate(ctx: &RuleContext<'_>, queue: &Queue, at_once: f64) -> Option<(Candidate, bool)> {
    let outside = Place::Unwatched(queue.outside.clone()?);
    let tier = ctx.obs.flow.tiers.get(*queue.tiers.first()?)?.place();
    let out = queue.out?;
    let observed = Observation::ConnectionsTo { tier: tier.clone(), to: outside.clone() };
    let found = Candidate {
        evidence: vec![ctx.row(observed, out, Some(at_once))],
        advice: vec![Advice::WatchDependency(at_once)],
        ..Candidate::new(
            Limit::Dependency,
            outside,
            Claim::Dependency { tier, connections: out, busiest: ctx.busiest_but(&[]) },
        )
    };
    Some((found, at_once < (1.0 - bounds::SAME_SIZE) * out))
}

/// Requests wait inside a tier that keeps fewer connections than it serves requests at once: they may share these, and what
/// answers there, or behind it, may be what they wait for.
pub(crate) fn over_few_connections(ctx: &RuleContext<'_>, queue: &Queue, at_once: f64) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let few = 0.5..(1.0 - bounds::SAME_SIZE) * at_once;
    let is_shared =
        queue.out.is_some_and(|out| few.contains(&out)) && queue.waits_inside(at_once) == Some(true);
    let callee = ctx.obs.flow.tiers.get(*tier)?.main_outflow().filter(|_| is_shared)?;
    Some(Candidate::named(Limit::Dependency, ctx.obs.flow.tiers.get(callee.to)?.place()))
}
