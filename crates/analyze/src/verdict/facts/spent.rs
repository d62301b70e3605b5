//! How much of each resource was used, the busiest first.

use crate::findings::{Excluded, Limit, Place};
use crate::hosts::resource::{Resource, ResourceKind, ResourceUse};
use crate::verdict::context::RuleContext;

/// A limit of a host.
pub(crate) type Named<'n> = (Limit, &'n str);

impl<'a> RuleContext<'a> {
    /// Resources that the load spends. One core by itself says nothing: the kernel moves work about.
    pub(crate) fn spent(&self) -> impl Iterator<Item = &'a Resource> {
        let spent = |resource: &&Resource| resource.kind.is_spent() && resource.kind != ResourceKind::Core;
        self.of_target().filter(spent)
    }

    /// Resources that the load spends, by the share of them that was used.
    pub(crate) fn spent_by_share(&self) -> Vec<(&'a Resource, f64)> {
        let share = |resource| Some((resource, self.share(resource)?));
        let mut shares: Vec<_> = self.spent().filter_map(share).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// The resource that was used most, but for those named. A host's processors, threads and quotas are one thing.
    pub(crate) fn busiest_but(&self, named: &[Named<'_>]) -> Option<ResourceUse> {
        let is_same = |a: Limit, b: Limit| a == b || runs_code(a) && runs_code(b);
        let is_other = |(resource, _): &(&Resource, f64)| {
            !named
                .iter()
                .any(|(limit, host)| is_same(*limit, resource.kind.limit()) && *host == resource.host)
        };
        let (resource, _) = self.spent_by_share().into_iter().find(is_other)?;
        Some(self.use_of(resource))
    }

    /// For each host its busiest resource that is not named, or that its CPU was not observed; and the generator. Nothing where no
    /// host is watched.
    pub(crate) fn excluded(&self, named: &[Named<'_>]) -> Vec<Excluded> {
        let shares = self.spent_by_share();
        let is_named = |resource: &Resource| named.contains(&(resource.kind.limit(), &resource.host));
        let of_host = |host: &str| {
            let mut own = shares.iter().filter(|(resource, _)| resource.host == host);
            match own.find(|(resource, _)| !is_named(resource)) {
                Some((resource, _)) => Some(Excluded::MostUsed(self.use_of(resource))),
                None if self.cpu_share(host).is_none() => {
                    Some(Excluded::Unobserved { host: host.to_owned(), why: self.obs.failure(host) })
                }
                None => None,
            }
        };
        let generator = self.obs.run.filter(|_| !self.hosts().is_empty() || !named.is_empty());
        let generator = generator.map(|run| Excluded::Generator(run.generator.busiest_worker_ratio));
        self.hosts().into_iter().filter_map(of_host).chain(generator).collect()
    }

    /// True if the CPU of a host was not observed, so that it may be the limit.
    pub(crate) fn is_a_cpu_unknown(&self) -> bool {
        self.hosts().into_iter().any(|host| self.cpu_share(host).is_none())
    }

    /// The tier that the load reaches first, or the target by its authority.
    pub(crate) fn front_place(&self) -> Place {
        let front = self.obs.flow.front().first().map(|tier| self.obs.flow.tiers[*tier].place());
        front.unwrap_or_else(|| self.target())
    }
}

/// True for processors, threads and quotas.
pub(crate) fn runs_code(limit: Limit) -> bool {
    matches!(limit, Limit::Cpu | Limit::Thread | Limit::Quota)
}
