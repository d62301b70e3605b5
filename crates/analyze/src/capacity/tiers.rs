//! Compares runs of the same tiers with different numbers of machines.

use plimsoll_stats::ratio;

use super::kinds::{NamedRun, by_requests};
use super::machines::is_one_size;
use crate::groups::{firsts, grouped};
use crate::hosts::tracks::GENERATOR;
use crate::load::knee::best_carrying_step;
use crate::{Confidence, Estimate, Findings, Limit, MachineSize, Resource, ResourceKind};

/// What a tier used in one run, at the step with the highest throughput of successful answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TierUse {
    pub tier: String,
    pub machines: u32,
    /// The size of each machine; `None` where it is not known, or the machines differ.
    pub size: Option<MachineSize>,
    /// CPU utilisation, the mean over the machines; `None` where it was not sampled.
    pub cpu_ratio: Option<f64>,
    /// Bits per second into the machine that received most; `None` where none was sampled.
    pub in_bits_per_sec: Option<f64>,
    /// Bits per second out of the machine that sent most; `None` where none was sampled.
    pub out_bits_per_sec: Option<f64>,
    /// Utilisation of the fullest link, in its fuller direction; `None` where no capacity is known.
    pub link_ratio: Option<f64>,
    /// The capacity of that link in that direction, in bits per second.
    pub link_bits_per_sec: Option<f64>,
}

/// How well a tier scaled out, compared with the run that has the fewest machines of it and is equal otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Efficiency {
    pub tier: String,
    pub from: u32,
    /// True if the throughput of that run is a lower bound.
    pub from_lower_bound: bool,
    /// (X_n/X_1)·(n_1/n): 1 for linear growth; `None` where both throughputs are lower bounds.
    pub ratio: Option<Estimate>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct TierRow {
    pub name: String,
    /// The number of the row's kind of requests. Only rows of one kind are compared.
    pub kind: usize,
    pub tiers: Vec<TierUse>,
    /// The highest throughput, requests per second.
    pub throughput: Estimate,
    pub connections: u32,
    /// The mean latency of that step in nanoseconds.
    pub mean_latency_ns: f64,
    pub limit: Limit,
    /// The tier that limits; the host of the limit where it belongs to no tier.
    pub limiting_tier: String,
    pub confidence: Confidence,
    /// True if the generator was the limit, so that the throughput is a lower bound.
    pub lower_bound: bool,
    /// One entry for each tier of which another run has fewer machines, all else equal.
    pub efficiencies: Vec<Efficiency>,
}

/// A tier and how many machines it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierCount {
    pub tier: String,
    pub machines: u32,
}

/// Throughput over the machines of one tier, all else equal.
#[derive(Debug, Clone, PartialEq)]
pub struct TierScaling {
    pub tier: String,
    /// The number of the rows' kind of requests.
    pub kind: usize,
    /// The other tiers with their machines; empty where there are none.
    pub others: Vec<TierCount>,
    /// Machines, requests per second, and whether the throughput is a lower bound; the fewest machines first.
    pub points: Vec<(u32, Estimate, bool)>,
}

impl TierScaling {
    /// Throughput of this many machines if each carried as much as with the fewest.
    pub fn ideal_per_sec(&self, machines: u32) -> f64 {
        self.points
            .first()
            .map_or(0.0, |(few, throughput, _)| throughput.value * f64::from(machines) / f64::from(*few))
    }
}

/// Returns one row for each run, grouped by requests. A run in which no step carried its load has none.
pub fn tier_rows(runs: &[(&str, &Findings)]) -> Vec<TierRow> {
    let kinds = by_requests(runs).into_iter().enumerate();
    let of_kind =
        |kind: usize, (name, findings): NamedRun<'_>| Some(TierRow { kind, ..row(name, findings)? });
    let rows = kinds.flat_map(|(kind, runs)| runs.into_iter().filter_map(move |run| of_kind(kind, run)));
    with_efficiencies(rows.collect())
}

fn with_efficiencies(mut rows: Vec<TierRow>) -> Vec<TierRow> {
    let found: Vec<(usize, Efficiency)> = alike(&rows).iter().flat_map(|alike| efficiencies(alike)).collect();
    for (place, efficiency) in found {
        rows[place].efficiencies.push(efficiency);
    }
    rows
}

