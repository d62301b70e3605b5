//! `refused`: the target refuses 5 % of the requests or more by policy, with 429 or 503, while nothing of it is busy
//! except with refusing. From there on, what is served is the same within half, or does not grow with the load while every
//! watched CPU would be far from busy (limiters that count what they deny serve next to nothing once they are
//! exceeded).
//!
//! It is observed where what is served is the same within 10 % at two loads or more. If as much was served before there were
//! refusals, something else had stopped growth, and a pool is an alternative.

use crate::findings::{Advice, Claim, Limit, Observation, Place, StepSummary};
use crate::hosts::demand::{Law, Load, demand};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::topology::flow::Tier;
use crate::hosts::utilisation::{BUSY, FREE};
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::served::{
    MIN_PART, SAME_SERVED, first_refusing, is_accepting, most_served, refused_part, served_per_sec,
    was_level_before,
};

/// The served throughput over the steps with refusals, in requests per second.
struct Served {
    least: f64,
    most: f64,
    steps: usize,
}

impl Served {
    /// Over the steps with refusals, from the step `first` on.
    fn new(steps: &[StepSummary], first: usize) -> Option<Self> {
        let least_load = steps[first].connections;
        let refusing = |step: &&StepSummary| step.connections >= least_load && refused_part(step) >= MIN_PART;
        let served: Vec<f64> = steps.iter().filter(refusing).map(served_per_sec).collect();
        let least = served.iter().copied().reduce(f64::min)?;
        let most = served.iter().copied().reduce(f64::max)?;
        Some(Self { least, most, steps: served.len() })
    }

    fn is_level(&self) -> bool {
        self.most <= (1.0 + SAME_SERVED) * self.least
    }

    fn varies(&self) -> bool {
        self.steps > 1 && !self.is_level() && self.most > self.least * 1.5
    }
}

/// Refusals as a policy, judged at the first step that has them: beyond it, refusing alone may use something up.
pub(crate) fn candidate(ctx: &RuleContext<'_>) -> Option<Candidate> {
    let ctx = RuleContext { load: first_refusing(ctx.steps())?, ..*ctx };
    let served = Served::new(ctx.steps(), ctx.load)?;
    if is_near(&ctx, BUSY) || (served.varies() && !is_denied(&ctx)) {
        return None;
    }
    Some(found(&ctx, &served))
}

/// True if a resource of the target is used to this share or more, and not by refusing alone.
fn is_near(ctx: &RuleContext<'_>, least: f64) -> bool {
    let mut spent = ctx.limiting();
    spent.any(|resource| ctx.share(resource).is_some_and(|share| share >= least) && !is_far(ctx, resource))
}

/// True if what is served does not grow with the load, on hosts that have room.
fn is_denied(ctx: &RuleContext<'_>) -> bool {
    let has_room = || ctx.hosts().iter().any(|host| ctx.cpu(host).is_some_and(|cpu| is_far(ctx, cpu)));
    !grows(ctx.steps(), ctx.load) && !is_near(ctx, FREE) && has_room()
}

/// True if a resource would be free at the highest throughput ever served, by its use per request where none is refused. The rest of
/// its use is refusing: clients without a pause ask again at once. All use without refusals is charged to requests, which makes the
/// bound too low rather than too high.
fn is_far(ctx: &RuleContext<'_>, resource: &Resource) -> bool {
    let steps = ctx.steps();
    let accepting = (0..steps.len()).filter(|index| is_accepting(&steps[*index]));
    let best = accepting.max_by(|a, b| steps[*a].throughput.value.total_cmp(&steps[*b].throughput.value));
    let used = best.and_then(|best| Some((steps[best].throughput.value, resource.utilisation(best)?)));
    used.is_some_and(|(accepted_per_sec, share)| most_served(steps) * share < FREE * accepted_per_sec)
}

