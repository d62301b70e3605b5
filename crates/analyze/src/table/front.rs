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
    let stops = !matches!(verdict.limit, Limit::None | Limit::Generator);
    stops && at_front && alone(row).next().is_some()
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

/// Rows that one tier in front stops at the same throughput, whatever is behind it.
pub(super) fn ceiling(pairs: &[Pair<'_>]) -> Option<String> {
    let stopped: Vec<Pair<'_>> =
        pairs.iter().copied().filter(|(row, finding)| is_stopped(row, finding)).collect();
    let throughputs: Vec<f64> = stopped.iter().map(|(row, _)| row.throughput_per_sec).collect();
    let (least, most) =
        (throughputs.iter().copied().reduce(f64::min)?, throughputs.iter().copied().reduce(f64::max)?);
    let together = throughputs.len() > 1 && most <= (1.0 + TIE) * least;
    together.then(|| {
        format!(
            "{} carries about {} requests/s, whatever stands behind it ({} to {} in {} rows){}.",
            stopped[0].1.verdict.host(),
            count_text(throughputs.iter().sum::<f64>() / throughputs.len() as f64),
            count_text(least),
            count_text(most),
            throughputs.len(),
            why(&stopped)
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

/// Whether several tiers carry through what is in front of them what they carry alone: a sentence for the rows where they
/// do, and one for those where they do not.
pub(super) fn doubling(pairs: &[Pair<'_>]) -> Vec<String> {
    let counted = |row: &TableRow| alone(row).map(TableTier::count).sum::<f64>();
    let told = |(row, found): &&Pair<'_>| {
        found.verdict.limit != Limit::Generator && counted(row) >= 2.0 && together_per_sec(row) > 0.0
    };
    let rows: Vec<&TableRow> = pairs.iter().filter(told).map(|(row, _)| *row).collect();
    let (all, short): (Vec<&TableRow>, Vec<&TableRow>) =
        rows.into_iter().partition(|row| row.throughput_per_sec >= (1.0 - TIE) * together_per_sec(row));
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
