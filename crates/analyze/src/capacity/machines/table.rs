//! What a table of measurements tells of its tiers.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, Stop};
use super::observed::{Carried, Observed, ObservedTier};
use super::scaling::Scaling;
use super::terms::{DemandUnit, Origin, TierResource};
use crate::table::Pair;
use crate::{Estimate, Limit, TableFindings, TableRow, TableTier};
use plimsoll_stats::t_quantile;

/// Rows whose costs of a request differ by this factor or more were not of the same thing.
const MAX_SPREAD: f64 = 1.5;
/// Fewer rows than these give no interval.
const MIN_ROWS: usize = 3;

/// One figure of a tier, as a resource.
struct Figure {
    resource: TierResource,
    unit: DemandUnit,
    /// What one machine uses.
    used: fn(&TableTier) -> Option<f64>,
    /// What one machine has.
    capacity: fn(&TableTier) -> Option<f64>,
}

const FIGURES: [Figure; 7] = [
    Figure {
        resource: TierResource::Cpu,
        unit: DemandUnit::MachineShare,
        used: |tier| tier.cpu_ratio,
        capacity: |_| Some(1.0),
    },
    Figure {
        resource: TierResource::OneCore,
        unit: DemandUnit::Cores,
        used: |tier| tier.core_ratio,
        capacity: |_| Some(1.0),
    },
    Figure {
        resource: TierResource::BandwidthIn,
        unit: DemandUnit::Bits,
        used: |tier| tier.in_bits_per_sec.filter(|_| tier.link_both_bits_per_sec.is_none()),
        capacity: |tier| tier.link_bits_per_sec,
    },
    Figure {
        resource: TierResource::BandwidthOut,
        unit: DemandUnit::Bits,
        used: |tier| tier.out_bits_per_sec.filter(|_| tier.link_both_bits_per_sec.is_none()),
        capacity: |tier| tier.link_bits_per_sec,
    },
    Figure {
        resource: TierResource::BandwidthBoth,
        unit: DemandUnit::Bits,
        used: both_ways,
        capacity: |tier| tier.link_both_bits_per_sec,
    },
    Figure {
        resource: TierResource::PacketsIn,
        unit: DemandUnit::Packets,
        used: |tier| tier.in_packets_per_sec,
        capacity: |tier| tier.link_packets_per_sec,
    },
    Figure {
        resource: TierResource::PacketsOut,
        unit: DemandUnit::Packets,
        used: |tier| tier.out_packets_per_sec,
        capacity: |tier| tier.link_packets_per_sec,
    },
];

fn both_ways(tier: &TableTier) -> Option<f64> {
    tier.link_both_bits_per_sec?;
    tier.in_bits_per_sec.zip(tier.out_bits_per_sec).map(|(into, out)| into + out)
}

/// Rows of one kind of request.
#[derive(PartialEq)]
struct Kind<'a> {
    group: Option<&'a str>,
    held_sec: Option<f64>,
    response_bytes: Option<f64>,
}

fn kind_of(row: &TableRow) -> Kind<'_> {
    Kind { group: row.group.as_deref(), held_sec: row.held_sec, response_bytes: row.response_bytes }
}

/// What the rows of a table tell, and what `explain_table` found in them.
pub fn observe_table(rows: &[TableRow], found: &TableFindings) -> Observed {
    let all = rows.iter().zip(&found.rows);
    let pairs: Vec<Pair<'_>> = all.filter(|(_, finding)| finding.breach.is_none()).collect();
    let mut observed = Observed::default();
    let there = |name: &str| pairs.iter().any(|(row, _)| tier_in(row, name).is_some());
    let named = rows.first().map_or(&[][..], |row| row.tiers.as_slice());
    for tier in named.iter().filter(|tier| there(&tier.name)) {
        observed.tier(&tier.name);
    }
    for (row, _) in &pairs {
        for tier in row.present() {
            let known = observed.tier(&tier.name);
            if tier.instances.is_some() || FIGURES.iter().any(|figure| (figure.used)(tier).is_some()) {
                known.carries(row.throughput_per_sec, tier.count(), &row.label);
            }
        }
    }
    let mut kinds: Vec<Vec<Pair<'_>>> = Vec::new();
    for pair in &pairs {
        match kinds.iter_mut().find(|kind| kind_of(kind[0].0) == kind_of(pair.0)) {
            Some(kind) => kind.push(*pair),
            None => kinds.push(vec![*pair]),
        }
    }
    kinds.iter().for_each(|kind| front_alone(&mut observed, kind));
    for tier in &mut observed.tiers {
        let demands = kinds.iter().flat_map(|kind| demands(kind, &tier.name)).collect();
        tier.demands.extend(TierDemand::dearest(demands));
        tier.demands = TierDemand::dearest(std::mem::take(&mut tier.demands));
        tier.scaling = kinds.iter().filter_map(|kind| scaling(kind, &tier.name)).max_by(by_points);
        tier.doubts.extend(differing(&kinds, tier));
        tier.doubts.extend(unseen(tier.demands.is_empty(), tier.carried.as_ref()));
    }
    observed.growth = growth(&pairs, &observed);
    observed.remarks = remarks(rows.len(), pairs.len(), kinds.len());
    observed
}

