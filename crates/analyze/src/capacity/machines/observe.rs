//! What was observed of tiers: the best step of each run, or each row of a table.

use std::collections::{BTreeMap, BTreeSet};

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, Stop};
use super::observed::{Observed, ObservedTier};
use super::scaling::Scaling;
use super::terms::{DemandUnit, Origin, TierResource};
use crate::capacity::tiers::hosts_by_tier;
use crate::findings::{Claim, RowClaim};
use crate::groups::grouped;
use crate::observations::Observations;
use crate::table::together_per_sec;
use crate::{
    Demand, Estimate, Findings, Law, Limit, Part, Place, Resource, ResourceKind, TableFindings, TableRow,
    Verdict,
};

/// Rows whose costs of a request differ by this factor or more were not of the same thing.
const MIN_SPREAD: f64 = 1.5;

/// One load of the tiers, with what limits it.
struct TierLoad<'a> {
    label: &'a str,
    verdict: &'a Verdict,
    obs: Observations<'a>,
    /// The load of `obs` that it is.
    load: usize,
    tiers: Vec<LoadedTier<'a>>,
}

/// A tier that takes part in a load.
struct LoadedTier<'a> {
    name: &'a str,
    hosts: Vec<&'a str>,
    /// `None` where a table does not say; figures are then those of one.
    machines: Option<f64>,
}

/// A load by its name, and what of a tier is used by something else in it.
type OtherUse<'a> = (&'a str, BTreeSet<TierResource>);

/// What runs tell: each with its name, those of the same requests together. Hosts of one tier are taken together; a host
/// without a tier is one by itself.
pub fn observe_runs(groups: &[Vec<(&str, &Findings)>]) -> Observed {
    let kinds: Vec<Vec<TierLoad<'_>>> = groups
        .iter()
        .map(|group| group.iter().filter_map(|run| TierLoad::from_run(run.0, run.1)).collect())
        .collect();
    let mut observed = observe(Observed::default(), &kinds);
    observed.remarks =
        groups.iter().flatten().filter_map(|(name, findings)| remark(name, findings)).collect();
    observed
}

/// What the rows of a table tell, and what `explain_table` found in them.
pub fn observe_table(rows: &[TableRow], found: &TableFindings) -> Observed {
    let pairs = rows.iter().zip(&found.rows).filter(|(_, finding)| finding.breach.is_none());
    let (lawful, verdicts): (Vec<&TableRow>, Vec<&Verdict>) =
        pairs.map(|(row, finding)| (row, &finding.verdict)).unzip();
    let loads = verdicts.into_iter().enumerate();
    let loads = loads.map(|(index, verdict)| TierLoad::from_row(&lawful, index, verdict));
    let kinds = grouped(loads, |a, b| lawful[a.load].is_of_same_requests(lawful[b.load]));
    let mut observed = Observed::default();
    let takes_part = |name: &str| lawful.iter().any(|row| row.tier(name).is_some());
    for tier in rows.iter().take(1).flat_map(|row| &row.tiers).filter(|tier| takes_part(&tier.name)) {
        observed.tier(&tier.name);
    }
    let mut observed = observe(observed, &kinds);
    let unlawful = rows.len() - lawful.len();
    observed.remarks.extend((unlawful > 0).then_some(Remark::Unlawful(unlawful, rows.len())));
    observed.remarks.extend((kinds.len() > 1).then_some(Remark::Kinds(kinds.len())));
    observed
}

fn remark(name: &str, findings: &Findings) -> Option<Remark> {
    let name = name.to_owned();
    match findings.verdict.limit {
        _ if findings.best_answered_step().is_none() => Some(Remark::NoAnswers(name)),
        Limit::Generator => Some(Remark::GeneratorLimit(name)),
        _ if findings.lower_bound => Some(Remark::LowerBound(name)),
        Limit::None => Some(Remark::NotPushed(name)),
        _ => None,
    }
}

