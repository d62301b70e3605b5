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