/// Returns the scaling of each tier over rows that differ only in its number of machines. Of rows with equal counts the fastest is taken.
pub fn scalings(rows: &[TierRow]) -> Vec<TierScaling> {
    alike(rows).iter().map(|alike| scaling(alike)).filter(|scaling| scaling.points.len() > 1).collect()
}

/// A row that has a tier, with the row's index.
#[derive(Debug, Clone, Copy)]
struct RowOfTier<'a> {
    tier: &'a str,
    place: usize,
    row: &'a TierRow,
}

impl RowOfTier<'_> {
    fn machines(&self) -> u32 {
        machines_of(self.row, self.tier)
    }

    /// True if requests, machine sizes and the numbers of machines of the other tiers are the same.
    fn is_like(&self, other: &Self) -> bool {
        let (one, other_row) = (self.row, other.row);
        let size = |row: &TierRow, tier: &TierUse| {
            row.tiers.iter().find(|known| known.tier == tier.tier).and_then(|known| known.size)
        };
        (self.tier, one.kind) == (other.tier, other_row.kind)
            && others_by_name(one, self.tier) == others_by_name(other_row, self.tier)
            && one.tiers.iter().all(|tier| is_one_size(tier.size, size(other_row, tier)))
    }
}

/// Groups rows by tier so that the rows of a group differ in nothing but the number of machines of that tier.
fn alike(rows: &[TierRow]) -> Vec<Vec<RowOfTier<'_>>> {
    let names = firsts(rows.iter().flat_map(|row| &row.tiers).map(|tier| tier.tier.as_str()), |a, b| a == b);
    let of_tier = |tier| rows.iter().enumerate().map(move |(place, row)| RowOfTier { tier, place, row });
    let loaded = names.into_iter().flat_map(of_tier).filter(|row| row.machines() > 0);
    grouped(loaded, RowOfTier::is_like)
}

/// The efficiency of each row that has more machines than the smallest, with the row's index.
fn efficiencies(alike: &[RowOfTier<'_>]) -> Vec<(usize, Efficiency)> {
    let scaling = scaling(alike);
    let Some((few, base, is_bound)) = scaling.points.first().copied() else { return Vec::new() };
    let of_row = |one: &RowOfTier<'_>| {
        let machines = one.machines();
        let per = f64::from(few) / f64::from(machines);
        let ratio = ratio(one.row.throughput, base)?.times(per);
        let ratio = Some(ratio).filter(|_| !(is_bound && one.row.lower_bound));
        let tier = scaling.tier.clone();
        let efficiency = Efficiency { tier, from: few, from_lower_bound: is_bound, ratio };
        (machines > few).then_some((one.place, efficiency))
    };
    alike.iter().filter_map(of_row).collect()
}

fn scaling(alike: &[RowOfTier<'_>]) -> TierScaling {
    let RowOfTier { tier, row: first, .. } = alike[0];
    let point = |one: &RowOfTier<'_>| (one.machines(), one.row.throughput, one.row.lower_bound);
    let mut points: Vec<_> = alike.iter().map(point).collect();
    points.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.value.total_cmp(&a.1.value)));
    points.dedup_by_key(|point| point.0);
    TierScaling { tier: tier.to_owned(), kind: first.kind, others: others(first, tier), points }
}

fn machines_of(row: &TierRow, tier: &str) -> u32 {
    row.tiers.iter().find(|known| known.tier == tier).map_or(0, |known| known.machines)
}

fn others(row: &TierRow, tier: &str) -> Vec<TierCount> {
    let others = row.tiers.iter().filter(|other| other.tier != tier);
    others.map(|other| TierCount { tier: other.tier.clone(), machines: other.machines }).collect()
}

/// [`others`] sorted by name, since runs may list their hosts in different orders.
fn others_by_name(row: &TierRow, tier: &str) -> Vec<TierCount> {
    let mut others = others(row, tier);
    others.sort_by(|a, b| a.tier.cmp(&b.tier));
    others
}

