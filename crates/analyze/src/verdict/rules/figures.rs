//! Limits that only the figures of a table show: `pool`, `memory`, `disk` and `refused`.
//!
//! Conditions: nine tenths or more of a pool's workers, of the memory, or of the time of the disk are used; a third or more of
//! the time is garbage collection; one request in a hundred is refused, or fails.

use crate::TableRow;
use crate::findings::{Advice, Claim, Estimate, Limit, Observation, Place, RowClaim};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::BUSY;
use crate::verdict::bounds;
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;

/// Pools of tiers in which nearly all workers are in use.
pub(crate) fn pools(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    full(ctx, ResourceKind::Pool)
}

/// The limit of a row in which no processor, link or pool is used up.
pub(crate) fn others(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let kinds = [ResourceKind::Memory, ResourceKind::Disk];
    let full = || kinds.into_iter().flat_map(|kind| full(ctx, kind)).next();
    refused(ctx, row).or_else(|| collecting(ctx, row)).or_else(full).or_else(|| failing(row))
}

fn full(ctx: &RuleContext<'_>, kind: ResourceKind) -> Vec<Candidate> {
    let is_full = |one: &&Resource| ctx.share(one).is_some_and(|share| share >= BUSY);
    let of_table = ctx.of_kind(kind).filter(|_| ctx.row_of_table().is_some());
    of_table.filter(is_full).map(|resource| candidate(ctx, resource)).collect()
}

fn candidate(ctx: &RuleContext<'_>, resource: &Resource) -> Candidate {
    let used = ctx.use_of(resource);
    let advice = match resource.kind {
        ResourceKind::Pool => Advice::LargerTierPool {
            tiers: vec![resource.host.clone()],
            workers: resource.capacity.unwrap_or_default(),
        },
        ResourceKind::Memory => Advice::MoreMemory,
        _ => Advice::BatchWrites,
    };
    let size = resource.capacity.filter(|_| resource.kind == ResourceKind::Pool);
    Candidate {
        share: Some(used.share),
        at_per_sec: resource.demand.and_then(|demand| demand.at_per_sec),
        size: size.map(Estimate::exact),
        evidence: vec![ctx.share_row(Observation::Resource(resource.id()), used.share)],
        advice: vec![advice],
        ..Candidate::new(
            resource.kind.limit(),
            resource.place(),
            RowClaim::TierFull { used, per_sec: ctx.throughput() },
        )
    }
}

fn collecting(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let collects = row.present().filter_map(|tier| Some((tier, tier.gc_ratio?)));
    let (tier, part) = collects.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let place = Place::host(&tier.name);
    (part >= bounds::COLLECTING).then(|| Candidate {
        evidence: vec![ctx.share_row(Observation::Collecting(place.clone()), part)],
        advice: vec![Advice::MoreMemory],
        ..Candidate::new(Limit::Memory, place, Claim::Collecting { part, heap: tier.memory_ratio })
    })
}

fn refused(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let part = row.refused_ratio.filter(|part| *part >= bounds::FAILING)?;
    let per_sec = ctx.throughput() * (1.0 - part);
    let place = row.front.as_deref().or_else(|| row.present().next().map(|tier| tier.name.as_str()));
    Some(Candidate {
        advice: vec![Advice::RaisePolicy],
        ..Candidate::new(
            Limit::Refused,
            place.map_or(Place::Nowhere, Place::host),
            Claim::Refused { per_sec, part, at: ctx.at() },
        )
    })
}

/// The throughput of a row with failures is not what the target holds.
fn failing(row: &TableRow) -> Option<Candidate> {
    let part = row.failed_ratio.filter(|part| *part >= bounds::FAILING)?;
    let found = Candidate::new(Limit::Unknown, Place::Nowhere, RowClaim::RowFails { part });
    Some(Candidate { advice: vec![Advice::LookInto], ..found })
}
