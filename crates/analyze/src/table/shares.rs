//! How much of each resource a row uses.

use super::{TableRow, TableTier};
use crate::Limit;

/// A tier that was seen to use this part of its CPU or more was at its end somewhere in the table.
const FULL_LEAST: f64 = 0.8;

/// One resource of one tier in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    pub(super) limit: Limit,
    pub(super) tier: String,
    /// What it is, in words: `CPU of tomcat`.
    pub(super) what: String,
    /// As written down; 1 for all of it.
    pub(super) used: f64,
    /// Against what it was ever seen to use.
    pub(super) share: f64,
    /// False where the row does not have it, and what a request costs in other rows tells it.
    pub(super) seen: bool,
}

/// The most of its CPU that a tier can use: all, or the most it was seen to use in any row, if that is 80 % or more. Load
/// shared out unevenly over machines, and means over time, keep a tier that is at its end below 100 %.
fn full(rows: &[&TableRow], name: &str, of: fn(&TableTier) -> Option<f64>) -> f64 {
    let tiers = rows.iter().flat_map(|row| row.present()).filter(|tier| tier.name == name);
    let most = tiers.filter_map(of).fold(0.0, f64::max);
    if most >= FULL_LEAST { most } else { 1.0 }
}

/// What a request costs a tier in all its machines together: the median over the rows of the same requests.
fn cost(rows: &[&TableRow], like: &TableRow, name: &str, of: fn(&TableTier) -> Option<f64>) -> Option<f64> {
    let mut costs: Vec<f64> = rows
        .iter()
        .filter(|row| row.group == like.group)
        .flat_map(|row| row.present().map(move |tier| (row, tier)))
        .filter(|(_, tier)| tier.name == name)
        .filter_map(|(row, tier)| Some(of(tier)? * tier.count() / row.throughput_per_sec))
        .collect();
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied()
}

fn processor(
    rows: &[&TableRow],
    row: &TableRow,
    tier: &TableTier,
    of: fn(&TableTier) -> Option<f64>,
    limit: Limit,
) -> Option<Share> {
    let seen = of(tier);
    let foretold = || Some(cost(rows, row, &tier.name, of)? * row.throughput_per_sec / tier.instances?);
    let used = seen.or_else(foretold)?;
    let what = if limit == Limit::Thread { "core of" } else { "CPU of" };
    Some(Share {
        limit,
        tier: tier.name.clone(),
        what: format!("{what} {}", tier.name),
        used,
        share: used / full(rows, &tier.name, of),
        seen: seen.is_some(),
    })
}

fn both_ways(tier: &TableTier) -> Option<f64> {
    tier.in_bits_per_sec.zip(tier.out_bits_per_sec).map(|(into, out)| into + out)
}

/// One way of a link: what is used of it, what it is said to carry, and its name.
struct Way {
    used: fn(&TableTier) -> Option<f64>,
    capacity: fn(&TableTier) -> Option<f64>,
    name: &'static str,
}

const WAYS: [Way; 3] = [
    Way { used: |tier| tier.in_bits_per_sec, capacity: |tier| tier.link_bits_per_sec, name: "into" },
    Way { used: |tier| tier.out_bits_per_sec, capacity: |tier| tier.link_bits_per_sec, name: "out of" },
    Way { used: both_ways, capacity: |tier| tier.link_both_bits_per_sec, name: "into and out of" },
];

/// The links of a tier. One that was seen to carry more than it is said to carries that much.
fn links(rows: &[&TableRow], tier: &TableTier) -> Vec<Share> {
    let share = |way: &Way| {
        let (used, capacity) = ((way.used)(tier)?, (way.capacity)(tier)?);
        let alike = rows.iter().flat_map(|row| row.present()).filter(|other| other.name == tier.name);
        let most = alike.filter_map(way.used).fold(capacity, f64::max);
        let what = format!("bandwidth {} {}", way.name, tier.name);
        Some(Share {
            limit: Limit::Bandwidth,
            tier: tier.name.clone(),
            what,
            used: used / capacity,
            share: used / most,
            seen: true,
        })
    };
    WAYS.iter().filter_map(share).collect()
}

/// What a row uses of everything that the table tells of, the fullest first.
pub(super) fn of(rows: &[&TableRow], row: &TableRow) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for tier in row.present() {
        shares.extend(processor(rows, row, tier, |tier| tier.cpu_ratio, Limit::Cpu));
        shares.extend(processor(rows, row, tier, |tier| tier.core_ratio, Limit::Thread));
        shares.extend(links(rows, tier));
    }
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}
