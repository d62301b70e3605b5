//! What was observed and is not the limit.

use plimsoll_record::Source;

use super::context::RuleContext;
use super::facts::spent::Named;
use crate::findings::Excluded;

/// What was observed where no limit was found; nothing where no host is watched.
pub(super) fn all_excluded(ctx: &RuleContext<'_>) -> Vec<Excluded> {
    if ctx.hosts().is_empty() { Vec::new() } else { excluded(ctx, &[]) }
}

/// For each host its busiest resource that is not named, or that its CPU was not observed; and the generator.
pub(super) fn excluded(ctx: &RuleContext<'_>, named: &[Named<'_>]) -> Vec<Excluded> {
    let shares = ctx.spent_by_share();
    let of_host = |host: &str| {
        let mut others = shares
            .iter()
            .filter(|(resource, _)| resource.host == host && !named.contains(&(resource.kind.limit(), host)));
        match others.next() {
            Some((resource, share)) => Some(Excluded::MostUsed(ctx.use_of(resource, *share))),
            None if ctx.cpu_share(host).is_none() => Some(not_observed(ctx, host)),
            None => None,
        }
    };
    let generator = Excluded::Generator(ctx.case.generator.busiest_worker_ratio);
    ctx.hosts().into_iter().filter_map(of_host).chain([generator]).collect()
}

fn not_observed(ctx: &RuleContext<'_>, host: &str) -> Excluded {
    let failure = |source| ctx.samples.hosts.failure(host, source);
    let why = failure(Source::Cpu).or_else(|| failure(Source::Cgroup)).map(ToOwned::to_owned);
    Excluded::Unobserved { host: host.to_owned(), why }
}

/// Hosts whose CPU was not observed, and which therefore may be the limit.
pub(super) fn unobserved<'a>(ctx: &RuleContext<'a>) -> Vec<&'a str> {
    ctx.hosts().into_iter().filter(|host| ctx.cpu_share(host).is_none()).collect()
}
