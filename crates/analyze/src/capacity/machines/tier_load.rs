//! One load of the tiers: the resources that it used of each tier, and what limits it.
use std::collections::BTreeSet;

use super::demand::TierDemand;
use super::doubt::Doubt;
use super::growth::{Stop, needs_a_fix};
use super::observed::{Halt, Observed, ObservedTier};
use super::size::MachineSize;
use super::terms::{DemandUnit, Origin, TierResource};
use crate::capacity::tiers::hosts_by_tier;
use crate::findings::{Claim, RowClaim};
use crate::groups::grouped;
use crate::hosts::utilisation::BUSY;
use crate::load::knee::best_carrying_step;
use crate::observations::Observations;
use crate::observations::table::capacity_in;
use crate::table::together_per_sec;
use crate::{Demand, Estimate, Findings, Law, Limit, Part, Place, Resource, ResourceKind, TableRow, Verdict};

/// One load of the tiers, with its verdict.
pub(super) struct TierLoad<'a> {
    pub(super) label: &'a str,
    pub(super) verdict: &'a Verdict,
    obs: Observations<'a>,
    /// The index of this load in `obs`.
    pub(super) load: usize,
    pub(super) tiers: Vec<LoadedTier<'a>>,
    /// True if its throughput is a lower bound, because of the load generator.
    pub(super) lower_bound: bool,
}

/// A tier that takes part in a load.
pub(super) struct LoadedTier<'a> {
    pub(super) name: &'a str,
    hosts: Vec<&'a str>,
    /// `None` where a table does not give the number; its figures are then taken as those of one machine.
    pub(super) machines: Option<f64>,
}

/// The tier resource and the unit of a resource. A single core is left out: the kernel moves work between cores.
pub(super) fn kind_of(resource: &Resource) -> Option<(TierResource, DemandUnit)> {
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
    pub(super) fn count(&self) -> f64 {
        self.machines.unwrap_or(1.0)
    }

    /// The number of machines that each host stands for: 1 for a host of a run, all machines for a tier of a table.
    fn machines_of_host(&self) -> f64 {
        self.count() / self.hosts.len() as f64
    }
}

impl<'a> TierLoad<'a> {
    /// The step with the highest throughput of successful answers; `None` if no step carried its load.
    pub(super) fn from_run(name: &'a str, findings: &'a Findings) -> Option<Self> {
        let (load, _) = best_carrying_step(&findings.steps)?;
        let tier = |(name, hosts): (&'a str, Vec<&'a str>)| {
            let machines = Some(hosts.len() as f64);
            LoadedTier { name, hosts, machines }
        };
        let tiers = hosts_by_tier(findings).into_iter().map(tier).collect();
        let obs = Observations::from_findings(findings);
        Some(Self {
            label: name,
            verdict: &findings.verdict,
            obs,
            load,
            tiers,
            lower_bound: findings.lower_bound,
        })
    }

