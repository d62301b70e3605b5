//! What other rows of a table show about a row.

use plimsoll_stats::line;

use crate::TableRow;
use crate::findings::{Estimate, LoadEffect};
use crate::hosts::utilisation::TIE;
use crate::table::{alone, apart, load_effect, together_per_sec};
use crate::verdict::context::RuleContext;

/// How far the time between two answers may be from a line: a hold takes some time itself, which no hold does not.
const OFF_LINE: f64 = 0.15;

/// The tiers of a row that were measured alone.
pub(crate) struct Alone {
    pub(crate) tiers: Vec<String>,
    /// The throughput that they carry alone, in total.
    pub(crate) together_per_sec: f64,
}

impl Alone {
    /// `None` if no tier was measured alone.
    pub(crate) fn new(row: &TableRow) -> Option<Self> {
        let tiers = alone(row).map(|tier| tier.name.clone()).collect();
        let together_per_sec = together_per_sec(row);
        (together_per_sec > 0.0).then_some(Self { tiers, together_per_sec })
    }
}

/// Requests that a tier holds at once in a row: its throughput (measured alone if known) times the time that it holds each.
fn held_at_once(row: &TableRow, name: &str) -> Option<f64> {
    let tier = row.tiers.iter().find(|tier| tier.name == name);
    let carried = match tier {
        Some(tier) => tier.alone_per_sec.unwrap_or(row.throughput_per_sec / tier.count()),
        None => row.throughput_per_sec,
    };
    row.held_sec.filter(|held_sec| *held_sec > 0.0).map(|held_sec| carried * held_sec)
}

/// The number of workers of a tier, if another row whose hold time differs by a quarter or more gives the same
/// within 5 %. Each worker is held a little longer than was asked for, so that the largest product is nearest to the truth.
pub(crate) fn held_workers(ctx: &RuleContext<'_>, row: &TableRow, name: &str) -> Option<Estimate> {
    let here = held_at_once(row, name)?;
    let is_other_time =
        |other: &&&TableRow| other.held_sec.zip(row.held_sec).is_some_and(|(a, b)| apart(a, b));
    let others = ctx.obs.rows.iter().filter(is_other_time).filter_map(|other| held_at_once(other, name));
    let same: Vec<f64> = others.filter(|held| (held / here - 1.0).abs() <= TIE).collect();
    // A number as high as the connections is the load, and no pool.
    if same.is_empty() || here >= (1.0 - TIE) * row.connections.unwrap_or(f64::INFINITY) {
        return None;
    }
    let most = same.iter().copied().fold(here, f64::max);
    let least = same.iter().copied().fold(here, f64::min);
    Some(Estimate { value: most, interval: Some((least, (1.0 + TIE) * most)) })
}

/// The time between two answers as a line over the time h of a hold: 1/X = (s + k·h)/K, where each of K workers serves a request
/// for s and is held k times. More load must give no more throughput: otherwise K is the number of clients.
pub(crate) struct HeldLine {
    /// s/K, in seconds.
    pub(crate) least_sec: f64,
    /// K/k; a table does not give k.
    pub(crate) per_hold: f64,
}

impl HeldLine {
    /// `None` unless three or more hold times lie on a line.
    pub(crate) fn new(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Self> {
        let is_same = |other: &TableRow| {
            let other = TableRow { held_sec: row.held_sec, ..other.clone() };
            row.is_same_target(&other) && row.connections == other.connections
        };
        let rows = || ctx.obs.rows.iter().copied().filter(|other| is_same(other));
        let effects: Vec<LoadEffect> = rows().map(|row| load_effect(ctx.obs.rows, row)).collect();
        let is_tried = effects.iter().any(|effect| !matches!(effect, LoadEffect::Untried));
        let grows = |effect: &LoadEffect| {
            matches!(effect, LoadEffect::MoreGaveMore { .. } | LoadEffect::StillGrows { .. })
        };
        if !is_tried || effects.iter().any(grows) {
            return None;
        }
        let points: Vec<(f64, f64)> =
            rows().filter_map(|row| Some((row.held_sec?, 1.0 / row.throughput_per_sec))).collect();
        let (low, high) = ends(points.iter().map(|point| point.0))?;
        let line = line::fit(&points).filter(|_| points.len() > 2 && apart(low, high))?;
        let is_on = |(at, sec): &(f64, f64)| (line.at(*at) / sec - 1.0).abs() <= OFF_LINE;
        let is_line = line.slope > 0.0 && line.intercept > 0.0 && points.iter().all(is_on);
        is_line.then(|| Self { least_sec: line.intercept, per_hold: 1.0 / line.slope })
    }
}

fn ends(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    Some((values.clone().reduce(f64::min)?, values.reduce(f64::max)?))
}
