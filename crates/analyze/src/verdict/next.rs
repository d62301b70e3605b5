//! What limits next, and what is busy already.

use super::candidate::{Basis, Candidate, once_each};
use super::context::RuleContext;
use super::facts::served::served_per_sec;
use super::facts::spent::Named;
use crate::findings::{NextLimit, Observation, Suspect};
use crate::hosts::resource::Resource;
use crate::hosts::utilisation::{BUSY, TIE};
use crate::load::knee::counts_for_capacity;

/// No limit is predicted beyond this multiple of the measured throughput.
const MAX_EXTRAPOLATION: f64 = 2.0;

/// A candidate that rests on the use of a resource alone.
pub(super) fn nearly(ctx: &RuleContext<'_>, resource: &Resource) -> Candidate {
    let share = ctx.share(resource).unwrap_or_default();
    Candidate {
        share: Some(share),
        at_per_sec: resource.demand.and_then(|demand| demand.at_per_sec),
        basis: Basis::Inferred,
        evidence: vec![ctx.share_row(Observation::Resource(resource.id()), share)],
        ..Candidate::named(resource.kind.limit(), resource.place())
    }
}

/// The busy resources of the target at the deciding step, one for each limit of a host.
pub(super) fn busy(ctx: &RuleContext<'_>) -> Vec<Suspect> {
    let busy = ctx.spent_by_share().into_iter().filter(|(_, share)| *share >= BUSY);
    let candidates = once_each(busy.map(|(resource, _)| nearly(ctx, resource)).collect());
    candidates.iter().map(|candidate| candidate.suspect(ctx)).collect()
}

/// The resource that is used up next once the named limits are gone; in a table also one that other rows predict.
pub(super) fn next(ctx: &RuleContext<'_>, named: &[Named<'_>]) -> Option<NextLimit> {
    let most = MAX_EXTRAPOLATION * (1.0 + TIE) * served(ctx);
    let is_known = |resource: &&Resource| ctx.row_of_table().is_some() || ctx.share(resource).is_some();
    let left = ctx.spent().filter(is_known);
    let left = left.filter(|resource| !named.contains(&(resource.kind.limit(), resource.host.as_str())));
    let met = left.filter_map(|resource| Some((resource.demand?.at_per_sec?, resource)));
    let (at_per_sec, resource) =
        met.filter(|(at, _)| at.value <= most).min_by(|a, b| a.0.value.total_cmp(&b.0.value))?;
    let limit = resource.kind.limit();
    Some(NextLimit { limit, place: resource.place(), resource: resource.id(), at_per_sec })
}

/// Requests per second that were served. Refusals do not count: they are no throughput that could grow.
fn served(ctx: &RuleContext<'_>) -> f64 {
    let refusing = ctx.step().filter(|step| !counts_for_capacity(step));
    refusing.map_or(ctx.throughput(), served_per_sec)
}
