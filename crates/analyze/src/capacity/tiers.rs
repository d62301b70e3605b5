//! Runs of the same tiers with other numbers of machines, side by side.

use plimsoll_stats::ratio;

use crate::hosts::tracks::GENERATOR;
use crate::{Confidence, Estimate, Findings, Limit, Resource, ResourceKind, StepSummary};

/// What a tier used in one run, at the step of the highest throughput.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TierUse {
    /// Its name.
    pub tier: String,
    pub machines: u32,
    /// The share of their CPU that was used, the mean over the machines; `None` where it was not seen.
    pub cpu_ratio: Option<f64>,
    /// Bits per second into each machine, the most of any; `None` where it was not seen.
    pub in_bits_per_sec: Option<f64>,
    /// Bits per second out of each machine, the most of any.
    pub out_bits_per_sec: Option<f64>,
    /// The share of its link that is used, of the fuller way and the fullest machine; `None` where its capacity is not known.
    pub link_ratio: Option<f64>,
    /// What that link carries that way, in bits per second.
    pub link_bits_per_sec: Option<f64>,
}

/// How well a tier scaled out, against the run with the fewest machines of it and all else equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Efficiency {
    pub tier: String,
    /// The fewest machines of it.
    pub from: u32,
    /// (X_n/X_1)·(n_1/n): 1 for growth in proportion.
    pub ratio: Estimate,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct TierRow {
    /// What it is called.
    pub name: String,
    pub tiers: Vec<TierUse>,
    /// The highest throughput, requests per second.
    pub throughput: Estimate,
    /// Connections of that step.
    pub connections: u32,
    /// The mean response time of that step in nanoseconds.
    pub mean_latency_ns: f64,
    /// What limits.
    pub limit: Limit,
    /// The tier that limits, or the place where that is of no tier.
    pub limiting_tier: String,
    /// How well that is founded.
    pub confidence: Confidence,
    /// True if the generator was the limit, so that the throughput is a lower bound.
    pub lower_bound: bool,
    /// How well the tier that differs scaled; `None` for the run with the fewest machines, and where none differs.
    pub efficiency: Option<Efficiency>,
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
    /// The tier that differs.
    pub tier: String,
    /// The others with their machines; empty where there are none.
    pub others: Vec<TierCount>,
    /// Machines, requests per second and whether that is a lower bound, the fewest machines first.
    pub points: Vec<(u32, Estimate, bool)>,
}

impl TierScaling {
    /// What so many machines would make if each made as much as with the fewest.
    pub fn ideal_per_sec(&self, machines: u32) -> f64 {
        self.points
            .first()
            .map_or(0.0, |(few, throughput, _)| throughput.value * f64::from(machines) / f64::from(*few))
    }
}

/// A row of each run, in their order; runs without an answer have none.
pub fn tier_rows(runs: &[(&str, &Findings)]) -> Vec<TierRow> {
    let mut rows: Vec<TierRow> = runs.iter().filter_map(|(name, findings)| row(name, findings)).collect();
    for scaling in scalings(&rows) {
        let Some((few, base, _)) = scaling.points.first().cloned() else { continue };
        for row in rows.iter_mut().filter(|row| others(row, &scaling.tier) == scaling.others) {
            let machines = machines_of(row, &scaling.tier);
            let per = f64::from(few) / f64::from(machines.max(1));
            let scaled = ratio(row.throughput, base).map(|ratio| Estimate {
                value: ratio.value * per,
                interval: ratio.interval.map(|(low, high)| (low * per, high * per)),
            });
            if let Some(ratio) = scaled.filter(|_| machines > few) {
                row.efficiency = Some(Efficiency { tier: scaling.tier.clone(), from: few, ratio });
            }
        }
    }
    rows
}

/// Where rows differ in the machines of one tier alone. Of several rows of one count the fastest is taken.
pub fn scalings(rows: &[TierRow]) -> Vec<TierScaling> {
    let mut names: Vec<&str> = Vec::new();
    for tier in rows.iter().flat_map(|row| &row.tiers) {
        if !names.contains(&tier.tier.as_str()) {
            names.push(&tier.tier);
        }
    }
    let mut found: Vec<TierScaling> = Vec::new();
    for (name, row) in names.iter().flat_map(|name| rows.iter().map(move |row| (*name, row))) {
        let machines = machines_of(row, name);
        if machines == 0 {
            continue;
        }
        let others = others(row, name);
        let known = found.iter_mut().find(|scaling| scaling.tier == name && scaling.others == others);
        let point = (machines, row.throughput, row.lower_bound);
        match known {
            Some(scaling) => scaling.points.push(point),
            None => found.push(TierScaling { tier: name.to_owned(), others, points: vec![point] }),
        }
    }
    for scaling in &mut found {
        scaling.points.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.value.total_cmp(&a.1.value)));
        scaling.points.dedup_by_key(|point| point.0);
    }
    found.retain(|scaling| scaling.points.len() > 1);
    found
}

