//! What recorded runs tell of their tiers.

use std::collections::{BTreeMap, BTreeSet};

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, Stop};
use super::observed::{Observed, ObservedTier};
use super::scaling::Scaling;
use super::terms::{DemandUnit, Origin, TierResource};
use crate::capacity::tiers::{TierRow, best_step, scalings, tier_rows};
use crate::hosts::tracks::GENERATOR;
use crate::{Demand, Estimate, Findings, Law, Limit, Resource, ResourceKind, StepSummary};

/// A run with what it is called.
type Named<'a> = (&'a str, &'a Findings);

/// A run by its name, and what of a tier is used by something else in it.
type OtherUse<'a> = (&'a str, BTreeSet<TierResource>);

/// What runs tell: each with its name, those of the same requests together. Hosts of one tier are taken together; a host
/// without a tier is one by itself.
pub fn observe_runs(groups: &[Vec<Named<'_>>]) -> Observed {
    let runs: Vec<Named<'_>> = groups.iter().flatten().copied().collect();
    let rows: Vec<Vec<TierRow>> = groups.iter().map(|group| tier_rows(group)).collect();
    let mut observed = Observed::default();
    let mut other_uses: BTreeMap<String, Vec<OtherUse<'_>>> = BTreeMap::new();
    for (name, findings) in &runs {
        let Some((position, step)) = best_step(findings) else {
            observed.remarks.push(Remark::NoAnswers((*name).to_owned()));
            continue;
        };
        let throughput_per_sec = step.throughput.value;
        for (tier, hosts) in tiers(findings) {
            let known = observed.tier(&tier);
            known.carries(throughput_per_sec, hosts.len() as f64, name);
            known.demands.extend(demands(name, findings, &hosts, position));
            other_uses.entry(tier.clone()).or_default().push((name, used_otherwise(findings, &hosts)));
            if hosts.iter().any(|host| *host == findings.verdict.host()) {
                judge(known, name, findings, throughput_per_sec);
                known.demands.extend(pool(name, findings, step, hosts.len()));
            }
        }
        observed.remarks.extend(remark(name, findings));
    }
    for tier in &mut observed.tiers {
        tier.demands = TierDemand::dearest(std::mem::take(&mut tier.demands));
        tier.scaling = scaling(&rows, &tier.name);
        tier.doubts.extend(other_uses.remove(&tier.name).and_then(|uses| other_use_doubt(&uses)));
        if tier.demands.is_empty() {
            tier.doubts.push(Doubt::NothingObserved);
        }
    }
    observed.growth = growth(&runs);
    observed
}

/// How a tier scaled where it was the limit, in runs of the same requests that differ in its machines alone; of several such
/// the one with the most counts.
fn scaling(groups: &[Vec<TierRow>], tier: &str) -> Option<Scaling> {
    let limited_by_it = |group: &Vec<TierRow>| {
        let rows = group.iter().filter(|row| row.limiting_tier == tier).cloned();
        scalings(&rows.collect::<Vec<_>>())
    };
    let of_it = groups.iter().flat_map(limited_by_it).filter(|scaling| scaling.tier == tier);
    let longest = of_it.max_by_key(|scaling| scaling.points.len())?;
    Scaling::fit(
        longest.points.iter().map(|(machines, most, _)| (f64::from(*machines), most.value)).collect(),
    )
}

fn remark(name: &str, findings: &Findings) -> Option<Remark> {
    let name = name.to_owned();
    match findings.verdict.limit {
        Limit::Generator => Some(Remark::GeneratorLimit(name)),
        _ if findings.lower_bound => Some(Remark::LowerBound(name)),
        Limit::None => Some(Remark::NotPushed(name)),
        _ => None,
    }
}

/// The tiers of a run with their hosts, those of the plan in its order.
fn tiers(findings: &Findings) -> Vec<(String, Vec<&str>)> {
    let named = |host: &str| findings.plan.hosts.iter().find(|known| known.name == host);
    let seen = findings.resources.iter().map(|resource| resource.host.as_str());
    let planned = findings.plan.hosts.iter().map(|host| host.name.as_str());
    let mut tiers: Vec<(String, Vec<&str>)> = Vec::new();
    for host in planned.chain(seen).filter(|host| *host != GENERATOR) {
        let tier = named(host).and_then(|known| known.tier.as_deref()).unwrap_or(host);
        match tiers.iter_mut().find(|(name, _)| name == tier) {
            Some((_, hosts)) if hosts.contains(&host) => {}
            Some((_, hosts)) => hosts.push(host),
            None => tiers.push((tier.to_owned(), vec![host])),
        }
    }
    tiers
}

/// What a resource is called here, and its unit. One core by itself says nothing of a machine: the kernel moves work about.
fn kind_of(kind: ResourceKind) -> Option<(TierResource, DemandUnit)> {
    match kind {
        ResourceKind::Cpu => Some((TierResource::Cpu, DemandUnit::Cores)),
        ResourceKind::Thread => Some((TierResource::Thread, DemandUnit::Cores)),
        ResourceKind::Quota => Some((TierResource::Quota, DemandUnit::Cores)),
        ResourceKind::BandwidthIn => Some((TierResource::BandwidthIn, DemandUnit::Bits)),
        ResourceKind::BandwidthOut => Some((TierResource::BandwidthOut, DemandUnit::Bits)),
        ResourceKind::PacketsIn => Some((TierResource::PacketsIn, DemandUnit::Packets)),
        ResourceKind::PacketsOut => Some((TierResource::PacketsOut, DemandUnit::Packets)),
        _ => None,
    }
}

/// The resources of one host that count, each kind once: of several threads or interfaces the one that was used most.
fn of_host<'a>(findings: &'a Findings, host: &str, position: usize) -> Vec<(&'a Resource, Demand)> {
    let mut kept: Vec<(&Resource, Demand)> = Vec::new();
    let of_host = findings.resources.iter().filter(|resource| resource.host == host);
    for resource in of_host.filter(|resource| kind_of(resource.kind).is_some() && resource.detail != "lo") {
        let Some(demand) = resource.demand.filter(|demand| demand.law != Law::Broken) else { continue };
        let used = |resource: &Resource| resource.used.get(position).copied().flatten().unwrap_or(0.0);
        match kept.iter_mut().find(|(other, _)| other.kind == resource.kind) {
            Some(other) if used(resource) > used(other.0) => *other = (resource, demand),
            Some(_) => {}
            None => kept.push((resource, demand)),
        }
    }
    kept
}

