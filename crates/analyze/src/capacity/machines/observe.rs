//! Collects what was observed of tiers: from the best step of each run, or from each row of a table.

use std::collections::{BTreeMap, BTreeSet};

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, GrowthStart, Stop, TierMachines};
use super::observed::{Observed, ObservedTier, SizedDemands};
use super::scaling::Scaling;
use super::size::{MachineSize, is_one_size};
use super::terms::TierResource;
use super::tier_load::{LoadedTier, TierLoad, kind_of};
use crate::capacity::kinds::{by_requests, request_kinds};
use crate::groups::grouped;
use crate::load::knee::best_carrying_step;
use crate::{Findings, Limit, Resource, TableFindings, TableRow, Verdict};

/// Rows whose costs of a request differ by this factor or more did not measure the same thing.
const MIN_SPREAD: f64 = 1.5;

/// The name of a load, and the resources of a tier that something other than its requests uses in it.
type OtherUse<'a> = (&'a str, BTreeSet<TierResource>);

/// Collects the observations of named runs. Hosts of one tier are taken together; a host without a tier is a tier of its own.
pub fn observe_runs(runs: &[(&str, &Findings)]) -> Observed {
    let load = |(name, findings)| TierLoad::from_run(name, findings);
    let kinds: Vec<Vec<TierLoad<'_>>> =
        by_requests(runs).into_iter().map(|runs| runs.into_iter().filter_map(load).collect()).collect();
    let mut observed = observe(Observed::default(), &kinds);
    observed.remarks = runs.iter().filter_map(|(name, findings)| remark(name, findings)).collect();
    let kinds = request_kinds(runs);
    observed.remarks.extend((kinds.len() > 1).then_some(Remark::Requests(kinds)));
    observed
}

/// Collects the observations of the rows of a table, with the findings of `explain_table`.
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
        _ if best_carrying_step(&findings.steps).is_none() => Some(Remark::NothingCarried(name)),
        Limit::Generator => Some(Remark::GeneratorLimit(name)),
        _ if findings.lower_bound && findings.generator.healthy() => Some(Remark::SharedWithGenerator(name)),
        _ if findings.lower_bound => Some(Remark::LowerBound(name)),
        Limit::None => Some(Remark::NotPushed(name)),
        _ => None,
    }
}

/// The demands of one kind of requests, by tier.
type KindDemands<'a> = BTreeMap<&'a str, Vec<TierDemand>>;

/// Collects the observations of loads; each element of `kinds` holds the loads of one kind of requests.
fn observe(mut observed: Observed, kinds: &[Vec<TierLoad<'_>>]) -> Observed {
    let mut other_uses: BTreeMap<&str, Vec<OtherUse<'_>>> = BTreeMap::new();
    let mut kind_demands: Vec<KindDemands<'_>> = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let mut of_kind = KindDemands::new();
        for load in kind {
            for tier in &load.tiers {
                let demands = load.observe(tier, number, observed.tier(tier.name));
                of_kind.entry(tier.name).or_default().extend(demands);
                other_uses.entry(tier.name).or_default().push((load.label, load.used_otherwise(tier)));
            }
            load.add_front(&mut observed);
        }
        // For rows, the demand is already computed over all of them.
        for demands in of_kind.values_mut().filter(|_| !kind.iter().any(TierLoad::is_row)) {
            *demands = TierDemand::fullest(std::mem::take(demands));
        }
        kind_demands.push(of_kind);
    }
    let start = start(kinds, &kind_demands);
    for tier in &mut observed.tiers {
        let of_kinds = kind_demands.iter().filter_map(|kind| kind.get(tier.name.as_str())).flatten().cloned();
        tier.demands =
            TierDemand::dearest(std::mem::take(&mut tier.demands).into_iter().chain(of_kinds).collect());
        tier.sizes = sizes(kinds, tier);
        let planned = planned_size(tier, start.as_ref());
        let is_only = tier.sizes.len() == 1;
        for sized in &mut tier.sizes {
            sized.is_planned = planned.map_or(is_only, |planned| is_one_size(Some(sized.size), planned));
        }
        let (scaling, left_out) = scaling(kinds, &tier.name, planned);
        tier.scaling = scaling;
        tier.doubts.extend(left_out);
        tier.doubts.extend(differing(kinds, tier));
        tier.doubts.extend(other_uses.get(tier.name.as_str()).and_then(|uses| other_use_doubt(uses)));
        tier.doubts.extend(unseen(kinds, tier));
    }
    observed.growth = start.and_then(|start| start.growth(&observed));
    observed.take_machines_of_growth();
    observed.take_pools_of_growth();
    observed
}

