//! Where requests wait, found by following them downstream from the listener of the load.
//!
//! A tier passes requests on if about as many connections lead out of it as requests come in, or if they grow with
//! the load. It holds them if they wait at its own door, not read or not accepted. The place of the queue is the deepest
//! tier that requests reach and do not leave.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_plan::Level;
use plimsoll_record::metric::tcp;
use plimsoll_record::{Source, Subject};

use crate::hosts::topology::flow::Tier;
use crate::hosts::utilisation::TIE;
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;

/// If this share of the requests under way is unread at the lowest load, unread requests are no sign of waiting: requests that are
/// worked on are then often unread too.
const MAX_UNREAD: f64 = 0.5;

/// Where requests wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Queue {
    /// The step at which connections and requests are counted here.
    pub(crate) step: usize,
    /// The tiers, several where they share the load; empty where none is known.
    pub(crate) tiers: Vec<usize>,
    /// The unwatched address to which requests are passed on; `None` if a probe watches it.
    pub(crate) outside: Option<Outside>,
    /// The unwatched address to which most connections of these tiers lead, whether or not all requests are passed on to it.
    pub(crate) beyond: Option<Outside>,
    /// Requests that were observed at the door of these tiers, over those that must wait somewhere; `None` where the door was
    /// not observed.
    pub(crate) at_the_door: Option<f64>,
    /// Requests under way that are not at that door; `None` where the door was not observed.
    pub(crate) inside: Option<f64>,
    /// Connections out of these tiers at the highest step, to other tiers and to unwatched addresses; `None` where not observed.
    pub(crate) out: Option<f64>,
    /// True if these tiers open connections about as often as requests come. Then as many are open as requests are at work beyond,
    /// whatever bounds that number.
    pub(crate) opens_anew: bool,
}

/// An unwatched address to which connections lead.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outside {
    /// Its address, or the name that the plan gives its host.
    pub(crate) name: String,
    /// Connections to it at the highest step.
    pub(crate) connections: f64,
    /// Connections per request under way at the lowest load, at least one.
    pub(crate) each: f64,
    /// True if as many were open at the lowest load, so that they may be idle.
    pub(crate) is_kept_ready: bool,
}

/// Requests wait inside if this many times as many are past the door as are served at once: as many wait as are served.
const INSIDE: f64 = 2.0;

impl Queue {
    /// True if requests wait past the door of these tiers: nearly all are past it, or many more than `served_at_once`.
    /// `None` where the door was not observed.
    pub(crate) fn waits_inside(&self, served_at_once: f64) -> Option<bool> {
        let (at_the_door, inside) = (self.at_the_door?, self.inside?);
        Some(at_the_door < bounds::AT_THE_DOOR || inside >= INSIDE * served_at_once.max(1.0))
    }
}

/// Connections opened per request from which on a tier opens them anew: one for half of the requests.
const ANEW: f64 = 0.5;

/// The two steps of the plateau between which the load grew: the lowest one near the plateau's throughput, and the highest.
fn ends(ctx: &RuleContext<'_>) -> (usize, usize) {
    let steps = ctx.steps();
    let near = |index: &usize| steps[*index].throughput.value >= (1.0 - TIE) * ctx.throughput();
    let front = ctx.obs.flow.front();
    // With very many connections, they are not listed in each step.
    let is_listed =
        |index: &usize| front.iter().any(|tier| ctx.obs.flow.tiers[*tier].established[*index].is_some());
    let level: Vec<usize> = (0..steps.len()).filter(near).collect();
    let listed: Vec<usize> = level.iter().copied().filter(is_listed).collect();
    let level = if listed.is_empty() { level } else { listed };
    let by_load = |index: &&usize| steps[**index].connections;
    let low = level.iter().min_by_key(by_load).copied().unwrap_or(ctx.load);
    let high = level.iter().max_by_key(by_load).copied().unwrap_or(ctx.load);
    (low, high)
}