/// What loads tell, those of the same requests together.
fn observe(mut observed: Observed, kinds: &[Vec<TierLoad<'_>>]) -> Observed {
    let mut other_uses: BTreeMap<&str, Vec<OtherUse<'_>>> = BTreeMap::new();
    for load in kinds.iter().flatten() {
        for tier in &load.tiers {
            let known = observed.tier(tier.name);
            if tier.machines.is_some() || load.resources(tier).next().is_some() {
                known.carries(load.per_sec().value, tier.count(), load.label);
            }
            known.demands.extend(load.demands(tier));
            known.demands.extend(load.own_capacity(tier));
            load.judge(tier, known);
            other_uses.entry(tier.name).or_default().push((load.label, load.used_otherwise(tier)));
        }
        load.add_front(&mut observed);
    }
    for tier in &mut observed.tiers {
        tier.demands = TierDemand::dearest(std::mem::take(&mut tier.demands));
        let scalings = kinds.iter().filter_map(|kind| scaling(kind, &tier.name));
        tier.scaling = scalings.max_by_key(|scaling| scaling.points.len());
        tier.doubts.extend(differing(kinds, tier));
        tier.doubts.extend(other_uses.get(tier.name.as_str()).and_then(|uses| other_use_doubt(uses)));
        tier.doubts.extend(unseen(kinds, tier));
    }
    observed.growth = growth(kinds, &observed);
    observed
}

/// What a resource is called here, and its unit. One core by itself says nothing of a machine: the kernel moves work about.
fn kind_of(resource: &Resource) -> Option<(TierResource, DemandUnit)> {
    match resource.kind {
        ResourceKind::Cpu => Some((TierResource::Cpu, DemandUnit::Cores)),
        ResourceKind::Machine => Some((TierResource::Cpu, DemandUnit::MachineShare)),
        ResourceKind::Thread if resource.part == Part::Whole => {
            Some((TierResource::OneCore, DemandUnit::Cores))
        }
        ResourceKind::Thread => Some((TierResource::Thread, DemandUnit::Cores)),
        ResourceKind::Quota => Some((TierResource::Quota, DemandUnit::Cores)),
        ResourceKind::BandwidthIn => Some((TierResource::BandwidthIn, DemandUnit::Bits)),
        ResourceKind::BandwidthOut => Some((TierResource::BandwidthOut, DemandUnit::Bits)),
        ResourceKind::BandwidthBoth => Some((TierResource::BandwidthBoth, DemandUnit::Bits)),
        ResourceKind::PacketsIn => Some((TierResource::PacketsIn, DemandUnit::Packets)),
        ResourceKind::PacketsOut => Some((TierResource::PacketsOut, DemandUnit::Packets)),
        _ => None,
    }
}

impl LoadedTier<'_> {
    fn count(&self) -> f64 {
        self.machines.unwrap_or(1.0)
    }

    /// Machines for which each of its hosts stands: a host of a run for itself, a tier of a table for all of them.
    fn machines_of_host(&self) -> f64 {
        self.count() / self.hosts.len() as f64
    }
}

impl<'a> TierLoad<'a> {
    /// The step of the highest throughput; `None` if nothing was answered.
    fn from_run(name: &'a str, findings: &'a Findings) -> Option<Self> {
        let (load, _) = findings.best_answered_step()?;
        let tier = |(name, hosts): (&'a str, Vec<&'a str>)| {
            let machines = Some(hosts.len() as f64);
            LoadedTier { name, hosts, machines }
        };
        let tiers = hosts_by_tier(findings).into_iter().map(tier).collect();
        let obs = Observations::from_findings(findings);
        Some(Self { label: name, verdict: &findings.verdict, obs, load, tiers })
    }

