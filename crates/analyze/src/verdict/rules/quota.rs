//! `quota`: a process's own control group is at its CPU quota, below what its host has.
//!
//! Condition: nine tenths or more of the quota are used, or eight tenths where the group is throttled in most periods. It is
//! observed where requests use it. Requests may also wait for a group that is full at any load.

use crate::findings::{Advice, Claim, Limit, Observation};
use crate::hosts::demand::Law;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::cpu::{is_busy, kept};

/// Groups at a quota that is lower than what their host has.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let groups = ctx.of_kind(ResourceKind::Quota).filter(|group| is_busy(ctx, group));
    groups.map(|group| candidate(ctx, group)).collect()
}

/// True if it is full at any load and no process of the target waits for it.
fn is_polled(ctx: &RuleContext<'_>, group: &Resource) -> bool {
    let broken = group.demand.is_some_and(|demand| demand.law == Law::Broken);
    broken && kept(ctx, &group.host).is_none_or(|kept| kept < bounds::FELT)
}

fn candidate(ctx: &RuleContext<'_>, group: &Resource) -> Candidate {
    let throttled = ctx.throttled(group);
    let share = ctx.share(group).unwrap_or_default();
    let mut evidence = vec![ctx.share_row(Observation::Quota(group.place()), share)];
    evidence.extend(throttled.map(|part| ctx.share_row(Observation::Throttled(group.place()), part)));
    evidence.extend(ctx.cpu_row(&group.host));
    let basis = Basis::observed(ctx.is_used_by_requests(group));
    Candidate {
        share: Some(share),
        at_per_sec: group.demand.and_then(|demand| demand.at_per_sec),
        basis: if is_polled(ctx, group) { Basis::Polled } else { basis },
        evidence,
        advice: vec![Advice::MoreQuota {
            cores: 1.5 * group.capacity.unwrap_or_default(),
            connections: ctx.connections(),
        }],
        ..Candidate::new(Limit::Quota, group.place(), Claim::Quota { used: ctx.used(group), throttled })
    }
}