/// Requests under way at a step.
fn under_way(ctx: &RuleContext<'_>, step: usize) -> f64 {
    ctx.steps()[step].under_way()
}

/// Requests at the highest step that the target does not work on, so that they wait somewhere.
fn must_wait(ctx: &RuleContext<'_>, high: usize, served_at_once: f64) -> f64 {
    (under_way(ctx, high) - served_at_once).max(0.0)
}

/// Finds the queue. `served_at_once` is the number of requests that the target works on at a time.
pub(crate) fn find(ctx: &RuleContext<'_>, served_at_once: f64) -> Queue {
    let (low, high) = ends(ctx);
    let waiting = must_wait(ctx, high, served_at_once);
    let mut here = ctx.obs.flow.front();
    let mut best = Queue::default();
    // A request passes no tier twice, so that as many rounds as there are tiers are enough.
    for _ in 0..=ctx.obs.flow.tiers.len() {
        let held = at_the_door(ctx, &here, high);
        let door = held.map(|held| held / waiting.max(1.0));
        let inside = held.map(|held| under_way(ctx, high) - held);
        let next = passed_to(ctx, &here, low, high);
        let out = flowing_out(ctx, &here, high);
        let opens_anew = opens_anew(ctx, &here, high);
        let beyond = next.outside.clone();
        let tiers = here.clone();
        best = Queue { step: high, tiers, outside: None, beyond, at_the_door: door, inside, out, opens_anew };
        // A busy tier reads late, although most of the waiting requests wait beyond it.
        let most_beyond = held.zip(inside).is_some_and(|(held, inside)| inside - served_at_once > held);
        let held_here = door.is_some_and(|part| part >= bounds::AT_THE_DOOR) && !(next.passes && most_beyond);
        let deeper = next.tiers.iter().any(|tier| {
            let held = at_the_door(ctx, &[*tier], high);
            held.is_some_and(|held| held >= bounds::AT_THE_DOOR * waiting.max(1.0) / next.tiers.len() as f64)
        });
        let goes_on = !held_here
            && (next.passes && !next.tiers.is_empty()
                || waits_beyond(ctx, (&here, &next.tiers), high, served_at_once));
        if deeper || goes_on {
            here = next.tiers;
        } else if !held_here && next.passes {
            return Queue { outside: next.outside, ..best };
        } else {
            return best;
        }
    }
    best
}

/// True if more connections lead out of `tiers` than requests are served at once, and as many out of `next` as are served: the others
/// wait in `next`, as behind a larger pool in front of a smaller one.
fn waits_beyond(
    ctx: &RuleContext<'_>,
    (tiers, next): (&[usize], &[usize]),
    high: usize,
    served_at_once: f64,
) -> bool {
    let out = |tiers: &[usize]| flowing_out(ctx, tiers, high);
    let is_more = out(tiers).is_some_and(|out| out > (1.0 + bounds::SAME_SIZE) * served_at_once);
    let as_many = out(next).is_some_and(|out| bounds::is_same_size(out, served_at_once));
    is_more && as_many && !is_kept_ready(ctx, tiers, high)
}

/// Requests at the door of tiers: not accepted, or not read.
fn at_the_door(ctx: &RuleContext<'_>, tiers: &[usize], step: usize) -> Option<f64> {
    let of_tier = |tier: &Tier| {
        let waiting = tier.queue[step].filter(|queue| *queue > 0.0);
        match unread_at_work(ctx, tier) {
            // Unread bytes show nothing here, and an empty accept queue does not show that all was read.
            Some(part) if part >= MAX_UNREAD => waiting,
            at_work => {
                let at_work = at_work.unwrap_or(0.0) * under_way(ctx, step);
                let unread = tier.unread[step].map(|unread| (unread - at_work).max(0.0));
                // A connection that is not accepted yet and has sent its request counts in both.
                unread.into_iter().chain(tier.queue[step]).reduce(f64::max)
            }
        }
    };
    tiers.iter().filter_map(|tier| of_tier(&ctx.obs.flow.tiers[*tier])).reduce(|a, b| a + b)
}

