//! A front tier whose backends were measured alone: its own throughput, and the backends' throughput through it.

use super::conclusion::{Ceiling, Multiplied, MultipliedRow, RowName};
use super::row::{Pair, RowFinding, TableRow, TableTier};
use crate::findings::Limit;
use crate::groups::grouped;
use crate::hosts::utilisation::TIE;

/// The front of a row whose table does not name it.
pub(crate) const UNNAMED: &str = "what stands in front";

/// The tiers of a row that were measured alone.
pub(crate) fn alone(row: &TableRow) -> impl Iterator<Item = &TableTier> {
    row.present().filter(|tier| tier.alone_per_sec.is_some())
}

/// The sum of what these tiers carry alone; 0 where none was measured alone.
pub(crate) fn together_per_sec(row: &TableRow) -> f64 {
    alone(row).filter_map(|tier| Some(tier.alone_per_sec? * tier.count())).sum()
}

/// True if the front limits a row.
pub(super) fn is_stopped(row: &TableRow, finding: &RowFinding) -> bool {
    let verdict = &finding.verdict;
    let at_front = match &row.front {
        Some(front) => front == verdict.host(),
        None => verdict.limit == Limit::Unknown && !row.tiers.iter().any(|tier| tier.name == verdict.host()),
    };
    is_whole(&(row, finding)) && at_front && alone(row).next().is_some()
}

/// True if a row's throughput is a maximum rather than limited by the load.
pub(super) fn is_whole((_, found): &Pair<'_>) -> bool {
    !matches!(found.verdict.limit, Limit::None | Limit::Generator)
}

/// Groups rows of the same requests with the same front and the same tiers behind it that were measured alone.
pub(super) fn kinds<'a>(pairs: impl Iterator<Item = Pair<'a>>) -> Vec<Vec<Pair<'a>>> {
    let names =
        |row: &TableRow| alone(row).map(|tier| (tier.name.clone(), tier.instances)).collect::<Vec<_>>();
    grouped(pairs, |(a, _), (b, _)| (&a.group, &a.front, names(a)) == (&b.group, &b.front, names(b)))
}

/// Rows that one front limits at the same throughput, however fast the tiers behind it are: one ceiling for each kind.
pub(super) fn ceilings(pairs: &[Pair<'_>]) -> Vec<Ceiling> {
    let stopped = pairs.iter().copied().filter(|(row, finding)| is_stopped(row, finding));
    kinds(stopped).iter().filter_map(|rows| ceiling(rows)).collect()
}

fn ceiling(stopped: &[Pair<'_>]) -> Option<Ceiling> {
    let throughputs: Vec<f64> = stopped.iter().map(|(row, _)| row.throughput_per_sec).collect();
    let least_per_sec = throughputs.iter().copied().reduce(f64::min)?;
    let most_per_sec = throughputs.iter().copied().reduce(f64::max)?;
    let (row, finding) = &stopped[0];
    let limit = finding.verdict.limit;
    let is_same = stopped.iter().all(|(_, found)| found.verdict.limit == limit);
    (throughputs.len() > 1 && most_per_sec <= (1.0 + TIE) * least_per_sec).then(|| Ceiling {
        front: finding.verdict.host().to_owned(),
        mean_per_sec: throughputs.iter().sum::<f64>() / throughputs.len() as f64,
        least_per_sec,
        most_per_sec,
        rows: throughputs.len(),
        group: row.group.clone(),
        limit: is_same.then_some(limit),
    })
}

/// The name of a row, with its hold time unless the label contains it.
pub(super) fn name_of(row: &TableRow) -> RowName {
    let held_us = row.held_sec.map(|held_sec| (held_sec * 1e6).round());
    let is_in_label = |held_us: &f64| {
        let milliseconds = (held_us / 1e3).to_string();
        let mut numbers = row.label.split(|c: char| !(c.is_ascii_digit() || c == '.'));
        numbers.any(|number| number == milliseconds)
    };
    RowName { label: row.label.clone(), held_us: held_us.filter(|held_us| !is_in_label(held_us)) }
}

/// The number of machines in a row that were measured alone.
fn counted(row: &TableRow) -> f64 {
    alone(row).map(TableTier::count).sum()
}

/// Whether several tiers carry through the front what they carry alone: for each kind the rows in which they do, and the rows in which
/// they do not.
pub(super) fn doublings(pairs: &[Pair<'_>]) -> Vec<Multiplied> {
    let tells = |pair: &Pair<'_>| is_whole(pair) && counted(pair.0) >= 2.0 && together_per_sec(pair.0) > 0.0;
    kinds(pairs.iter().copied().filter(tells)).iter().flat_map(|rows| doubling(rows)).collect()
}

fn doubling(pairs: &[Pair<'_>]) -> Vec<Multiplied> {
    let (all, short): (Vec<&TableRow>, Vec<&TableRow>) = pairs
        .iter()
        .map(|(row, _)| *row)
        .partition(|row| row.throughput_per_sec >= (1.0 - TIE) * together_per_sec(row));
    [multiplied(&all, true), multiplied(&short, false)].into_iter().flatten().collect()
}

fn multiplied(rows: &[&TableRow], holds: bool) -> Option<Multiplied> {
    let first = rows.first()?;
    let one = |row: &&TableRow| MultipliedRow {
        name: name_of(row),
        of_one: row.throughput_per_sec * counted(row) / together_per_sec(row),
        per_sec: row.throughput_per_sec,
        together_per_sec: together_per_sec(row),
    };
    Some(Multiplied {
        tiers: alone(first).map(|tier| tier.name.clone()).collect(),
        front: first.front.as_deref().unwrap_or(UNNAMED).to_owned(),
        holds,
        two: rows.iter().all(|row| counted(row) == 2.0),
        rows: rows.iter().map(one).collect(),
    })
}