/// What a request uses of a tier: the sum over its hosts, kind by kind. The ends of the intervals are added up, which makes
/// the sum's too wide rather than too narrow.
fn demands(name: &str, findings: &Findings, hosts: &[&str], position: usize) -> Vec<TierDemand> {
    let mut sums: Vec<TierDemand> = Vec::new();
    for (resource, demand) in hosts.iter().flat_map(|host| of_host(findings, host, position)) {
        let Some((kind, unit)) = kind_of(resource.kind) else { continue };
        let steps = 0..resource.used.len();
        let used_most = steps.filter_map(|step| resource.utilisation(step)).fold(0.0, f64::max);
        match sums.iter_mut().find(|sum| sum.resource == kind) {
            Some(sum) => {
                sum.per_request = added(sum.per_request, demand.per_request);
                sum.idle = sum.idle.max(demand.idle);
                sum.used_most = sum.used_most.max(used_most);
                sum.capacity = sum.capacity.zip(resource.capacity).map(|(a, b)| a.min(b));
            }
            None => sums.push(TierDemand {
                resource: kind,
                detail: resource.detail.clone(),
                unit,
                per_request: demand.per_request,
                idle: demand.idle,
                capacity: resource.capacity,
                used_most,
                origin: Origin::Run(name.to_owned()),
            }),
        }
    }
    sums
}

/// Resources of a tier that something else than the requests uses.
fn used_otherwise(findings: &Findings, hosts: &[&str]) -> BTreeSet<TierResource> {
    let broken = |resource: &&Resource| resource.demand.is_some_and(|demand| demand.law == Law::Broken);
    let own = findings.resources.iter().filter(|resource| hosts.contains(&resource.host.as_str()));
    let not_loopback = own.filter(|resource| resource.detail != "lo");
    not_loopback.filter(broken).filter_map(|resource| Some(kind_of(resource.kind)?.0)).collect()
}