/// The share of the requests under way that are unread at the lowest load, where the fewest wait. A server that begins before it has
/// read all of a request leaves something unread while it works.
fn unread_at_work(ctx: &RuleContext<'_>, tier: &Tier) -> Option<f64> {
    let lowest = (0..ctx.steps().len()).min_by_key(|index| ctx.steps()[*index].connections)?;
    Some(tier.unread[lowest]? / under_way(ctx, lowest).max(1.0))
}

fn flowing_out(ctx: &RuleContext<'_>, tiers: &[usize], step: usize) -> Option<f64> {
    let tiers: Vec<&Tier> = tiers.iter().map(|tier| &ctx.obs.flow.tiers[*tier]).collect();
    if tiers.is_empty() || tiers.iter().any(|tier| !tier.out_known) {
        return None;
    }
    let flows: Vec<Option<f64>> =
        tiers.iter().flat_map(|tier| &tier.out).map(|flow| flow.connections[step]).collect();
    let is_unknown = !flows.is_empty() && flows.iter().all(Option::is_none);
    (!is_unknown).then(|| flows.into_iter().flatten().fold(0.0, |sum, count| sum + count))
}

/// True if the hosts of tiers open connections for half of the requests or more.
fn opens_anew(ctx: &RuleContext<'_>, tiers: &[usize], step: usize) -> bool {
    let hosts: BTreeSet<&str> =
        tiers.iter().map(|tier| ctx.obs.flow.tiers[*tier].node.host.as_str()).collect();
    let opened = |host: &&str| {
        let tcp = ctx.obs.hosts.track(host, Source::Tcp, Subject::Host)?;
        tcp.per_sec(tcp::ACTIVE_OPENS, ctx.obs.spans[step])
    };
    let per_sec: f64 = hosts.iter().filter_map(opened).sum();
    per_sec >= ANEW * ctx.steps()[step].throughput.value
}

/// Where requests are passed on to.
struct Next {
    tiers: Vec<usize>,
    outside: Option<Outside>,
    /// True if about all of them are passed on.
    passes: bool,
}

/// Connections out of these tiers at one step, by the tier that they lead to.
fn shares(ctx: &RuleContext<'_>, tiers: &[usize], step: usize) -> Vec<(usize, f64)> {
    let mut all: BTreeMap<usize, f64> = BTreeMap::new();
    for flow in tiers.iter().flat_map(|tier| &ctx.obs.flow.tiers[*tier].out) {
        if let Some(connections) = flow.connections[step] {
            *all.entry(flow.to).or_default() += connections;
        }
    }
    all.into_iter().collect()
}

/// A tier with this share of an even split of the connections is one that requests are passed on to.
const TAKES_REQUESTS: f64 = 0.5;

/// A further instance of such a tier needs only this share, if its connections grow with the load: those that are kept from an earlier
/// load are spread unevenly, and do not grow.
const IS_ANOTHER_INSTANCE: f64 = 0.3;

/// Connections that grow with the load are so many times as many at the end of the plateau as at its beginning.
const GROWN: f64 = 1.5;

