//! What was found, as a table.

use plimsoll_plan::{Expect, Expected};
use plimsoll_units::{count_text, duration_text};

use super::found::{Judged, Named};

/// The columns, of which the last is not padded.
const HEADER: [&str; 8] = ["name", "QPS", "conns", "p99", "limit", "where", "confidence", "expected"];

/// The columns of numbers, which stand to the right.
const NUMBERS: [usize; 3] = [1, 2, 3];

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