/// The row of one run; `None` if no step carried its load.
pub(crate) fn row(name: &str, findings: &Findings) -> Option<TierRow> {
    let (position, step) = best_carrying_step(&findings.steps)?;
    let verdict = &findings.verdict;
    let tier_of_host = |host: &str| tier_of(findings, host).to_owned();
    Some(TierRow {
        name: name.to_owned(),
        kind: 0,
        tiers: hosts_by_tier(findings)
            .into_iter()
            .map(|(tier, hosts)| used(findings, position, tier, &hosts))
            .collect(),
        throughput: step.throughput,
        connections: step.connections,
        mean_latency_ns: step.latency.mean_ns,
        limit: verdict.limit,
        limiting_tier: tier_of_host(verdict.host()),
        confidence: verdict.confidence,
        lower_bound: findings.lower_bound,
        efficiencies: Vec::new(),
    })
}

fn tier_of<'a>(findings: &'a Findings, host: &'a str) -> &'a str {
    let named = findings.plan.hosts.iter().find(|known| known.name == host);
    named.and_then(|known| known.tier.as_deref()).unwrap_or(host)
}

/// The tiers of a run with their hosts; hosts of the plan come first, in its order.
pub(crate) fn hosts_by_tier(findings: &Findings) -> Vec<(&str, Vec<&str>)> {
    let planned = findings.plan.hosts.iter().map(|host| host.name.as_str());
    let seen = findings.resources.iter().map(|resource| resource.host.as_str());
    let hosts = firsts(planned.chain(seen).filter(|host| *host != GENERATOR), |a, b| a == b);
    let tiers = grouped(hosts, |a, b| tier_of(findings, a) == tier_of(findings, b));
    tiers.into_iter().map(|hosts| (tier_of(findings, hosts[0]), hosts)).collect()
}