/// True if what is served grows by half with the load, among the steps from the first with refusals on.
fn grows(steps: &[StepSummary], first: usize) -> bool {
    let least = steps[first].connections;
    let mut later: Vec<&StepSummary> = steps.iter().filter(|step| step.connections >= least).collect();
    later.sort_by_key(|step| step.connections);
    let served: Vec<f64> = later.into_iter().map(served_per_sec).collect();
    (1..served.len()).any(|high| served[..high].iter().any(|low| served[high] > 1.5 * low.max(1.0)))
}

fn found(ctx: &RuleContext<'_>, served: &Served) -> Candidate {
    let steps = ctx.steps();
    let step = &steps[ctx.load];
    let place = deepest_that_refuses(ctx);
    let is_cpu_of_place =
        |resource: &Resource| resource.kind == ResourceKind::Cpu && resource.host == place.host_name();
    let is_watched = ctx.obs.resources.iter().any(is_cpu_of_place);
    let before = was_level_before(steps, served.least);
    let part = refused_part(step);
    let per_sec = if served.varies() { most_served(steps) } else { served_per_sec(step) };
    let is_certain = served.is_level() && served.steps > 1 && is_watched && !before;
    let pool = before.then(|| Candidate::named(Limit::Pool, place.clone()));
    Candidate {
        basis: Basis::observed(is_certain),
        alternatives: pool.into_iter().collect(),
        evidence: vec![
            ctx.share_row(Observation::Refused, part),
            ctx.row(Observation::ServedWhileRefusing, served.least, Some(served.most)),
        ],
        advice: vec![Advice::RaisePolicy],
        ..Candidate::new(Limit::Refused, place, Claim::Refused { per_sec, part, at: ctx.at() })
    }
}

/// Programs that do not speak HTTP and so send no status, though a limiter may query one of them for each request that it refuses.
const STORES: [&str; 10] = [
    "redis-server",
    "valkey-server",
    "keydb-server",
    "memcached",
    "mariadbd",
    "mysqld",
    "postgres",
    "pgbouncer",
    "mongod",
    "nats-server",
];

fn is_store(tier: &Tier) -> bool {
    STORES.contains(&tier.process())
}

/// The place that refuses. Refusals reach the load from there, and the tiers behind it never see what was refused: it is the deepest
/// host whose packets grow with the refusals.
fn deepest_that_refuses(ctx: &RuleContext<'_>) -> Place {
    let tiers = &ctx.obs.flow.tiers;
    let mut here = ctx.obs.flow.front();
    let mut place = ctx.front_place();
    for _ in 0..tiers.len() {
        let next: Vec<usize> = here
            .iter()
            .flat_map(|tier| &tiers[*tier].out)
            .map(|flow| flow.to)
            .filter(|tier| tiers[*tier].is_sampled() && !here.contains(tier) && !is_store(&tiers[*tier]))
            .filter(|tier| sees_refusals(ctx, &tiers[*tier].node.host))
            .collect();
        let Some(first) = next.first() else { return place };
        place = tiers[*first].place();
        here = next;
    }
    place
}

/// True if the packets that a host receives grow with the refusals, while what is served stays the same.
fn sees_refusals(ctx: &RuleContext<'_>, host: &str) -> bool {
    let packets = |resource: &&Resource| resource.kind == ResourceKind::PacketsIn && resource.host == host;
    let Some(link) = ctx.obs.resources.iter().find(packets) else { return false };
    let load = |(step, used): (&StepSummary, &Option<f64>)| {
        let refused_per_sec = step.throughput.value * refused_part(step);
        Some(Load { throughput_per_sec: refused_per_sec, used: (*used)? })
    };
    let steps = ctx.steps().iter().zip(&link.used).filter(|(step, _)| refused_part(step) >= MIN_PART);
    let loads: Vec<Load> = steps.filter_map(load).collect();
    let most = loads.iter().copied().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec));
    let found = most.and_then(|most| demand(&loads, most, None));
    // Each refused request is a packet at least.
    found.is_some_and(|demand| demand.law == Law::Holds && demand.per_request.value >= 0.5)
}