fn by_points(a: &Scaling, b: &Scaling) -> std::cmp::Ordering {
    a.points.len().cmp(&b.points.len())
}

fn remarks(all: usize, lawful: usize, kinds: usize) -> Vec<Remark> {
    let broken = (lawful < all).then_some(Remark::Unlawful(all - lawful, all));
    let kinds = (kinds > 1).then_some(Remark::Kinds(kinds));
    broken.into_iter().chain(kinds).collect()
}

/// Where a table has no figure of a tier, that so many carried so much is all there is.
fn unseen(no_demand: bool, carried: Option<&Carried>) -> Option<Doubt> {
    let carried = carried.filter(|_| no_demand)?;
    Some(Doubt::NoFigures { machines: carried.machines, per_sec: carried.throughput_per_sec })
}

/// Throughput and what all machines of a tier used.
struct RowUse {
    throughput_per_sec: f64,
    used: f64,
    /// Of one machine, of its capacity.
    share: f64,
}

fn tier_in<'a>(row: &'a TableRow, name: &str) -> Option<&'a TableTier> {
    row.present().find(|tier| tier.name == name)
}

fn seen_of(kind: &[Pair<'_>], name: &str, figure: &Figure) -> Vec<RowUse> {
    let one = |(row, _): &Pair<'_>| {
        let tier = tier_in(row, name)?;
        let used = (figure.used)(tier)?;
        let share = (figure.capacity)(tier).map_or(0.0, |capacity| used / capacity);
        Some(RowUse { throughput_per_sec: row.throughput_per_sec, used: used * tier.count(), share })
    };
    kind.iter().filter_map(one).collect()
}