fn used(findings: &Findings, position: usize, tier: &str, hosts: &[&str]) -> TierUse {
    let of = |kinds: &'static [ResourceKind]| {
        let own = findings.resources.iter().filter(|resource| hosts.contains(&resource.host.as_str()));
        own.filter(move |resource| kinds.contains(&resource.kind) && !resource.is_loopback())
    };
    let amount = |resource: &Resource| resource.used.get(position).copied().flatten();
    let shares: Vec<f64> =
        of(&[ResourceKind::Cpu]).filter_map(|resource| resource.utilisation(position)).collect();
    let links = of(&[ResourceKind::BandwidthIn, ResourceKind::BandwidthOut])
        .filter_map(|resource| Some((resource.utilisation(position)?, resource.capacity)));
    let fullest = links.max_by(|a, b| a.0.total_cmp(&b.0));
    TierUse {
        tier: tier.to_owned(),
        machines: hosts.len() as u32,
        size: MachineSize::of_hosts(&findings.resources, hosts),
        cpu_ratio: (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64),
        in_bits_per_sec: of(&[ResourceKind::BandwidthIn]).filter_map(amount).reduce(f64::max),
        out_bits_per_sec: of(&[ResourceKind::BandwidthOut]).filter_map(amount).reduce(f64::max),
        link_ratio: fullest.map(|(ratio, _)| ratio),
        link_bits_per_sec: fullest.and_then(|(_, capacity)| capacity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, counts: &[(&str, u32)], per_sec: f64) -> TierRow {
        let tier = |(tier, machines): &(&str, u32)| TierUse {
            tier: (*tier).to_owned(),
            machines: *machines,
            ..TierUse::default()
        };
        TierRow {
            name: name.to_owned(),
            kind: 0,
            tiers: counts.iter().map(tier).collect(),
            throughput: Estimate { value: per_sec, interval: Some((0.99 * per_sec, 1.01 * per_sec)) },
            connections: 64,
            mean_latency_ns: 1e6,
            limit: Limit::Cpu,
            limiting_tier: String::new(),
            confidence: Confidence::Measured,
            lower_bound: false,
            efficiencies: Vec::new(),
        }
    }

    #[test]
    fn rows_that_differ_in_one_tier_are_one_scaling_and_others_are_not() {
        let rows = [
            row("a", &[("web", 1), ("api", 1)], 1000.0),
            row("b", &[("web", 1), ("api", 3)], 2700.0),
            row("c", &[("web", 1), ("api", 2)], 1900.0),
            row("pinned", &[("web", 1), ("api", 2)], 1950.0),
            row("d", &[("web", 2), ("api", 4)], 3800.0),
        ];
        let scalings = scalings(&rows);
        assert_eq!(scalings.len(), 1);
        let points: Vec<(u32, f64)> = scalings[0].points.iter().map(|(n, x, _)| (*n, x.value)).collect();
        assert_eq!(points, [(1, 1000.0), (2, 1950.0), (3, 2700.0)]);
        let web = TierCount { tier: "web".to_owned(), machines: 1 };
        assert_eq!((&*scalings[0].others, scalings[0].ideal_per_sec(3)), (&[web][..], 3000.0));
    }

    #[test]
    fn runs_that_list_their_hosts_in_another_order_are_one_scaling() {
        let rows = [
            row("one", &[("web", 1), ("api", 1), ("db", 1)], 1000.0),
            row("two", &[("db", 1), ("api", 2), ("web", 1)], 1900.0),
        ];
        let found = scalings(&rows);
        assert_eq!(found.len(), 1, "{found:?}");
        let names: Vec<&str> = found[0].others.iter().map(|other| other.tier.as_str()).collect();
        assert_eq!((found[0].points.len(), names), (2, vec!["web", "db"]), "named as the first run does");
    }

    #[test]
    fn rows_of_other_requests_are_no_scaling() {
        let one = row("a", &[("api", 1)], 1000.0);
        let two = TierRow { kind: 1, ..row("b", &[("api", 2)], 1900.0) };
        assert_eq!(scalings(&[one.clone(), two.clone()]), []);
        assert_eq!(scalings(&[one, TierRow { kind: 0, ..two }]).len(), 1);
    }

    #[test]
    fn how_well_a_tier_scaled_knows_whether_its_base_is_a_lower_bound() {
        let one = TierRow { lower_bound: true, ..row("a", &[("api", 1)], 1000.0) };
        let two = row("b", &[("api", 2)], 1900.0);
        let rows = [one, two];
        let found = efficiencies(&alike(&rows)[0]);
        assert_eq!(found.len(), 1);
        let (place, efficiency) = &found[0];
        assert_eq!((*place, efficiency.from, efficiency.from_lower_bound), (1, 1, true));
        assert!(efficiency.ratio.is_some_and(|ratio| ratio.value == 0.95), "{efficiency:?}");
        let [one, two] = rows;
        let both = [one, TierRow { lower_bound: true, ..two }];
        assert_eq!(efficiencies(&alike(&both)[0])[0].1.ratio, None, "the ratio of two lower bounds is none");
    }

    #[test]
    fn a_row_with_more_machines_of_two_tiers_keeps_how_each_scaled() {
        let runs = [
            row("a", &[("web", 1), ("api", 1)], 1000.0),
            row("b", &[("web", 1), ("api", 2)], 1900.0),
            row("c", &[("web", 2), ("api", 1)], 1000.0),
            row("d", &[("web", 2), ("api", 2)], 1900.0),
        ];
        let found = with_efficiencies(runs.to_vec());
        let ratios = |row: &TierRow| -> Vec<(String, f64)> {
            row.efficiencies.iter().map(|one| (one.tier.clone(), one.ratio.unwrap().value)).collect()
        };
        assert!(found[0].efficiencies.is_empty());
        assert_eq!(ratios(&found[1]), [("api".to_owned(), 0.95)]);
        assert_eq!(ratios(&found[3]), [("web".to_owned(), 0.5), ("api".to_owned(), 0.95)]);
    }

    #[test]
    fn rows_on_machines_of_another_size_are_no_scaling() {
        let sized = |name: &str, cores: [f64; 2], machines: u32, per_sec: f64| {
            let mut row = row(name, &[("web", 1), ("api", machines)], per_sec);
            for (tier, cores) in row.tiers.iter_mut().zip(cores) {
                tier.size = Some(MachineSize { cores: Some(cores), ..MachineSize::default() });
            }
            row
        };
        let rows = [
            sized("one", [1.0, 0.5], 1, 1_000.0),
            sized("two", [1.0, 0.5], 2, 1_900.0),
            sized("two large", [1.0, 1.0], 2, 3_700.0),
            sized("two behind a larger proxy", [2.0, 0.5], 2, 1_950.0),
        ];
        let found = scalings(&rows);
        assert_eq!(found.len(), 1, "{found:?}");
        let points: Vec<(u32, f64)> = found[0].points.iter().map(|(n, x, _)| (*n, x.value)).collect();
        assert_eq!(points, [(1, 1_000.0), (2, 1_900.0)]);
    }
}