    fn from_row(rows: &'a [&'a TableRow], load: usize, verdict: &'a Verdict) -> Self {
        let row = rows[load];
        let tiers = row.present().map(|tier| LoadedTier {
            name: &tier.name,
            hosts: vec![&tier.name],
            machines: tier.instances,
        });
        let tiers = tiers.collect();
        Self { label: &row.label, verdict, obs: Observations::from_table(rows, load), load, tiers }
    }

    fn row(&self) -> Option<&'a TableRow> {
        self.obs.rows.get(self.load).copied()
    }

    fn is_row(&self) -> bool {
        self.row().is_some()
    }

    fn per_sec(&self) -> Estimate {
        self.obs.loads[self.load].throughput
    }

    fn used(&self, resource: &Resource) -> Option<f64> {
        resource.used.get(self.load).copied().flatten()
    }

    fn limits(&self, tier: &LoadedTier<'_>) -> bool {
        tier.hosts.contains(&self.verdict.host())
    }

    /// What of a tier counts: no core by itself, and no loopback.
    fn resources(&self, tier: &LoadedTier<'_>) -> impl Iterator<Item = &Resource> {
        let own = self.obs.resources.iter().filter(|resource| tier.hosts.contains(&resource.host.as_str()));
        own.filter(|resource| kind_of(resource).is_some() && !resource.is_loopback())
    }

    /// Those that requests use, each kind of a host once: of several threads or interfaces the one that was used most.
    fn spent(&self, tier: &LoadedTier<'_>) -> Vec<(&Resource, Demand)> {
        let demand = |resource: &'_ Resource| resource.demand.filter(|demand| demand.law != Law::Broken);
        let spent = self.resources(tier).filter_map(|resource| Some((resource, demand(resource)?)));
        let alike = grouped(spent, |(a, _), (b, _)| (a.kind, &a.host) == (b.kind, &b.host));
        let used = |(resource, _): &(&Resource, Demand)| self.used(resource).unwrap_or(0.0);
        // The first of those that were used as much.
        let most = |all: Vec<_>| all.into_iter().rev().max_by(|a, b| used(a).total_cmp(&used(b)));
        alike.into_iter().filter_map(most).collect()
    }

    /// What a request uses of a tier: the sum over its machines, kind by kind. The ends of the intervals are added up,
    /// which makes the sum's too wide rather than too narrow.
    fn demands(&self, tier: &LoadedTier<'_>) -> Vec<TierDemand> {
        let one = |(resource, demand): (&Resource, Demand)| {
            let (kind, unit) = kind_of(resource)?;
            let shares = (0..resource.used.len()).filter_map(|load| resource.utilisation(load));
            Some(TierDemand {
                resource: kind,
                part: resource.part.clone(),
                unit,
                per_request: demand.per_request.times(tier.machines_of_host()),
                idle: demand.idle,
                capacity: resource.capacity,
                used_most: shares.fold(0.0, f64::max),
                origin: self.origin(resource),
            })
        };
        let sum = |a: TierDemand, b: TierDemand| TierDemand {
            per_request: added(a.per_request, b.per_request),
            idle: a.idle.max(b.idle),
            capacity: a.capacity.zip(b.capacity).map(|(a, b)| a.min(b)),
            used_most: a.used_most.max(b.used_most),
            ..a
        };
        let kinds = grouped(self.spent(tier).into_iter().filter_map(one), |a, b| a.resource == b.resource);
        kinds.into_iter().filter_map(|demands| demands.into_iter().reduce(sum)).collect()
    }

    fn origin(&self, resource: &Resource) -> Origin {
        let Some(row) = self.row() else { return Origin::Run(self.label.to_owned()) };
        let rows = self.obs.rows.iter().zip(&resource.used);
        let count = rows.filter(|(other, used)| used.is_some() && other.is_of_same_requests(row)).count();
        Origin::Rows { count, group: row.group.clone() }
    }

    /// A tier by what it was seen to carry, whatever of it is used up then.
    fn carried(&self, resource: TierResource, capacity: f64, per_request: Estimate) -> TierDemand {
        let rows = |row: &TableRow| Origin::Rows { count: 1, group: row.group.clone() };
        TierDemand {
            resource,
            part: Part::Whole,
            unit: if resource == TierResource::Pool { DemandUnit::Workers } else { DemandUnit::MachineShare },
            per_request,
            idle: 0.0,
            capacity: Some(capacity),
            used_most: 1.0,
            origin: self.row().map_or_else(|| Origin::Run(self.label.to_owned()), rows),
        }
    }

    /// The pool that the verdict found: K workers on each of m machines are held for m·K/X of a request. And what a tier
    /// carries alone; tiers that were measured alone in the same row share its requests.
    fn own_capacity(&self, tier: &LoadedTier<'_>) -> Option<TierDemand> {
        let pool = self.verdict.size.filter(|_| self.verdict.limit == Limit::Pool);
        let (resource, workers) =
            pool.map_or((TierResource::Alone, 1.0), |size| (TierResource::Pool, size.value));
        let held = |per_sec: f64| workers * tier.count() / per_sec;
        let is_alone = |row: &&TableRow| row.tier(tier.name).is_some_and(|tier| tier.alone_per_sec.is_some());
        if let Some(together) = self.row().filter(is_alone).map(together_per_sec) {
            let per_request = Estimate::exact(held(together));
            let used_most = self.per_sec().value.min(together) / together;
            return Some(TierDemand { used_most, ..self.carried(resource, workers, per_request) });
        }
        pool.filter(|_| self.limits(tier)).map(|_| {
            let Estimate { value, interval } = self.per_sec();
            let interval = interval.filter(|(low, _)| *low > 0.0).map(|(low, high)| (held(high), held(low)));
            self.carried(resource, workers, Estimate { value: held(value), interval })
        })
    }

    /// A tier in front that a table has no figure of, by the row that it was found to stop.
    fn add_front(&self, observed: &mut Observed) {
        let (host, per_sec) = (self.verdict.host(), self.per_sec().value);
        let is_front = matches!(self.verdict.claim, Some(Claim::Row(RowClaim::Front { .. })));
        if is_front && self.tiers.iter().all(|tier| tier.name != host) {
            let tier = observed.tier(host);
            tier.carries(per_sec, 1.0, self.label);
            let per_request = Estimate::exact(1.0 / per_sec);
            tier.demands.push(self.carried(TierResource::Alone, 1.0, per_request));
        }
    }

    /// A tier that is stopped by something else than what is planned by needs that fixed, not machines.
    fn judge(&self, tier: &LoadedTier<'_>, known: &mut ObservedTier) {
        let needs_a_fix = matches!(
            self.verdict.limit,
            Limit::Disk
                | Limit::Memory
                | Limit::Connections
                | Limit::Lock
                | Limit::Dependency
                | Limit::Refused
        );
        if needs_a_fix && self.limits(tier) {
            known.stopped_otherwise = true;
            known.doubts.push(Doubt::StoppedBy {
                run: self.label.to_owned(),
                per_sec: self.per_sec().value,
                limit: self.verdict.limit,
                place: self.verdict.place.clone(),
            });
        }
    }

    /// Resources of a tier that something else than the requests uses.
    fn used_otherwise(&self, tier: &LoadedTier<'_>) -> BTreeSet<TierResource> {
        let broken = |resource: &&Resource| resource.demand.is_some_and(|demand| demand.law == Law::Broken);
        self.resources(tier).filter(broken).filter_map(|resource| Some(kind_of(resource)?.0)).collect()
    }

    /// Machines that were busy: each by what it used most of.
    fn busy(&self) -> f64 {
        let of_host = |tier: &LoadedTier<'_>, host: &str| {
            let own = self.spent(tier).into_iter().filter(|(resource, _)| resource.host == host);
            let shares = own.filter_map(|(resource, _)| resource.utilisation(self.load));
            shares.fold(0.0, f64::max) * tier.machines_of_host()
        };
        let hosts = self.tiers.iter().flat_map(|tier| tier.hosts.iter().map(move |host| (tier, host)));
        hosts.map(|(tier, host)| of_host(tier, host)).sum()
    }

    /// What stops the growth of a tier with the machines that it has.
    fn stops(&self, tier: &LoadedTier<'_>, known: &ObservedTier) -> Vec<Stop> {
        let spent =
            self.spent(tier).into_iter().filter_map(|(resource, demand)| self.stop(tier, resource, demand));
        let mut stops: Vec<Stop> = spent.collect();
        // What other rows show of the tier holds here too, if it is known how many machines there are.
        let others =
            if self.is_row() { known.demands.clone() } else { Vec::from_iter(self.own_capacity(tier)) };
        for demand in others.iter().filter(|_| tier.machines.is_some()) {
            if !stops.iter().any(|stop| stop.resource == demand.resource) {
                stops.extend(self.predicted(tier, demand));
            }
        }
        let scaled = known.scaling.as_ref().filter(|_| self.is_row()).map(|scaling| {
            let (few, many) = scaling.span();
            (few, many, scaling.efficiency())
        });
        stops.into_iter().map(|stop| Stop { scaled, ..stop }).collect()
    }

    fn stop(&self, tier: &LoadedTier<'_>, resource: &Resource, demand: Demand) -> Option<Stop> {
        let (kind, unit) = kind_of(resource)?;
        let used = self.used(resource)?;
        // A row is followed by what a request costs in it.
        let own = self.row().map(|row| Estimate::exact(used / row.throughput_per_sec));
        Some(Stop {
            tier: tier.name.to_owned(),
            resource: kind,
            place: Some(resource.place()).filter(Place::is_part),
            machines: tier.count(),
            unit,
            used,
            capacity: resource.capacity?,
            per_request: own.unwrap_or(demand.per_request),
            seen: true,
            scaled: None,
        })
    }

    fn predicted(&self, tier: &LoadedTier<'_>, demand: &TierDemand) -> Option<Stop> {
        let of_one = demand.per_request.times(1.0 / tier.count());
        let per_request = if self.is_row() { Estimate::exact(of_one.value) } else { of_one };
        Some(Stop {
            tier: tier.name.to_owned(),
            resource: demand.resource,
            place: None,
            machines: tier.count(),
            unit: demand.unit,
            used: per_request.value * self.per_sec().value,
            capacity: demand.capacity?,
            per_request,
            seen: !self.is_row(),
            scaled: None,
        })
    }
}

