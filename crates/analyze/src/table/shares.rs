//! How much of each resource a row uses.

use super::row::{TableRow, TableTier};
use crate::findings::{FigureKind, Limit, TierFigure, TierUsed};
use crate::hosts::utilisation::BUSY;

/// A tier that was seen to use this part of its CPU or more was at its end somewhere in the table.
const MIN_FULL: f64 = 0.8;

/// One resource of one tier in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    /// What the row has of it, 1 for all of it.
    pub(super) used: TierUsed,
    /// Against what it was ever observed to use.
    pub(super) share: f64,
}

impl Share {
    pub(super) fn limit(&self) -> Limit {
        match self.used.kind() {
            FigureKind::Cpu => Limit::Cpu,
            FigureKind::Core => Limit::Thread,
            FigureKind::LinkIn | FigureKind::LinkOut | FigureKind::LinkBoth => Limit::Bandwidth,
        }
    }

    pub(super) fn tier(&self) -> &str {
        &self.used.figure.tier
    }

    /// True if the row has it, and nearly all was used.
    pub(super) fn is_busy(&self) -> bool {
        self.used.observed && self.share >= BUSY
    }
}

fn share(resource: FigureKind, tier: &TableTier, (used, observed): (f64, bool), most: f64) -> Share {
    let figure = TierFigure { resource, tier: tier.name.clone() };
    Share { used: TierUsed { figure, share: used, observed }, share: used / most }
}

/// The most of its CPU that a tier can use: all, or the most it was seen to use in any row, if that is 80 % or more. Load
/// shared out unevenly over machines, and means over time, keep a tier that is at its end below 100 %.
fn full(rows: &[&TableRow], name: &str, of: fn(&TableTier) -> Option<f64>) -> f64 {
    let tiers = rows.iter().flat_map(|row| row.present()).filter(|tier| tier.name == name);
    let most = tiers.filter_map(of).fold(0.0, f64::max);
    if most >= MIN_FULL { most } else { 1.0 }
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

/// What the row has of a tier's processors, or what a request costs in other rows predicts.
fn processor(
    rows: &[&TableRow],
    row: &TableRow,
    tier: &TableTier,
    (of, resource): (fn(&TableTier) -> Option<f64>, FigureKind),
) -> Option<Share> {
    let observed = of(tier);
    let predicted = || Some(cost(rows, row, &tier.name, of)? * row.throughput_per_sec / tier.instances?);
    let used = observed.or_else(predicted)?;
    Some(share(resource, tier, (used, observed.is_some()), full(rows, &tier.name, of)))
}

fn both_ways(tier: &TableTier) -> Option<f64> {
    tier.in_bits_per_sec.zip(tier.out_bits_per_sec).map(|(into, out)| into + out)
}

/// One way of a link: what is used of it, and what it is said to carry.
struct Way {
    used: fn(&TableTier) -> Option<f64>,
    capacity: fn(&TableTier) -> Option<f64>,
    resource: FigureKind,
}

const WAYS: [Way; 3] = [
    Way {
        used: |tier| tier.in_bits_per_sec,
        capacity: |tier| tier.link_bits_per_sec,
        resource: FigureKind::LinkIn,
    },
    Way {
        used: |tier| tier.out_bits_per_sec,
        capacity: |tier| tier.link_bits_per_sec,
        resource: FigureKind::LinkOut,
    },
    Way { used: both_ways, capacity: |tier| tier.link_both_bits_per_sec, resource: FigureKind::LinkBoth },
];

/// The links of a tier. One that was observed to carry more than it is said to carries that much.
fn links(rows: &[&TableRow], tier: &TableTier) -> Vec<Share> {
    let of_way = |way: &Way| {
        let (used, capacity) = ((way.used)(tier)?, (way.capacity)(tier)?);
        let alike = rows.iter().flat_map(|row| row.present()).filter(|other| other.name == tier.name);
        let most = alike.filter_map(way.used).fold(capacity, f64::max);
        Some(share(way.resource, tier, (used / capacity, true), most / capacity))
    };
    WAYS.iter().filter_map(of_way).collect()
}

/// What a row uses of everything that the table tells of, the fullest first.
pub(super) fn of(rows: &[&TableRow], row: &TableRow) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for tier in row.present() {
        shares.extend(processor(rows, row, tier, (|tier| tier.cpu_ratio, FigureKind::Cpu)));
        shares.extend(processor(rows, row, tier, (|tier| tier.core_ratio, FigureKind::Core)));
        shares.extend(links(rows, tier));
    }
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}