/// The demands for machines of each observed size, the smallest first: the demands of the tier, whatever machines they were found on,
/// with the capacity of one machine of that size.
fn sizes(kinds: &[Vec<TierLoad<'_>>], tier: &ObservedTier) -> Vec<SizedDemands> {
    let sized = kinds.iter().flatten().filter_map(|load| {
        let own = load.tiers.iter().find(|own| own.name == tier.name)?;
        Some((load.size(own)?, load, own))
    });
    let of_size = |alike: Vec<(MachineSize, &TierLoad<'_>, &LoadedTier<'_>)>| {
        let on_size = |demand: &TierDemand| {
            let known = alike.iter().find_map(|(_, load, own)| load.on_own_machines(own, demand));
            known.unwrap_or_else(|| demand.clone())
        };
        let demands = tier.demands.iter().map(on_size).collect();
        SizedDemands { size: alike[0].0, is_planned: false, demands }
    };
    let alike = grouped(sized, |(one, ..), (other, ..)| one.is_same_as(other));
    let mut sizes: Vec<SizedDemands> = alike.into_iter().map(of_size).collect();
    sizes.sort_by(|a, b| a.size.cores.unwrap_or(0.0).total_cmp(&b.size.cores.unwrap_or(0.0)));
    sizes
}

/// A load that a tier limits, with the tier's number of machines.
struct ScalingPoint<'a> {
    run: &'a str,
    /// The number of the load's kind of requests.
    kind: usize,
    size: Option<MachineSize>,
    machines: f64,
    per_sec: f64,
    limit: Limit,
    /// True if `per_sec` is a lower bound.
    lower_bound: bool,
}

/// The size of machine that a tier is planned with, if several sizes were observed: that of the load that growth starts from. `None`
/// for any size, `Some(None)` if that load's size is not known.
fn planned_size(tier: &ObservedTier, start: Option<&Start<'_, '_>>) -> Option<Option<MachineSize>> {
    let load = start.filter(|_| tier.sizes.len() > 1)?.load;
    load.tiers.iter().find(|own| own.name == tier.name).map(|own| load.size(own))
}

