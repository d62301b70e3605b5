//! `dependency`: requests are passed on to something that no probe watches, and wait there.
//!
//! Condition: connections lead from the queue of requests in the last watched tier to an address that is not watched. If as many
//! requests are served at once as connections lead out, the dependency answers under load as it does without, and the number
//! of connections may be the limit; if fewer are served, it is slower under load, and it limits for certain. Or fewer connections
//! than requests lead there, as out of a pool, and clearly more than requests are served at once.

use crate::findings::{Advice, Claim, Limit, Observation, Place};
use crate::verdict::bounds;
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::Concurrency;
use crate::verdict::facts::queue::{Outside, Queue};

/// The dependency, and whether it is slower under load. `at_once` is the number of requests served at once.
pub(crate) fn candidate(ctx: &RuleContext<'_>, queue: &Queue, at_once: f64) -> Option<(Candidate, bool)> {
    let outside = queue.outside.as_ref()?;
    let found = found(ctx, queue, (outside, at_once))?;
    Some((found, at_once < (1.0 - bounds::SAME_SIZE) * outside.connections))
}

fn found(ctx: &RuleContext<'_>, queue: &Queue, (outside, at_once): (&Outside, f64)) -> Option<Candidate> {
    let place = Place::Unwatched(outside.name.clone());
    let tier = ctx.obs.flow.tiers.get(*queue.tiers.first()?)?.place();
    let connections = outside.connections;
    let observed = Observation::ConnectionsTo { tier: tier.clone(), to: place.clone() };
    Some(Candidate {
        evidence: vec![ctx.row(observed, connections, Some(at_once))],
        advice: vec![Advice::WatchDependency(at_once)],
        ..Candidate::new(
            Limit::Dependency,
            place,
            Claim::Dependency { tier, connections, busiest: ctx.busiest_but(&[]) },
        )
    })
}

/// Finds a dependency behind a bounded number of connections that is clearly higher than the number of requests served at once: the
/// others wait there, whatever bounds the connections. The flag is true if requests opened the connections; if as many are open at
/// the lowest load, they may be idle.
///
/// `None` where requests go several ways at once, where all but those that are served wait at the door, and for a mix, whose
/// requests served at once are of some kinds only.
pub(crate) fn behind_a_bound(
    ctx: &RuleContext<'_>,
    queue: &Queue,
    at_once: Concurrency,
) -> Option<(Candidate, bool)> {
    let outside = queue.beyond.as_ref()?;
    let count = at_once.count.value;
    // Connections that are kept ready say nothing about how many a request opens.
    let each = if outside.is_kept_ready { 1.0 } else { outside.each };
    let is_more = outside.connections > (1.0 + bounds::SAME_SIZE) * count * each;
    let are_workers = queue.inside.is_some_and(|inside| bounds::is_same_size(inside, count));
    let is_mix = ctx.step().is_some_and(|step| step.requests.len() > 1);
    if !is_more || are_workers || is_mix || at_once.flat {
        return None;
    }
    Some((found(ctx, queue, (outside, count))?, !outside.is_kept_ready))
}

/// Finds the callee of a tier in which requests wait and which keeps fewer connections than it serves requests at once. Requests may
/// share these connections and wait for what answers there, or behind it.
pub(crate) fn over_few_connections(ctx: &RuleContext<'_>, queue: &Queue, at_once: f64) -> Option<Candidate> {
    let [tier] = queue.tiers.as_slice() else { return None };
    let few = 0.5..(1.0 - bounds::SAME_SIZE) * at_once;
    let is_shared =
        queue.out.is_some_and(|out| few.contains(&out)) && queue.waits_inside(at_once) == Some(true);
    let tier = ctx.obs.flow.tiers.get(*tier)?;
    let callee = tier.main_outflow(queue.step).filter(|_| is_shared)?;
    Some(Candidate::named(Limit::Dependency, ctx.obs.flow.tiers.get(callee.to)?.place()))
}