fn added(a: Estimate, b: Estimate) -> Estimate {
    let interval = a.interval.zip(b.interval).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    Estimate { value: a.value + b.value, interval }
}

/// Throughput by the number of machines of a tier, in loads of the same requests that it limits.
fn scaling(kind: &[TierLoad<'_>], name: &str) -> Option<Scaling> {
    let point = |load: &TierLoad<'_>| {
        let tier = load.tiers.iter().find(|tier| tier.name == name && load.limits(tier))?;
        let is_limit = !matches!(load.verdict.limit, Limit::None | Limit::Unknown);
        Some((tier.machines.filter(|_| is_limit)?, load.per_sec().value))
    };
    Scaling::fit(kind.iter().filter_map(point).collect())
}

/// Rows that do not agree on what a request costs the tier by what decides.
fn differing(kinds: &[Vec<TierLoad<'_>>], tier: &ObservedTier) -> Option<Doubt> {
    let deciding = tier.demands.iter().max_by(|a, b| a.weight().total_cmp(&b.weight()))?;
    let cost = |load: &TierLoad<'_>| {
        let own = load.tiers.iter().find(|own| own.name == tier.name)?;
        let is_deciding = |resource: &&Resource| {
            kind_of(resource).is_some_and(|(kind, _)| kind == deciding.resource)
                && load.is_row()
                && load.origin(resource) == deciding.origin
        };
        let used = load.used(load.resources(own).find(is_deciding)?)? * own.count();
        Some(used / load.per_sec().value).filter(|cost| *cost > 0.0)
    };
    let of_kind = |kind: &Vec<TierLoad<'_>>| {
        let costs: Vec<f64> = kind.iter().filter_map(cost).collect();
        Some((costs.iter().copied().reduce(f64::min)?, costs.iter().copied().reduce(f64::max)?))
    };
    let (least, most) = kinds.iter().find_map(of_kind)?;
    (most >= MIN_SPREAD * least).then(|| Doubt::CostsDiffer {
        origin: deciding.origin.clone(),
        resource: deciding.resource,
        unit: deciding.unit,
        least,
        most,
    })
}