/// One doubt for all runs of a tier: of many runs one each would hide what the other doubts say.
fn other_use_doubt(uses: &[OtherUse<'_>]) -> Option<Doubt> {
    let affected: Vec<&OtherUse<'_>> = uses.iter().filter(|(_, used)| !used.is_empty()).collect();
    if let [(run, used)] = affected.as_slice() {
        let resources = used.iter().copied().collect();
        return Some(Doubt::UsedOtherwise { run: (*run).to_owned(), resources });
    }
    let mut runs_by_resource: BTreeMap<TierResource, usize> = BTreeMap::new();
    for used in affected.iter().flat_map(|(_, used)| used) {
        *runs_by_resource.entry(*used).or_default() += 1;
    }
    let resources: Vec<_> = runs_by_resource.into_iter().collect();
    let (some, all) = (affected.len(), uses.len());
    (!resources.is_empty()).then_some(Doubt::UsedOtherwiseOften { some, all, resources })
}

fn added(a: Estimate, b: Estimate) -> Estimate {
    let interval = a.interval.zip(b.interval).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    Estimate { value: a.value + b.value, interval }
}

/// The pool that the verdict found: K workers on each host held for K·hosts/X of a request.
fn pool(name: &str, findings: &Findings, step: &StepSummary, hosts: usize) -> Option<TierDemand> {
    let size = findings.verdict.size.filter(|_| findings.verdict.limit == Limit::Pool)?;
    let held = |throughput_per_sec: f64| size.value * hosts as f64 / throughput_per_sec;
    Some(TierDemand {
        resource: TierResource::Pool,
        detail: String::new(),
        unit: DemandUnit::Workers,
        per_request: Estimate {
            value: held(step.throughput.value),
            interval: step
                .throughput
                .interval
                .filter(|(low, _)| *low > 0.0)
                .map(|(low, high)| (held(high), held(low))),
        },
        idle: 0.0,
        capacity: Some(size.value),
        used_most: 1.0,
        origin: Origin::Run(name.to_owned()),
    })
}

/// A tier that is stopped by something else than what is planned by needs that fixed, not machines.
fn judge(tier: &mut ObservedTier, name: &str, findings: &Findings, throughput_per_sec: f64) {
    let verdict = &findings.verdict;
    let planned = matches!(
        verdict.limit,
        Limit::Cpu | Limit::Thread | Limit::Quota | Limit::Bandwidth | Limit::Packets | Limit::Pool
    );
    if planned || matches!(verdict.limit, Limit::Generator | Limit::None) {
        return;
    }
    tier.stopped_otherwise = true;
    tier.doubts.push(Doubt::StoppedBy {
        run: name.to_owned(),
        per_sec: throughput_per_sec,
        limit: verdict.limit,
        place: verdict.place.clone(),
    });
}

/// Machines that were busy at the best step of a run.
fn busy(findings: &Findings) -> f64 {
    let Some((position, _)) = best_step(findings) else { return 0.0 };
    let most = |host: &str| {
        let shares = of_host(findings, host, position);
        shares.iter().filter_map(|(resource, _)| resource.utilisation(position)).fold(0.0, f64::max)
    };
    tiers(findings).iter().flat_map(|(_, hosts)| hosts).map(|host| most(host)).sum()
}

/// Growth starts from the run in which most machines were busy, as in a table.
fn growth(runs: &[Named<'_>]) -> Option<Growth> {
    let (name, findings) = runs.iter().max_by(|a, b| busy(a.1).total_cmp(&busy(b.1)))?;
    let (position, step) = best_step(findings)?;
    let mut stops = Vec::new();
    for (tier, hosts) in tiers(findings) {
        for (resource, demand) in hosts.iter().flat_map(|host| of_host(findings, host, position)) {
            stops.extend(stop(&tier, hosts.len(), (resource, demand), position));
        }
        if hosts.contains(&findings.verdict.host()) {
            stops.extend(pool_stop(&tier, findings, step, hosts.len()));
        }
    }
    Growth::new(step.throughput.value, name, stops)
}

fn stop(
    tier: &str,
    machines: usize,
    (resource, demand): (&Resource, Demand),
    position: usize,
) -> Option<Stop> {
    let (kind, unit) = kind_of(resource.kind)?;
    let detail = if resource.detail.is_empty() { String::new() } else { resource.place().to_string() };
    Some(Stop {
        tier: tier.to_owned(),
        resource: kind,
        detail,
        machines: machines as f64,
        unit,
        used: resource.used.get(position).copied().flatten()?,
        capacity: resource.capacity?,
        per_request: demand.per_request,
        seen: true,
        scaled: None,
    })
}

fn pool_stop(tier: &str, findings: &Findings, step: &StepSummary, hosts: usize) -> Option<Stop> {
    let demand = pool("", findings, step, hosts)?;
    let capacity = demand.capacity?;
    Some(Stop {
        tier: tier.to_owned(),
        resource: TierResource::Pool,
        detail: String::new(),
        machines: hosts as f64,
        unit: DemandUnit::Workers,
        used: capacity,
        capacity,
        per_request: demand.per_request,
        seen: true,
        scaled: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_something_else_uses_is_one_doubt_however_many_runs_there_are() {
        let doubt = |uses: &[(&'static str, &[TierResource])]| {
            let uses: Vec<OtherUse<'_>> =
                uses.iter().map(|(run, used)| (*run, used.iter().copied().collect())).collect();
            other_use_doubt(&uses)
        };
        let (cpu, link) = (TierResource::Cpu, TierResource::BandwidthIn);
        assert_eq!(doubt(&[("idle", &[])]), None);
        let resources = vec![cpu, link];
        let one = Doubt::UsedOtherwise { run: "night".to_owned(), resources };
        assert_eq!(doubt(&[("night", &[cpu, link]), ("idle", &[])]), Some(one));
        let often = Doubt::UsedOtherwiseOften { some: 2, all: 3, resources: vec![(cpu, 2), (link, 1)] };
        assert_eq!(doubt(&[("night", &[cpu, link]), ("idle", &[]), ("day", &[cpu])]), Some(often));
    }
}