fn machines_of(row: &TierRow, tier: &str) -> u32 {
    row.tiers.iter().find(|known| known.tier == tier).map_or(0, |known| known.machines)
}

fn others(row: &TierRow, tier: &str) -> Vec<TierCount> {
    let others = row.tiers.iter().filter(|other| other.tier != tier);
    others.map(|other| TierCount { tier: other.tier.clone(), machines: other.machines }).collect()
}

/// The step of the highest throughput, and its position; `None` if nothing was answered.
pub(crate) fn best_step(findings: &Findings) -> Option<(usize, &StepSummary)> {
    let steps = findings.steps.iter().enumerate().filter(|(_, step)| step.throughput.value > 0.0);
    steps.max_by(|a, b| a.1.throughput.value.total_cmp(&b.1.throughput.value))
}

/// The row of one run; `None` if nothing was answered.
pub(crate) fn row(name: &str, findings: &Findings) -> Option<TierRow> {
    let (position, step) = best_step(findings)?;
    let verdict = &findings.verdict;
    let tier_of_host = |host: &str| tier_of(findings, host).to_owned();
    Some(TierRow {
        name: name.to_owned(),
        tiers: uses(findings, position),
        throughput: step.throughput,
        connections: step.connections,
        mean_latency_ns: step.latency.mean_ns,
        limit: verdict.limit,
        limiting_tier: tier_of_host(verdict.host()),
        confidence: verdict.confidence,
        lower_bound: findings.lower_bound,
        efficiency: None,
    })
}

fn tier_of<'a>(findings: &'a Findings, host: &'a str) -> &'a str {
    let named = findings.plan.hosts.iter().find(|known| known.name == host);
    named.and_then(|known| known.tier.as_deref()).unwrap_or(host)
}

fn uses(findings: &Findings, position: usize) -> Vec<TierUse> {
    let planned = findings.plan.hosts.iter().map(|host| host.name.as_str());
    let seen = findings.resources.iter().map(|resource| resource.host.as_str());
    let mut tiers: Vec<(TierUse, Vec<&str>)> = Vec::new();
    for host in planned.chain(seen).filter(|host| *host != GENERATOR) {
        let tier = tier_of(findings, host);
        match tiers.iter_mut().find(|(known, _)| known.tier == tier) {
            Some((_, hosts)) if hosts.contains(&host) => {}
            Some((_, hosts)) => hosts.push(host),
            None => tiers.push((TierUse { tier: tier.to_owned(), ..TierUse::default() }, vec![host])),
        }
    }
    tiers.into_iter().map(|(tier, hosts)| used(findings, position, tier, &hosts)).collect()
}

fn used(findings: &Findings, position: usize, tier: TierUse, hosts: &[&str]) -> TierUse {
    let of = |kinds: &'static [ResourceKind]| {
        let own = findings.resources.iter().filter(|resource| hosts.contains(&resource.host.as_str()));
        own.filter(move |resource| kinds.contains(&resource.kind) && resource.detail != "lo")
    };
    let amount = |resource: &Resource| resource.used.get(position).copied().flatten();
    let shares: Vec<f64> =
        of(&[ResourceKind::Cpu]).filter_map(|resource| resource.utilisation(position)).collect();
    let links = of(&[ResourceKind::BandwidthIn, ResourceKind::BandwidthOut])
        .filter_map(|resource| Some((resource.utilisation(position)?, resource.capacity)));
    let fullest = links.max_by(|a, b| a.0.total_cmp(&b.0));
    TierUse {
        machines: hosts.len() as u32,
        cpu_ratio: (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64),
        in_bits_per_sec: of(&[ResourceKind::BandwidthIn]).filter_map(amount).reduce(f64::max),
        out_bits_per_sec: of(&[ResourceKind::BandwidthOut]).filter_map(amount).reduce(f64::max),
        link_ratio: fullest.map(|(ratio, _)| ratio),
        link_bits_per_sec: fullest.and_then(|(_, capacity)| capacity),
        ..tier
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
            tiers: counts.iter().map(tier).collect(),
            throughput: Estimate { value: per_sec, interval: Some((0.99 * per_sec, 1.01 * per_sec)) },
            connections: 64,
            mean_latency_ns: 1e6,
            limit: Limit::Cpu,
            limiting_tier: String::new(),
            confidence: Confidence::Measured,
            lower_bound: false,
            efficiency: None,
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
}