/// One doubt for all loads of a tier: of many runs one each would hide what the other doubts say.
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

/// A tier of which nothing is known but, in a table, that so many machines carried so much.
fn unseen(kinds: &[Vec<TierLoad<'_>>], tier: &ObservedTier) -> Option<Doubt> {
    match &tier.carried {
        _ if !tier.demands.is_empty() => None,
        Some(carried) if kinds.iter().flatten().any(TierLoad::is_row) => {
            Some(Doubt::NoFigures { machines: carried.machines, per_sec: carried.throughput_per_sec })
        }
        None if kinds.iter().flatten().any(TierLoad::is_row) => None,
        _ => Some(Doubt::NothingObserved),
    }
}

/// Growth starts from the load in which most machines were busy: the largest test there is. A tier tested by itself answers
/// faster than the whole, and says nothing of how that grows.
fn growth(kinds: &[Vec<TierLoad<'_>>], observed: &Observed) -> Option<Growth> {
    let load = kinds.iter().flatten().max_by(|a, b| a.busy().total_cmp(&b.busy()))?;
    let known = |tier: &LoadedTier<'_>| observed.tiers.iter().find(|known| known.name == tier.name);
    let stops = load.tiers.iter().filter_map(|tier| Some(load.stops(tier, known(tier)?))).flatten().collect();
    Growth::new(load.per_sec().value, load.label, stops)
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
