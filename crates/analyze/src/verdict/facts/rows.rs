//! What other rows of a table tell of a row.

use crate::TableRow;
use crate::findings::Estimate;
use crate::hosts::utilisation::TIE;
use crate::table::{alone, apart, together_per_sec};
use crate::verdict::context::RuleContext;

/// The tiers of a row that were measured alone.
pub(crate) struct Alone {
    pub(crate) tiers: Vec<String>,
    /// What they carry alone, together.
    pub(crate) together_per_sec: f64,
}

impl Alone {
    /// `None` where none was measured alone.
    pub(crate) fn new(row: &TableRow) -> Option<Self> {
        let tiers = alone(row).map(|tier| tier.name.clone()).collect();
        let together_per_sec = together_per_sec(row);
        (together_per_sec > 0.0).then_some(Self { tiers, together_per_sec })
    }
}

/// Requests that a tier holds at once in a row: what it carries, alone if that is known, times the time it holds each.
fn held_at_once(row: &TableRow, name: &str) -> Option<f64> {
    let tier = row.tiers.iter().find(|tier| tier.name == name);
    let carried = match tier {
        Some(tier) => tier.alone_per_sec.unwrap_or(row.throughput_per_sec / tier.count()),
        None => row.throughput_per_sec,
    };
    row.held_sec.filter(|held_sec| *held_sec > 0.0).map(|held_sec| carried * held_sec)
}

/// The number of workers of a tier, if another row with a time that differs by a quarter or more gives the same
/// within 5 %. Each worker is held a little longer than was ordered, so that the largest product is nearest to the truth.
pub(crate) fn held_workers(ctx: &RuleContext<'_>, row: &TableRow, name: &str) -> Option<Estimate> {
    let here = held_at_once(row, name)?;
    let is_other_time =
        |other: &&&TableRow| other.held_sec.zip(row.held_sec).is_some_and(|(a, b)| apart(a, b));
    let others = ctx.obs.rows.iter().filter(is_other_time).filter_map(|other| held_at_once(other, name));
    let same: Vec<f64> = others.filter(|held| (held / here - 1.0).abs() <= TIE).collect();
    // As much as there are connections is the load, and no pool.
    if same.is_empty() || here >= (1.0 - TIE) * row.connections.unwrap_or(f64::INFINITY) {
        return None;
    }
    let most = same.iter().copied().fold(here, f64::max);
    let least = same.iter().copied().fold(here, f64::min);
    Some(Estimate { value: most, interval: Some((least, (1.0 + TIE) * most)) })
}
