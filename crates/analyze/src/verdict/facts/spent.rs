//! How much of each resource was used, busiest first.

use crate::findings::{Excluded, Limit, Place};
use crate::hosts::resource::{Resource, ResourceKind, ResourceUse};
use crate::hosts::utilisation::{BUSY, FREE};
use crate::verdict::context::RuleContext;
use crate::verdict::facts::cpu::is_no_limit;

/// A limit and the name of its host.
pub(crate) type Named<'n> = (Limit, &'n str);

impl<'a> RuleContext<'a> {
    /// The resources that requests spend and that can be the limit. A CPU that others fill and that the target does not wait for cannot.
    pub(crate) fn limiting(&self) -> impl Iterator<Item = &'a Resource> {
        let ctx = *self;
        self.of_target().filter(move |resource| {
            resource.kind.is_spent() && !(resource.kind == ResourceKind::Cpu && is_no_limit(&ctx, resource))
        })
    }

    /// Resources that cannot be ruled out: between free and busy, or free on average but throttled in most periods.
    pub(crate) fn nearly_full(&self) -> Vec<&'a Resource> {
        let near = |resource: &&Resource| {
            let share = self.share(resource);
            share.is_some_and(|share| share < BUSY && (share >= FREE || self.is_throttled(resource)))
        };
        self.limiting().filter(near).collect()
    }

    /// Resources that the load spends. A single core is left out, because the kernel moves work between cores.
    pub(crate) fn spent(&self) -> impl Iterator<Item = &'a Resource> {
        self.limiting().filter(|resource| resource.kind != ResourceKind::Core)
    }

    /// Resources that the load spends with the share of each that was used, highest share first.
    pub(crate) fn spent_by_share(&self) -> Vec<(&'a Resource, f64)> {
        let share = |resource| Some((resource, self.share(resource)?));
        let mut shares: Vec<_> = self.spent().filter_map(share).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// The most used resource that is not named. A host's processors, threads and quotas count as one.
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

    /// For each host its most used resource that is not named, or the fact that its CPU was not observed; and the generator.
    /// Empty where no host is watched.
    pub(crate) fn excluded(&self, named: &[Named<'_>]) -> Vec<Excluded> {
        let shares = self.spent_by_share();
        let is_named = |resource: &Resource| named.contains(&(resource.kind.limit(), &resource.host));
        // The quota of a container may be known where the processors of its machine are not.
        let is_code_named = |host: &str| named.iter().any(|(limit, own)| runs_code(*limit) && *own == host);
        let of_host = |host: &str| {
            let mut own = shares.iter().filter(|(resource, _)| resource.host == host);
            let cpu = self.cpu(host).filter(|cpu| is_no_limit(self, cpu));
            match own.find(|(resource, _)| !is_named(resource)) {
                _ if cpu.is_some() => cpu.map(|cpu| self.used_by_others(cpu)),
                Some((resource, _)) => Some(Excluded::MostUsed(self.use_of(resource))),
                None if self.cpu_share(host).is_none() && !is_code_named(host) => {
                    Some(Excluded::Unobserved { host: host.to_owned(), why: self.obs.failure(host) })
                }
                None => None,
            }
        };
        let generator = self.obs.run.filter(|_| !self.hosts().is_empty() || !named.is_empty());
        let generator = generator.map(|run| Excluded::Generator(run.generator.busiest_worker_ratio));
        self.hosts().into_iter().filter_map(of_host).chain(generator).collect()
    }

    fn used_by_others(&self, cpu: &Resource) -> Excluded {
        let by_others = cpu.used_by_others(self.load).unwrap_or_default();
        Excluded::UsedByOthers { used: self.use_of(cpu), by_others }
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