/// Throughput over the number of machines of a tier in loads that it limits, and the doubt about loads that are left out. The rows of a
/// table have no such doubt.
fn scaling(
    kinds: &[Vec<TierLoad<'_>>],
    name: &str,
    planned: Option<Option<MachineSize>>,
) -> (Option<Scaling>, Option<Doubt>) {
    let loads = kinds.iter().enumerate().flat_map(|(kind, loads)| loads.iter().map(move |load| (kind, load)));
    let points: Vec<ScalingPoint<'_>> =
        loads.filter_map(|(kind, load)| ScalingPoint::new(kind, load, name)).collect();
    let is_row = kinds.iter().flatten().any(TierLoad::is_row);
    let (scaling, left_out) = scaling_by(&points, planned);
    (scaling, left_out.filter(|_| !is_row))
}

/// The scaling from loads of the same requests on machines of the planned size; of several such sets, the one with most counts. Lower
/// bounds are left out, since they do not show how throughput grows.
fn scaling_by(
    points: &[ScalingPoint<'_>],
    planned: Option<Option<MachineSize>>,
) -> (Option<Scaling>, Option<Doubt>) {
    let (bounds, exact): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.lower_bound);
    let sets = grouped(exact.iter().copied(), |one, other| one.kind == other.kind && one.is_of_size(other));
    let is_planned =
        |set: &&Vec<&ScalingPoint<'_>>| planned.is_none_or(|planned| is_one_size(set[0].size, planned));
    let fitted = |set: &Vec<&ScalingPoint<'_>>| {
        let scaling = Scaling::fit(set.iter().map(|point| (point.machines, point.per_sec)).collect());
        let limits = set.iter().map(|point| point.limit);
        scaling.map(|scaling| scaling.of_kind(set[0].kind).limited_by(limits))
    };
    // Of several sets with equal counts the first.
    let counts = |set: &&Vec<&ScalingPoint<'_>>| fitted(set).map_or(0, |scaling| scaling.points.len());
    let best = sets.iter().rev().filter(is_planned).max_by_key(counts);
    let chosen = best.map(|set| set[0]);
    let is_of_others = |point: &&ScalingPoint<'_>| chosen.is_some_and(|chosen| point.kind != chosen.kind);
    let is_left_out = |point: &&ScalingPoint<'_>| {
        is_of_others(point) || !chosen.is_some_and(|chosen| point.is_of_size(chosen))
    };
    let (of_requests, of_size): (Vec<_>, Vec<_>) =
        exact.iter().copied().filter(is_left_out).partition(is_of_others);
    let is_any = [&of_requests, &of_size, &bounds].iter().any(|points| !points.is_empty());
    let several = points.iter().any(|point| point.machines != points[0].machines);
    let names = |points: Vec<&ScalingPoint<'_>>| points.iter().map(|point| point.run.to_owned()).collect();
    let doubt = (several && is_any).then(|| Doubt::OtherRuns {
        of_requests: names(of_requests),
        of_size: names(of_size),
        lower_bounds: names(bounds),
    });
    (best.and_then(fitted), doubt)
}

impl<'a> ScalingPoint<'a> {
    /// `None` if the tier does not limit the load, or it is not known how many machines it has.
    fn new(kind: usize, load: &TierLoad<'a>, name: &str) -> Option<Self> {
        let tier = load.tiers.iter().find(|tier| tier.name == name && load.limits(tier))?;
        let is_limit = !matches!(load.verdict.limit, Limit::None | Limit::Unknown);
        let machines = tier.machines.filter(|_| is_limit)?;
        let (size, per_sec, limit) = (load.size(tier), load.per_sec().value, load.verdict.limit);
        Some(Self { run: load.label, kind, size, machines, per_sec, limit, lower_bound: load.lower_bound })
    }

    fn is_of_size(&self, other: &Self) -> bool {
        is_one_size(self.size, other.size)
    }
}

/// A doubt if rows disagree on the cost of a request on the deciding resource of a tier.
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

/// One doubt for all loads of a tier, so that many runs do not hide other doubts.
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

/// A doubt about a tier without demands: in a table, only the throughput of so many machines is known.
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

/// The load that growth starts from.
struct Start<'k, 'a> {
    /// The number of its kind of requests.
    kind: usize,
    load: &'k TierLoad<'a>,
    /// The demands of these requests, by tier.
    demands: &'k KindDemands<'a>,
}

/// Selects the load in which most machines were busy: the largest test. A tier tested alone answers faster than the whole system and
/// does not show how that grows. Of runs of the same requests on equal numbers of machines, the run with the highest throughput counts:
/// in the others some machine was smaller.
fn start<'k, 'a>(
    kinds: &'k [Vec<TierLoad<'a>>],
    kind_demands: &'k [KindDemands<'a>],
) -> Option<Start<'k, 'a>> {
    let kinds = kinds.iter().zip(kind_demands).enumerate();
    let starts = kinds.flat_map(|(kind, (loads, demands))| {
        fastest(loads).into_iter().map(move |load| Start { kind, load, demands })
    });
    starts.max_by(|a, b| a.load.busy().total_cmp(&b.load.busy()))
}

