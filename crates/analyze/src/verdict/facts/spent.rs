//! How much of each resource was used, the busiest first.

use crate::findings::{Limit, Place};
use crate::hosts::resource::{Resource, ResourceKind, ResourceUse};
use crate::verdict::context::RuleContext;

/// A limit of a host.
pub(in crate::verdict) type Named<'n> = (Limit, &'n str);

impl<'a> RuleContext<'a> {
    /// Resources that the load spends, by the share of them that was used at the deciding step.
    pub(in crate::verdict) fn spent_by_share(&self) -> Vec<(&'a Resource, f64)> {
        let spent = |resource: &&Resource| resource.kind.is_spent() && resource.kind != ResourceKind::Core;
        let ours = self.of_target().filter(spent);
        let mut shares: Vec<_> =
            ours.filter_map(|resource| Some((resource, self.share(resource)?))).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// The resource that was used most, but for those named. A host's processors, threads and quotas are one thing.
    pub(in crate::verdict) fn busiest_but(&self, named: &[Named<'_>]) -> Option<ResourceUse> {
        let is_same = |a: Limit, b: Limit| a == b || runs_code(a) && runs_code(b);
        let is_other = |(resource, _): &(&Resource, f64)| {
            !named
                .iter()
                .any(|(limit, host)| is_same(*limit, resource.kind.limit()) && *host == resource.host)
        };
        let (resource, share) = self.spent_by_share().into_iter().find(is_other)?;
        Some(self.use_of(resource, share))
    }

    /// The tier that the load reaches first, or the target by its authority.
    pub(in crate::verdict) fn front_place(&self) -> Place {
        let front = self.flow.front().first().map(|tier| self.flow.tiers[*tier].place());
        front.unwrap_or_else(|| self.case.target())
    }
}

/// True for processors, threads and quotas.
pub(in crate::verdict) fn runs_code(limit: Limit) -> bool {
    matches!(limit, Limit::Cpu | Limit::Thread | Limit::Quota)
}
