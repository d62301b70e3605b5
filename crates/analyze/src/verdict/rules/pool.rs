//! `pool`: a fixed number of workers or connections, each held for the whole of a request: X·S₀ by Little's law (1961),
//! S₀ being the time of a request that waits for nothing. It is observed where throughput grew linearly until near
//! X·S₀, and all requests but X·S₀ wait at the door of its owner, or as many connections lead out of it. Where the lowest load
//! had all of the throughput, X·S₀ is that load: the size is known only if as many are observed.
//!
//! A delayed acknowledgement (Nagle 1984, RFC 896) takes 40 ms of an answer without holding a worker.

use crate::findings::{Advice, Claim, Evidence, Limit, Observation, Place, PlaceCount};
use crate::groups::grouped;
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::concurrency::Concurrency;
use crate::verdict::facts::queue::Queue;

/// The candidate for a pool. `queue` is where requests wait.
pub(crate) fn candidate(ctx: &RuleContext<'_>, queue: &Queue, at_once: Concurrency) -> Candidate {
    let tiers: Vec<Place> = queue
        .tiers
        .iter()
        .filter_map(|tier| ctx.obs.flow.tiers.get(*tier))
        .map(|tier| tier.place())
        .collect();
    let place = tiers.first().cloned().unwrap_or_else(|| sole_place(ctx));
    let is_counted = is_seen(queue, at_once.count.value);
    let is_known = !at_once.saturated || is_counted;
    let size = is_known.then(|| at_once.count.times(1.0 / tiers.len().max(1) as f64));
    let owners = if tiers.is_empty() { counted(vec![place.clone()]) } else { counted(tiers) };
    let is_grown = at_once.straight == Some(true) && is_counted;
    let delayed_ack = at_once.without_ack_sec.and(size.and_then(|size| size.interval));
    let basis = Basis::observed(is_grown && at_once.without_ack_sec.is_none());
    let mut advice = Vec::new();
    advice.extend(delayed_ack.map(|_| Advice::NoDelay(owners.clone())));
    advice.push(match size {
        Some(size) => Advice::LargerPool { owners: owners.clone(), size: size.value },
        None => Advice::BeginLower,
    });
    if basis != Basis::Observed {
        advice.push(Advice::HeldBack(ctx.throughput()));
    }
    Candidate {
        size,
        basis,
        evidence: evidence(ctx, queue, is_known.then_some(at_once.count.value), &owners),
        advice,
        ..Candidate::new(Limit::Pool, place, Claim::Pool { owners, size, law: at_once.law(), delayed_ack })
    }
}

/// `count` is the number of requests served at once; `None` where unknown.
fn evidence(
    ctx: &RuleContext<'_>,
    queue: &Queue,
    count: Option<f64>,
    owners: &[PlaceCount],
) -> Vec<Evidence> {
    let at_once = count.map(|count| ctx.row(Observation::AtOnce, count, None));
    let mut rows: Vec<Evidence> = at_once.into_iter().collect();
    let door = || Observation::AtTheDoor(owners.to_vec());
    rows.extend(queue.at_the_door.map(|part| ctx.share_row(door(), part.min(1.0))));
    let out = queue.out.filter(|out| *out > 0.0);
    rows.extend(out.map(|out| ctx.row(Observation::ConnectionsOut(owners.to_vec()), out, count)));
    rows
}

/// Places, each once: several servers of one name on one host are so many of it.
fn counted(places: Vec<Place>) -> Vec<PlaceCount> {
    let same = grouped(places, |a, b| a == b).into_iter();
    same.map(|same| PlaceCount { count: same.len(), place: same[0].clone() }).collect()
}

/// True if the pool was counted: the queue is at its door with all requests but as many as it has workers, or it keeps as many
/// connections as it has workers. If more requests are past the door than are served at once, they wait for something behind it,
/// even over something other than TCP.
fn is_seen(queue: &Queue, count: f64) -> bool {
    let as_many = |seen: f64| bounds::is_same_size(seen, count);
    let at_door = queue.at_the_door.is_some_and(|part| part >= bounds::AT_THE_DOOR)
        && queue.inside.is_some_and(as_many);
    let counted = queue.out.is_some_and(as_many);
    let nothing_beyond = queue.out == Some(0.0);
    !queue.tiers.is_empty() && (at_door && (nothing_beyond || counted) || counted && !queue.opens_anew)
}

/// The place of the queue if no host reports it: the only host, or the target itself.
fn sole_place(ctx: &RuleContext<'_>) -> Place {
    match ctx.hosts().as_slice() {
        [only] => Place::host(*only),
        _ => ctx.target(),
    }
}