impl Start<'_, '_> {
    fn growth(&self, observed: &Observed) -> Option<Growth> {
        let Self { kind, load, demands } = self;
        let known = |tier: &LoadedTier<'_>| observed.tiers.iter().find(|known| known.name == tier.name);
        let of_tier = |tier: &LoadedTier<'_>| demands.get(tier.name).map_or(&[][..], Vec::as_slice);
        let stops = load.tiers.iter().filter_map(|tier| Some(load.stops(tier, known(tier)?, of_tier(tier))));
        let count = |tier: &LoadedTier<'_>| {
            Some(TierMachines { tier: tier.name.to_owned(), machines: tier.machines? })
        };
        let also = load.verdict.also.iter();
        let also = also.filter(|suspect| matches!(suspect.limit, Limit::Lock | Limit::Dependency));
        let from = GrowthStart {
            per_sec: load.per_sec(),
            at: load.label.to_owned(),
            kind: *kind,
            limit: load.verdict.limit,
            also: also.map(|suspect| (suspect.limit, suspect.place.clone())).collect(),
            machines: load.tiers.iter().filter_map(count).collect(),
        };
        Growth::new(from, stops.flatten().map(Stop::without_overreading).collect())
    }
}

/// Selects the fastest of the runs with equal numbers of machines of each tier, without runs in which a machine is smaller than in
/// another run and none is larger. Each row of a table stands for itself.
fn fastest<'k, 'a>(kind: &'k [TierLoad<'a>]) -> Vec<&'k TierLoad<'a>> {
    // Runs may list their hosts in different orders.
    let machines = |load: &TierLoad<'a>| -> BTreeMap<&'a str, Option<f64>> {
        load.tiers.iter().map(|tier| (tier.name, tier.machines)).collect()
    };
    let alike = grouped(kind, |one, other| !one.is_row() && machines(one) == machines(other));
    let fastest = |loads: Vec<&'k TierLoad<'a>>| {
        let is_smaller = |load: &TierLoad<'a>| loads.iter().any(|other| has_smaller_machines(load, other));
        // If sizes are partly unknown, each run may look smaller than another; then all are kept.
        let are_all = loads.iter().all(|load| is_smaller(load));
        let counted = loads.iter().filter(|load| are_all || !is_smaller(load)).copied();
        counted.rev().max_by(|a, b| a.per_sec().value.total_cmp(&b.per_sec().value))
    };
    alike.into_iter().filter_map(fastest).collect()
}

/// True if a machine of `load` is smaller than that of the same tier in `other`, and none is larger.
fn has_smaller_machines(load: &TierLoad<'_>, other: &TierLoad<'_>) -> bool {
    let sizes = load.tiers.iter().filter_map(|tier| {
        let same = other.tiers.iter().find(|same| same.name == tier.name)?;
        Some((load.size(tier)?, other.size(same)?))
    });
    are_smaller(&sizes.collect::<Vec<_>>())
}

