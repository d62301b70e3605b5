//! A tier in front of others that were measured alone: what it carries, and what the others carry through it.

use plimsoll_units::{count_text, duration_text};

use super::{Pair, RowFinding, TableRow, TableTier};
use crate::Limit;
use crate::verdict::{TIE, joined};

/// What a row is behind when the table does not name it.
pub(super) const UNNAMED: &str = "what stands in front";

/// The tiers of a row that were measured alone.
pub(super) fn alone(row: &TableRow) -> impl Iterator<Item = &TableTier> {
    row.present().filter(|tier| tier.alone_per_sec.is_some())
}

/// What these carry together; 0 where none was measured alone.
pub(super) fn together_per_sec(row: &TableRow) -> f64 {
    alone(row).filter_map(|tier| Some(tier.alone_per_sec? * tier.count())).sum()
}

/// True if what passes requests on is what limits a row.
pub(super) fn is_stopped(row: &TableRow, finding: &RowFinding) -> bool {
    let verdict = &finding.verdict;
    let at_front = match &row.front {
        Some(front) => front == verdict.host(),
        None => verdict.limit == Limit::Unknown && !row.tiers.iter().any(|tier| tier.name == verdict.place),
    };
    is_whole(&(row, finding)) && at_front && alone(row).next().is_some()
}

/// True if a row's throughput is what it can be, and not what the load was enough for.
pub(super) fn is_whole((_, found): &Pair<'_>) -> bool {
    !matches!(found.verdict.limit, Limit::None | Limit::Generator)
}

/// Rows of the same requests through the same front, with the same tiers behind it that were measured alone.
pub(super) fn kinds<'a>(pairs: impl Iterator<Item = Pair<'a>>) -> Vec<Vec<Pair<'a>>> {
    let names =
        |row: &TableRow| alone(row).map(|tier| (tier.name.clone(), tier.instances)).collect::<Vec<_>>();
    let mut kinds: Vec<Vec<Pair<'a>>> = Vec::new();
    for pair in pairs {
        let same = |first: &TableRow| {
            (&first.group, &first.front, names(first)) == (&pair.0.group, &pair.0.front, names(pair.0))
        };
        match kinds.iter_mut().find(|kind| same(kind[0].0)) {
            Some(kind) => kind.push(pair),
            None => kinds.push(vec![pair]),
        }
    }
    kinds
}

/// What is used up at the front, where all rows say the same.
fn why(rows: &[Pair<'_>]) -> &'static str {
    let limit = rows[0].1.verdict.limit;
    if rows.iter().any(|(_, found)| found.verdict.limit != limit) {
        return "";
    }
    match limit {
        Limit::Cpu => ": its CPU is full",
        Limit::Thread => ": one of its threads is full",
        Limit::Quota => ": its quota of CPU is used up",
        Limit::Bandwidth => ": its link is full",
        Limit::Packets => ": its link takes no more packets",
        _ => "",
    }
}

/// Rows that one tier in front stops at the same throughput, however fast what is behind it is: a sentence for each kind.
pub(super) fn ceilings(pairs: &[Pair<'_>]) -> Vec<String> {
    let stopped = pairs.iter().copied().filter(|(row, finding)| is_stopped(row, finding));
    kinds(stopped).iter().filter_map(|rows| ceiling(rows)).collect()
}

fn ceiling(stopped: &[Pair<'_>]) -> Option<String> {
    let throughputs: Vec<f64> = stopped.iter().map(|(row, _)| row.throughput_per_sec).collect();
    let (least, most) =
        (throughputs.iter().copied().reduce(f64::min)?, throughputs.iter().copied().reduce(f64::max)?);
    let together = throughputs.len() > 1 && most <= (1.0 + TIE) * least;
    let group = stopped[0].0.group.as_ref().map_or_else(String::new, |group| format!(" of {group}"));
    together.then(|| {
        format!(
            "{} carries about {} requests/s, whatever stands behind it ({} to {} in {} rows{group}){}.",
            stopped[0].1.verdict.host(),
            count_text(throughputs.iter().sum::<f64>() / throughputs.len() as f64),
            count_text(least),
            count_text(most),
            throughputs.len(),
            why(stopped)
        )
    })
}

/// A row with its time, unless its name has it.
pub(super) fn name_of(row: &TableRow) -> String {
    let Some(held_sec) = row.held_sec else { return row.label.clone() };
    let held_us = (held_sec * 1e6).round();
    let milliseconds = (held_us / 1e3).to_string();
    let mut numbers = row.label.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    match held_us {
        _ if numbers.any(|number| number == milliseconds) => row.label.clone(),
        0.0 => format!("{} (not held)", row.label),
        _ => format!("{} ({})", row.label, duration_text(held_us * 1e3)),
    }
}

/// How many of the tiers of a row were measured alone.
fn counted(row: &TableRow) -> f64 {
    alone(row).map(TableTier::count).sum()
}

/// Whether several tiers carry through what is in front of them what they carry alone: for each kind a sentence for the rows
/// where they do, and one for those where they do not.
pub(super) fn doublings(pairs: &[Pair<'_>]) -> Vec<String> {
    let told = |pair: &Pair<'_>| is_whole(pair) && counted(pair.0) >= 2.0 && together_per_sec(pair.0) > 0.0;
    kinds(pairs.iter().copied().filter(told)).iter().flat_map(|rows| doubling(rows)).collect()
}

fn doubling(pairs: &[Pair<'_>]) -> Vec<String> {
    let (all, short): (Vec<&TableRow>, Vec<&TableRow>) = pairs
        .iter()
        .map(|(row, _)| *row)
        .partition(|row| row.throughput_per_sec >= (1.0 - TIE) * together_per_sec(row));
    let of_one = |row: &TableRow| row.throughput_per_sec * counted(row) / together_per_sec(row);
    let doubled = |row: &&TableRow| format!("{} (×{:.2} of one)", name_of(row), of_one(row));
    let fallen = |row: &&TableRow| {
        format!(
            "{} (×{:.2} of one: {} requests/s, where the sum is {})",
            name_of(row),
            of_one(row),
            count_text(row.throughput_per_sec),
            count_text(together_per_sec(row))
        )
    };
    let sentence = |rows: &[&TableRow], not: &str, each: &dyn Fn(&&TableRow) -> String| {
        let first = rows.first()?;
        let names: Vec<String> = alone(first).map(|tier| tier.name.clone()).collect();
        let through = first.front.as_deref().unwrap_or(UNNAMED);
        let list = rows.iter().map(each).collect::<Vec<_>>().join(", ");
        let growth = match rows.iter().all(|row| counted(row) == 2.0) {
            true => "double what one carries",
            false => "multiply what one carries by their number",
        };
        Some(format!("{} through {through} {not}{growth}: {list}.", joined(&names)))
    };
    [sentence(&all, "", &doubled), sentence(&short, "do not ", &fallen)].into_iter().flatten().collect()
}
