//! What was found, as a table.

use plimsoll_analyze::{RowRun, TierUse};
use plimsoll_plan::{Expect, Expected};
use plimsoll_units::{count_text, duration_text, share_text, significant};

use super::found::{Judged, Named};

/// The columns, of which the last is not padded.
const HEADER: [&str; 8] = ["name", "QPS", "conns", "p99", "limit", "where", "confidence", "expected"];

/// The columns of numbers, which stand to the right.
const NUMBERS: [usize; 3] = [1, 2, 3];

/// The columns of a table of rows: those in between tell what was moved and used.
const ROW_HEADER: [&str; 11] =
    ["name", "QPS", "conns", "p99", "mean", "MB/s", "CPU", "limit", "where", "confidence", "expected"];

const ROW_NUMBERS: [usize; 5] = [1, 2, 3, 4, 5];

/// What came of one case.
#[derive(Debug)]
pub(super) enum Row<'a> {
    /// It was run.
    Judged(&'a Judged),
    /// It could not be run.
    Failed {
        /// Its name.
        name: &'a str,
        /// Why.
        why: &'a str,
    },
}

pub(super) fn render(rows: &[Row<'_>]) -> String {
    let of_row = |row: &Row<'_>| matches!(row, Row::Judged(judged) if judged.row.is_some());
    if rows.iter().any(of_row) {
        let mut lines = vec![ROW_HEADER.map(ToOwned::to_owned)];
        lines.extend(rows.iter().map(row_cells));
        return aligned(&lines, &ROW_NUMBERS);
    }
    let mut lines = vec![HEADER.map(ToOwned::to_owned)];
    lines.extend(rows.iter().map(cells));
    aligned(&lines, &NUMBERS)
}

/// Lines of columns, those of numbers to the right.
pub(super) fn aligned<const N: usize>(lines: &[[String; N]], numbers: &[usize]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: &[String; N]| {
        let padded = cells.iter().enumerate().map(|(column, cell)| match numbers.contains(&column) {
            true => format!("{cell:>width$}", width = widths[column]),
            false => format!("{cell:<width$}", width = widths[column]),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

/// How many of those that expect something were right, after the table; nothing if none does.
pub(super) fn score(judged: impl Iterator<Item = Option<bool>>) -> String {
    let (right, all) = judged.flatten().fold((0, 0), |(right, all), one| (right + usize::from(one), all + 1));
    if all == 0 { String::new() } else { format!("\n{right} of {all} right\n") }
}

fn cells(row: &Row<'_>) -> [String; 8] {
    match row {
        Row::Judged(judged) => judged_cells(judged),
        Row::Failed { name, why } => {
            let first = why.lines().next().unwrap_or_default().to_owned();
            let none = String::new;
            [(*name).to_owned(), none(), none(), none(), "failed".to_owned(), none(), none(), first]
        }
    }
}

fn row_cells(row: &Row<'_>) -> [String; 11] {
    let run = match row {
        Row::Judged(judged) => judged.row.as_ref(),
        Row::Failed { .. } => None,
    };
    let mean = run.map(|run| duration_text(run.measured.mean_latency_ns)).unwrap_or_default();
    let moved = run.map(|run| significant(run.bytes_per_sec / 1e6)).unwrap_or_default();
    let used = run.map(busiest).unwrap_or_default();
    let [name, per_sec, connections, p99, limit, place, confidence, expected] = cells(row);
    [name, per_sec, connections, p99, mean, moved, used, limit, place, confidence, expected]
}

/// The CPU of the tier that uses most of its own.
fn busiest(run: &RowRun) -> String {
    let share = |tier: &&TierUse| tier.cpu_ratio.unwrap_or(-1.0);
    let tier = run.measured.tiers.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let told = |tier: &TierUse| Some(format!("{} {}", share_text(tier.cpu_ratio?), tier.tier));
    tier.and_then(told).unwrap_or_default()
}

fn judged_cells(judged: &Judged) -> [String; 8] {
    let found = &judged.found;
    let best = judged.best.as_ref();
    let per_sec =
        best.map(|best| format!("{}{}", if best.at_least { "≥" } else { "" }, count_text(best.per_sec)));
    let p99 = best.and_then(|best| best.p99_ns).map(duration_text);
    [
        judged.name.clone(),
        per_sec.unwrap_or_default(),
        best.map(|best| best.connections.to_string()).unwrap_or_default(),
        p99.unwrap_or_default(),
        limit_text(&found.named, found.size),
        found.named.host.clone(),
        found.confidence.clone(),
        expected_text(judged),
    ]
}

fn limit_text(named: &Named, size: Option<f64>) -> String {
    size.map_or_else(|| named.limit.clone(), |size| format!("{} of {size:.0}", named.limit))
}

/// Whether it is what was expected, and what that was if not.
fn expected_text(judged: &Judged) -> String {
    match (judged.right(), &judged.expected) {
        (Some(true), _) => "right".to_owned(),
        (Some(false), Some(expected)) => format!("WRONG, expected {}", words(expected)),
        _ => String::new(),
    }
}

/// An expectation as it could be typed.
pub(super) fn words(expected: &Expect) -> String {
    let one = |expected: &Expected| match &expected.host {
        Some(host) => format!("{}@{host}", expected.limit),
        None => expected.limit.clone(),
    };
    let limits = expected.limits.iter().map(one).collect::<Vec<_>>().join(" and ");
    expected.size.map_or_else(|| limits.clone(), |size| format!("{limits} of {size}"))
}