    pub(super) fn from_row(rows: &'a [&'a TableRow], load: usize, verdict: &'a Verdict) -> Self {
        let row = rows[load];
        let tiers = row.present().map(|tier| LoadedTier {
            name: &tier.name,
            hosts: vec![&tier.name],
            machines: tier.instances,
        });
        let tiers = tiers.collect();
        let obs = Observations::from_table(rows, load);
        Self { label: &row.label, verdict, obs, load, tiers, lower_bound: false }
    }

    /// Returns the demands of a tier, and records all else that the load shows of it in `known`. `kind` is the number of its requests.
    pub(super) fn observe(
        &self,
        tier: &LoadedTier<'_>,
        kind: usize,
        known: &mut ObservedTier,
    ) -> Vec<TierDemand> {
        if tier.machines.is_some() || self.resources(tier).next().is_some() {
            known.carries(self.per_sec().value, tier.count(), self.label);
        }
        self.judge(tier, kind, known);
        known.lacks(self.label, &self.unsampled(tier));
        self.demands(tier).into_iter().chain(self.own_capacity(tier)).collect()
    }

    fn row(&self) -> Option<&'a TableRow> {
        self.obs.rows.get(self.load).copied()
    }

    pub(super) fn is_row(&self) -> bool {
        self.row().is_some()
    }

    pub(super) fn per_sec(&self) -> Estimate {
        self.obs.loads[self.load].throughput
    }

    pub(super) fn used(&self, resource: &Resource) -> Option<f64> {
        resource.used.get(self.load).copied().flatten()
    }

    /// The utilisation of a machine in a load. A row's own capacity is used where it gives one.
    fn share(&self, resource: &Resource, load: usize) -> Option<f64> {
        match self.obs.rows.get(load).and_then(|row| capacity_in(row, resource)) {
            Some(capacity) => resource.used.get(load).copied().flatten().map(|used| used / capacity),
            None => resource.utilisation(load),
        }
    }

    pub(super) fn limits(&self, tier: &LoadedTier<'_>) -> bool {
        tier.hosts.contains(&self.verdict.host())
    }

    /// The resources of a tier that count: no single core, no loopback.
    pub(super) fn resources(&self, tier: &LoadedTier<'_>) -> impl Iterator<Item = &Resource> {
        let own = self.obs.resources.iter().filter(|resource| tier.hosts.contains(&resource.host.as_str()));
        own.filter(|resource| kind_of(resource).is_some() && !resource.is_loopback())
    }

    /// The resources that requests use, one of each kind for each host: of several threads or interfaces the most used.
    fn spent(&self, tier: &LoadedTier<'_>) -> Vec<(&Resource, Demand)> {
        let demand = |resource: &'_ Resource| resource.demand.filter(|demand| demand.law != Law::Broken);
        let spent = self.resources(tier).filter_map(|resource| {
            let demand = demand(resource)?;
            Some((resource, self.of_full(resource, demand)))
        });
        let alike = grouped(spent, |(a, _), (b, _)| (a.kind, &a.host) == (b.kind, &b.host));
        let used = |(resource, _): &(&Resource, Demand)| self.used(resource).unwrap_or(0.0);
        // The first of those with equal use.
        let most = |all: Vec<_>| all.into_iter().rev().max_by(|a, b| used(a).total_cmp(&used(b)));
        alike.into_iter().filter_map(most).collect()
    }

    /// The demand from the plateau alone, for a resource that was full in most steps: there use cannot grow with throughput, so that
    /// a line through those steps would count demand as idle use.
    fn of_full(&self, resource: &Resource, demand: Demand) -> Demand {
        let shares = (0..resource.used.len()).filter_map(|load| resource.utilisation(load));
        let (full, others): (Vec<f64>, Vec<f64>) = shares.partition(|share| *share >= BUSY);
        match self.used(resource).filter(|_| !self.is_row() && full.len() > others.len()) {
            Some(used) => {
                Demand { per_request: Estimate::exact(used / self.per_sec().value), idle: 0.0, ..demand }
            }
            None => demand,
        }
    }

    /// Hosts of a tier that were not sampled; empty if none of its hosts was.
    fn unsampled<'t>(&self, tier: &LoadedTier<'t>) -> Vec<&'t str> {
        let is_sampled = |host: &&str| self.obs.resources.iter().any(|resource| resource.host == **host);
        let (sampled, others): (Vec<&str>, Vec<&str>) = tier.hosts.iter().copied().partition(is_sampled);
        if sampled.is_empty() { Vec::new() } else { others }
    }

    /// Computes [`TierDemand::covered`].
    fn covered(&self, tier: &LoadedTier<'_>, kind: TierResource) -> f64 {
        let is_kind = |resource: &&Resource| kind_of(resource).is_some_and(|(own, _)| own == kind);
        let is_broken = |host: &&&str| {
            let own = self.resources(tier).filter(is_kind).filter(|resource| resource.host == ***host);
            let mut laws = own.filter_map(|resource| Some(resource.demand?.law)).peekable();
            laws.peek().is_some() && laws.all(|law| law == Law::Broken)
        };
        let left_out = self.unsampled(tier).len() + tier.hosts.iter().filter(is_broken).count();
        1.0 - left_out as f64 / tier.hosts.len() as f64
    }

    /// The demands of a tier: for each kind of resource the sum over its machines. The ends of the intervals are added up, so that the
    /// sum's interval is too wide rather than too narrow. Machines that were not sampled count like the others.
    fn demands(&self, tier: &LoadedTier<'_>) -> Vec<TierDemand> {
        let hosts = tier.hosts.len() as f64;
        let for_all = hosts / (hosts - self.unsampled(tier).len() as f64);
        let one = |(resource, demand): (&Resource, Demand)| {
            let (kind, unit) = kind_of(resource)?;
            let shares = (0..resource.used.len()).filter_map(|load| self.share(resource, load));
            Some(TierDemand {
                resource: kind,
                part: resource.part.clone(),
                unit,
                per_request: demand.per_request.times(tier.machines_of_host() * for_all),
                covered: self.covered(tier, kind),
                idle: demand.idle,
                capacity: resource.capacity,
                used_most: shares.fold(0.0, f64::max),
                used_there: resource.utilisation(self.load).unwrap_or(0.0),
                limits_there: self.limits(tier),
                origin: self.origin(resource),
            })
        };
        let sum = |a: TierDemand, b: TierDemand| TierDemand {
            per_request: added(a.per_request, b.per_request),
            idle: a.idle.max(b.idle),
            capacity: a.capacity.zip(b.capacity).map(|(a, b)| a.min(b)),
            used_most: a.used_most.max(b.used_most),
            used_there: a.used_there.max(b.used_there),
            ..a
        };
        let kinds = grouped(self.spent(tier).into_iter().filter_map(one), |a, b| a.resource == b.resource);
        kinds.into_iter().filter_map(|demands| demands.into_iter().reduce(sum)).collect()
    }

    pub(super) fn origin(&self, resource: &Resource) -> Origin {
        let Some(row) = self.row() else { return Origin::Run(self.label.to_owned()) };
        let rows = self.obs.rows.iter().zip(&resource.used);
        let count = rows.filter(|(other, used)| used.is_some() && other.is_of_same_requests(row)).count();
        Origin::Rows { count, group: row.group.clone() }
    }

    /// A demand computed from the throughput that a tier carried, whatever resource limited it.
    fn carried(&self, resource: TierResource, capacity: f64, per_request: Estimate) -> TierDemand {
        let rows = |row: &TableRow| Origin::Rows { count: 1, group: row.group.clone() };
        TierDemand {
            resource,
            part: Part::Whole,
            unit: if resource == TierResource::Pool { DemandUnit::Workers } else { DemandUnit::MachineShare },
            per_request,
            covered: 1.0,
            idle: 0.0,
            capacity: Some(capacity),
            used_most: 1.0,
            used_there: 1.0,
            limits_there: true,
            origin: self.row().map_or_else(|| Origin::Run(self.label.to_owned()), rows),
        }
    }

    /// The demand of the pool that the verdict found: a request holds m·K/X of the K workers on each of m machines. Otherwise that of
    /// a tier that was measured alone; tiers that were measured alone in the same row share its requests.
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

    /// Adds a front tier for which a table has no figures, by the throughput of the row that it was found to limit.
    pub(super) fn add_front(&self, observed: &mut Observed) {
        let (host, per_sec) = (self.verdict.host(), self.per_sec().value);
        let is_front = matches!(self.verdict.claim, Some(Claim::Row(RowClaim::Front { .. })));
        if is_front && self.tiers.iter().all(|tier| tier.name != host) {
            let tier = observed.tier(host);
            tier.carries(per_sec, 1.0, self.label);
            let per_request = Estimate::exact(1.0 / per_sec);
            tier.demands.push(self.carried(TierResource::Alone, 1.0, per_request));
        }
    }

    /// Records a limit that needs a fix rather than more machines.
    fn judge(&self, tier: &LoadedTier<'_>, kind: usize, known: &mut ObservedTier) {
        if needs_a_fix(self.verdict.limit) && self.limits(tier) {
            let (run, per_sec) = (self.label.to_owned(), self.per_sec().value);
            let (limit, place) = (self.verdict.limit, self.verdict.place.clone());
            known.doubts.push(Doubt::StoppedBy { run: run.clone(), per_sec, limit, place: place.clone() });
            known.halts.push(Halt { run, kind, per_sec, machines: tier.count(), limit, place });
        }
    }

    /// The size of each machine of a tier; `None` where it is not known, or the machines differ.
    pub(super) fn size(&self, tier: &LoadedTier<'_>) -> Option<MachineSize> {
        if self.is_row() { None } else { MachineSize::of_hosts(&self.obs.resources, &tier.hosts) }
    }

    /// Resources of a tier that something other than the requests uses.
    pub(super) fn used_otherwise(&self, tier: &LoadedTier<'_>) -> BTreeSet<TierResource> {
        let broken = |resource: &&Resource| resource.demand.is_some_and(|demand| demand.law == Law::Broken);
        self.resources(tier).filter(broken).filter_map(|resource| Some(kind_of(resource)?.0)).collect()
    }

    /// The number of busy machines: each counts with the utilisation of its most used resource.
    pub(super) fn busy(&self) -> f64 {
        let of_host = |tier: &LoadedTier<'_>, host: &str| {
            let own = self.spent(tier).into_iter().filter(|(resource, _)| resource.host == host);
            let shares = own.filter_map(|(resource, _)| resource.utilisation(self.load));
            shares.fold(0.0, f64::max) * tier.machines_of_host()
        };
        let hosts = self.tiers.iter().flat_map(|tier| tier.hosts.iter().map(move |host| (tier, host)));
        hosts.map(|(tier, host)| of_host(tier, host)).sum()
    }

    /// What stops the growth of a tier with its present machines.
    pub(super) fn stops(
        &self,
        tier: &LoadedTier<'_>,
        known: &ObservedTier,
        of_kind: &[TierDemand],
    ) -> Vec<Stop> {
        let spent =
            self.spent(tier).into_iter().filter_map(|(resource, demand)| self.stop(tier, resource, demand));
        let mut stops: Vec<Stop> = spent.map(|stop| self.by_nearer(tier, stop, of_kind)).collect();
        // Demands from other rows apply here too, if the number of machines is known.
        let others: Vec<TierDemand> = match self.is_row() {
            true => known.demands.clone(),
            false => {
                let of_kind = of_kind.iter().filter_map(|demand| self.on_own_machines(tier, demand));
                self.own_capacity(tier).into_iter().chain(of_kind).collect()
            }
        };
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
        // In a row, the cost of a request is that of the row itself.
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
            used_there: used / resource.capacity?,
            seen: true,
            scaled: None,
        })
    }

    /// Replaces the cost of a stop by that of another run of the same requests, if that shows the cost near the limit better.
    fn by_nearer(&self, tier: &LoadedTier<'_>, stop: Stop, of_kind: &[TierDemand]) -> Stop {
        let share = stop.used / stop.capacity;
        let is_nearer = |demand: &&TierDemand| {
            let is_same = demand.resource == stop.resource && demand.unit == stop.unit;
            is_same && demand.is_nearer_to_limit(share, self.limits(tier))
        };
        match of_kind.iter().find(is_nearer).filter(|_| !self.is_row()) {
            Some(demand) => {
                let per_request = demand.per_request.times(1.0 / stop.machines);
                let used = demand.idle + per_request.value * self.per_sec().value;
                Stop { per_request, used, used_there: demand.used_there, seen: false, ..stop }
            }
            None => stop,
        }
    }

    /// The demand from another run with the capacity of this run's machines; `None` if these have no such resource.
    pub(super) fn on_own_machines(&self, tier: &LoadedTier<'_>, demand: &TierDemand) -> Option<TierDemand> {
        let is_same = |resource: &&Resource| kind_of(resource) == Some((demand.resource, demand.unit));
        let capacities = self.resources(tier).filter(is_same).filter_map(|resource| resource.capacity);
        Some(TierDemand { capacity: Some(capacities.reduce(f64::min)?), ..demand.clone() })
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
            used: demand.idle + per_request.value * self.per_sec().value,
            capacity: demand.capacity?,
            per_request,
            used_there: demand.used_there,
            seen: !self.is_row(),
            scaled: None,
        })
    }
}

fn added(a: Estimate, b: Estimate) -> Estimate {
    let interval = a.interval.zip(b.interval).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
    Estimate { value: a.value + b.value, interval }
}