fn passed_to(ctx: &RuleContext<'_>, tiers: &[usize], low: usize, high: usize) -> Next {
    let (before, shares) = (shares(ctx, tiers, low), shares(ctx, tiers, high));
    let tier = |index: &usize| &ctx.obs.flow.tiers[*index];
    let inner = |index: &usize| tier(index).is_sampled() && !tiers.contains(index);
    let watched: Vec<(usize, f64)> = shares.iter().filter(|(to, _)| inner(to)).copied().collect();
    let to_tiers: f64 = watched.iter().map(|(_, count)| count).sum();
    let outer = shares.iter().filter_map(|(to, count)| Some((tier(to).outside.as_ref()?, *count)));
    let outer = outer.max_by(|a, b| a.1.total_cmp(&b.1));
    let outside_most = outer.map_or(0.0, |(_, count)| count);
    let to_outside = outside_most > to_tiers;
    let even = to_tiers / shares.len() as f64;
    let takes_requests = |count: f64| count >= TAKES_REQUESTS * even;
    let is_grown = |(to, count): &(usize, f64)| {
        let known = before.iter().find(|(other, _)| other == to).map_or(0.0, |(_, count)| *count);
        *count >= GROWN * known.max(1.0)
    };
    let is_instance = |next: &(usize, f64)| {
        let mut main = watched.iter().filter(|(_, of_main)| takes_requests(*of_main));
        next.1 >= IS_ANOTHER_INSTANCE * even
            && is_grown(next)
            && main.any(|(main, _)| tier(main).is_of_same_service(tier(&next.0)))
    };
    let next = watched.iter().filter(|next| !to_outside && (takes_requests(next.1) || is_instance(next)));
    Next {
        tiers: next.map(|(to, _)| *to).collect(),
        outside: outer.filter(|_| to_outside).map(|(name, connections)| Outside {
            name: name.clone(),
            connections,
            each: each(ctx, tiers),
            is_kept_ready: is_kept_ready(ctx, tiers, high),
        }),
        passes: passes(ctx, tiers, to_tiers.max(outside_most), low, high),
    }
}

/// Connections out of these tiers per request under way at the lowest load, at least one: a request may go several ways at once.
fn each(ctx: &RuleContext<'_>, tiers: &[usize]) -> f64 {
    let lowest = (0..ctx.steps().len()).min_by_key(|index| ctx.steps()[*index].connections);
    let of_step = |step| total_out(ctx, tiers, step) / under_way(ctx, step).max(1.0);
    lowest.map_or(1.0, of_step).max(1.0)
}

/// True if `out` is the number of requests that a warm-up had under way: a client that keeps its connections still has those that
/// the warm-up opened.
fn left_by_warm_up(ctx: &RuleContext<'_>, out: f64) -> bool {
    let Some(run) = ctx.obs.run else { return false };
    let plan = run.plan;
    let Level::Closed { connections, depth } = plan.load.warming() else { return false };
    let held = f64::from(connections) * f64::from(depth);
    plan.warm.is_some() && bounds::is_same_size(out, held)
}

fn total_out(ctx: &RuleContext<'_>, tiers: &[usize], step: usize) -> f64 {
    shares(ctx, tiers, step).iter().map(|(_, count)| count).sum()
}

/// True for a pool of connections that is as large at the lowest load, so that it may be idle, unless a warm-up left it so.
fn is_kept_ready(ctx: &RuleContext<'_>, tiers: &[usize], high: usize) -> bool {
    let lowest = (0..ctx.steps().len()).min_by_key(|index| ctx.steps()[*index].connections);
    let total = |step: usize| total_out(ctx, tiers, step);
    lowest.is_some_and(|lowest| {
        under_way(ctx, lowest) <= 0.5 * under_way(ctx, high)
            && total(lowest) >= 0.9 * total(high)
            && !left_by_warm_up(ctx, total(lowest))
    })
}

/// True if about all requests go on: as many connections lead out as requests are under way, or they grow with the load.
fn passes(ctx: &RuleContext<'_>, tiers: &[usize], out: f64, low: usize, high: usize) -> bool {
    let total = |step: usize| total_out(ctx, tiers, step);
    let in_flight = under_way(ctx, high);
    let grows = || {
        let (load, flow) = (in_flight / under_way(ctx, low).max(1.0), total(high) / total(low).max(1.0));
        load >= 1.5 && flow - 1.0 >= 0.5 * (load - 1.0)
    };
    !is_kept_ready(ctx, tiers, high) && (out >= bounds::PASSED_ON * in_flight || grows())
}