/// True if in at least one pair the first size is smaller, and in no pair the second. Each pair is of one tier.
fn are_smaller(pairs: &[(MachineSize, MachineSize)]) -> bool {
    pairs.iter().any(|(own, other)| own.is_smaller_than(other))
        && !pairs.iter().any(|(own, other)| other.is_smaller_than(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(
        run: &'static str,
        kind: usize,
        cores: f64,
        machines: f64,
        per_sec: f64,
    ) -> ScalingPoint<'static> {
        let size = Some(MachineSize { cores: Some(cores), ..MachineSize::default() });
        ScalingPoint { run, kind, size, machines, per_sec, limit: Limit::Cpu, lower_bound: false }
    }

    #[test]
    fn scaling_is_of_the_same_requests_on_machines_of_one_size() {
        let one = point("one", 0, 0.5, 1.0, 100.0);
        let other_requests = point("login", 1, 0.5, 2.0, 20.0);
        let other_size = point("large", 0, 1.0, 2.0, 390.0);
        let two = point("two", 0, 0.5, 2.0, 190.0);
        let (scaling, doubt) = scaling_by(&[one, other_requests, other_size, two], None);
        let scaling = scaling.unwrap();
        assert_eq!((scaling.limits.as_slice(), scaling.points.len()), (&[Limit::Cpu][..], 2));
        assert_eq!(scaling.points, [(1.0, 100.0), (2.0, 190.0)]);
        let (of_requests, of_size) = (vec!["login".to_owned()], vec!["large".to_owned()]);
        assert_eq!(doubt, Some(Doubt::OtherRuns { of_requests, of_size, lower_bounds: Vec::new() }));
    }

    #[test]
    fn lower_bounds_are_no_scaling_and_are_named() {
        let bound = |run: &'static str, machines: f64, per_sec: f64| ScalingPoint {
            lower_bound: true,
            ..point(run, 0, 1.0, machines, per_sec)
        };
        let (one, two) = (bound("one", 1.0, 5_000.0), bound("two", 2.0, 6_000.0));
        let left_out = |names: &[&str]| Doubt::OtherRuns {
            of_requests: Vec::new(),
            of_size: Vec::new(),
            lower_bounds: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let (scaling, doubt) = scaling_by(&[one, two], None);
        assert_eq!((scaling, doubt), (None, Some(left_out(&["one", "two"]))));
        let (three, four) = (point("three", 0, 1.0, 3.0, 9_000.0), point("four", 0, 1.0, 4.0, 11_000.0));
        let (scaling, doubt) = scaling_by(&[bound("two", 2.0, 6_000.0), three, four], None);
        assert_eq!(scaling.unwrap().points, [(3.0, 9_000.0), (4.0, 11_000.0)]);
        assert_eq!(doubt, Some(left_out(&["two"])));
    }

    #[test]
    fn runs_of_different_requests_alone_are_no_scaling() {
        let (scaling, doubt) =
            scaling_by(&[point("one", 0, 1.0, 1.0, 100.0), point("two", 1, 1.0, 2.0, 20.0)], None);
        assert_eq!(scaling, None);
        assert!(matches!(doubt, Some(Doubt::OtherRuns { of_requests, .. }) if of_requests == ["two"]));
    }

    #[test]
    fn the_scaling_of_machines_that_are_not_planned_is_left_out() {
        let small = [point("one", 0, 0.5, 1.0, 100.0), point("two", 0, 0.5, 2.0, 190.0)];
        let large = point("large", 0, 2.0, 2.0, 800.0);
        let planned = Some(large.size);
        let all: Vec<ScalingPoint<'_>> = small.into_iter().chain([large]).collect();
        let (scaling, doubt) = scaling_by(&all, planned);
        let of_size = vec!["one".to_owned(), "two".to_owned()];
        let left_out = Doubt::OtherRuns { of_requests: Vec::new(), of_size, lower_bounds: Vec::new() };
        assert_eq!((scaling, doubt), (None, Some(left_out)));
        let (none_limits, doubt) = scaling_by(&all[..2], planned);
        assert!(none_limits.is_none() && doubt.is_some(), "none of the planned machines was the limit");
        assert_eq!(scaling_by(&all, Some(all[0].size)).0.unwrap().points.len(), 2);
    }

    #[test]
    fn a_run_that_presses_a_tier_has_smaller_machines_in_it_and_larger_ones_in_none() {
        let cores = |cores| MachineSize { cores: Some(cores), ..MachineSize::default() };
        let (proxy, pressed, api, larger_api) = (cores(0.15), cores(0.1), cores(0.25), cores(0.5));
        assert!(are_smaller(&[(pressed, proxy), (api, api)]));
        assert!(!are_smaller(&[(proxy, pressed), (api, api)]));
        assert!(!are_smaller(&[(pressed, proxy), (larger_api, api)]));
        assert!(!are_smaller(&[(proxy, proxy), (api, api)]));
    }

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