fn demands(kind: &[Pair<'_>], name: &str) -> Vec<TierDemand> {
    let by_figure = FIGURES.iter().filter_map(|figure| by_figure(kind, name, figure));
    by_figure.chain(alone(kind, name)).collect()
}

fn origin(kind: &[Pair<'_>], count: usize) -> Origin {
    Origin::Rows { count, group: kind[0].0.group.clone() }
}

fn by_figure(kind: &[Pair<'_>], name: &str, figure: &Figure) -> Option<TierDemand> {
    let seen = seen_of(kind, name, figure);
    let per_request = ratio(&seen)?;
    let tiers = kind.iter().filter_map(|(row, _)| tier_in(row, name));
    Some(TierDemand {
        resource: figure.resource,
        detail: String::new(),
        unit: figure.unit,
        per_request,
        idle: 0.0,
        capacity: tiers.filter_map(figure.capacity).next_back(),
        used_most: seen.iter().map(|seen| seen.share).fold(0.0, f64::max),
        origin: origin(kind, seen.len()),
    })
}

/// D = ΣU / ΣX, the ratio estimator, with the interval of its linear form (Cochran, *Sampling Techniques*, 1977, chapter 6):
/// rows of more load count more, as what is read off a monitor is wrong by so many per cent of a machine.
fn ratio(seen: &[RowUse]) -> Option<Estimate> {
    let total: f64 = seen.iter().map(|seen| seen.throughput_per_sec).sum();
    if total <= 0.0 {
        return None;
    }
    let value = seen.iter().map(|seen| seen.used).sum::<f64>() / total;
    let count = seen.len() as f64;
    let missed: f64 = seen.iter().map(|seen| (seen.used - value * seen.throughput_per_sec).powi(2)).sum();
    let interval = (seen.len() >= MIN_ROWS).then(|| {
        let error = (missed / (count * (count - 1.0))).sqrt() / (total / count);
        let half = t_quantile(count - 1.0) * error;
        ((value - half).max(0.0), value + half)
    });
    Some(Estimate { value, interval })
}

/// What a tier carries alone, and the pool that makes it so where one was found. Tiers that were measured alone in the same
/// row share its requests.
fn alone(kind: &[Pair<'_>], name: &str) -> Option<TierDemand> {
    let (row, finding) =
        kind.iter().rfind(|(row, _)| tier_in(row, name).is_some_and(|tier| tier.alone_per_sec.is_some()))?;
    let together: f64 = row.present().filter_map(|tier| Some(tier.alone_per_sec? * tier.count())).sum();
    let pool = finding.verdict.size.filter(|_| finding.verdict.limit == Limit::Pool);
    let workers = pool.map_or(1.0, |size| size.value);
    let machines = tier_in(row, name).map_or(1.0, TableTier::count);
    Some(TierDemand {
        resource: if pool.is_some() { TierResource::Pool } else { TierResource::Alone },
        detail: String::new(),
        unit: if pool.is_some() { DemandUnit::Workers } else { DemandUnit::MachineShare },
        per_request: Estimate { value: workers * machines / together, interval: None },
        idle: 0.0,
        capacity: Some(workers),
        used_most: row.throughput_per_sec.min(together) / together,
        origin: origin(kind, 1),
    })
}

/// A tier in front that has no column of its own, in rows that it was found to stop.
fn front_alone(observed: &mut Observed, kind: &[Pair<'_>]) {
    let stops = |(row, finding): &&Pair<'_>| {
        let place = finding.verdict.host();
        finding.verdict.limit == Limit::Unknown
            && !place.is_empty()
            && !row.tiers.iter().any(|tier| tier.name == place)
    };
    for (row, finding) in kind.iter().filter(stops) {
        let tier = observed.tier(finding.verdict.host());
        tier.carries(row.throughput_per_sec, 1.0, &row.label);
        tier.demands.push(TierDemand {
            resource: TierResource::Alone,
            detail: String::new(),
            unit: DemandUnit::MachineShare,
            per_request: Estimate { value: 1.0 / row.throughput_per_sec, interval: None },
            idle: 0.0,
            capacity: Some(1.0),
            used_most: 1.0,
            origin: origin(kind, 1),
        });
    }
}

/// Throughput by the number of machines of a tier, in the rows that it limits.
fn scaling(kind: &[Pair<'_>], name: &str) -> Option<Scaling> {
    let limits = |(_, finding): &&Pair<'_>| {
        let verdict = &finding.verdict;
        verdict.host() == name && !matches!(verdict.limit, Limit::None | Limit::Unknown)
    };
    let point = |(row, _): &Pair<'_>| Some((tier_in(row, name)?.instances?, row.throughput_per_sec));
    Scaling::fit(kind.iter().filter(limits).filter_map(point).collect())
}

/// Rows that do not agree on what a request costs the tier by what decides.
fn differing(kinds: &[Vec<Pair<'_>>], tier: &ObservedTier) -> Option<Doubt> {
    let deciding = tier.demands.iter().max_by(|a, b| a.weight().total_cmp(&b.weight()))?;
    let figure = FIGURES.iter().find(|figure| figure.resource == deciding.resource)?;
    let of_kind = kinds.iter().map(|kind| (kind, seen_of(kind, &tier.name, figure)));
    let (kind, seen) =
        of_kind.into_iter().find(|(kind, seen)| origin(kind, seen.len()) == deciding.origin)?;
    let costs = || seen.iter().map(|seen| seen.used / seen.throughput_per_sec).filter(|cost| *cost > 0.0);
    let (least, most) = (costs().reduce(f64::min)?, costs().reduce(f64::max)?);
    (most >= MAX_SPREAD * least).then(|| Doubt::CostsDiffer {
        origin: origin(kind, seen.len()),
        resource: figure.resource,
        unit: figure.unit,
        least,
        most,
    })
}

/// Machines that were busy in a row, as far as it tells: each tier's by what it used most of.
fn busy(row: &TableRow) -> f64 {
    let share = |tier: &TableTier| {
        let of = |figure: &Figure| Some((figure.used)(tier)? / (figure.capacity)(tier)?);
        FIGURES.iter().filter_map(of).fold(0.0, f64::max) * tier.count()
    };
    row.present().map(share).sum()
}

/// Growth starts from the row in which most machines were busy: the largest test there is. A tier tested by itself answers
/// faster than the whole, and says nothing of how that grows.
fn growth(pairs: &[Pair<'_>], observed: &Observed) -> Option<Growth> {
    let row = pairs.iter().map(|(row, _)| *row).max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
    let mut stops = Vec::new();
    for tier in row.present() {
        let known = observed.tiers.iter().find(|known| known.name == tier.name)?;
        stops.extend(known.demands.iter().filter_map(|demand| stop(row, tier, known, demand)));
    }
    Growth::new(row.throughput_per_sec, &row.label, stops)
}

/// A resource in the row, as it was seen there; else as other rows predict it, if it is known how many machines there are.
fn stop(row: &TableRow, tier: &TableTier, known: &ObservedTier, demand: &TierDemand) -> Option<Stop> {
    let figure = FIGURES.iter().find(|figure| figure.resource == demand.resource);
    let seen = figure.and_then(|figure| (figure.used)(tier));
    let predicted = || Some(demand.per_request.value / tier.instances? * row.throughput_per_sec);
    let used = seen.or_else(predicted)?;
    Some(Stop {
        tier: tier.name.clone(),
        resource: demand.resource,
        detail: String::new(),
        machines: tier.count(),
        unit: demand.unit,
        used,
        capacity: figure.and_then(|figure| (figure.capacity)(tier)).or(demand.capacity)?,
        per_request: Estimate { value: used / row.throughput_per_sec, interval: None },
        seen: seen.is_some(),
        scaled: known.scaling.as_ref().map(|scaling| {
            let (few, many) = scaling.span();
            (few, many, scaling.efficiency())
        }),
    })
}
