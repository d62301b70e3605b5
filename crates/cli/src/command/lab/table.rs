//! The outcomes of a lab's runs as a table.

use plimsoll_analyze::{RowRun, TierUse};
use plimsoll_experiment::{CaseOutcome, PeakStep};
use plimsoll_plan::{Expect, Expected};
use plimsoll_units::{count_text, duration_text, share_text, significant};

use crate::terminal::with_causes;

/// The columns; the last one is not padded.
const HEADER: [&str; 8] = ["name", "QPS", "conns", "p99", "limit", "where", "confidence", "expected"];

/// The columns of a table of rows, with bytes moved and CPU used.
const ROW_HEADER: [&str; 11] =
    ["name", "QPS", "conns", "p99", "mean", "MB/s", "CPU", "limit", "where", "confidence", "expected"];

/// Formats these outcomes as a table, with numbers aligned to the right.
pub(super) fn render(outcomes: &[CaseOutcome]) -> String {
    let has_row = |outcome: &CaseOutcome| outcome.judged().is_some_and(|judged| judged.row.is_some());
    if outcomes.iter().any(has_row) {
        let mut lines = vec![ROW_HEADER.map(ToOwned::to_owned)];
        lines.extend(outcomes.iter().map(row_cells));
        return aligned(&lines, &[1, 2, 3, 4, 5]);
    }
    let mut lines = vec![HEADER.map(ToOwned::to_owned)];
    lines.extend(outcomes.iter().map(cells));
    aligned(&lines, &[1, 2, 3])
}

/// Aligns columns; those of `numbers` to the right.
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

/// Says how many of the outcomes with an expectation are as expected; empty if none has one.
pub(super) fn score<'a>(outcomes: impl Iterator<Item = &'a CaseOutcome>) -> String {
    let judged = outcomes.filter_map(CaseOutcome::as_expected);
    let (right, all) = judged.fold((0, 0), |(right, all), one| (right + usize::from(one), all + 1));
    if all == 0 { String::new() } else { format!("\n{right} of {all} right\n") }
}

fn cells(outcome: &CaseOutcome) -> [String; 8] {
    let name = outcome.name.clone();
    let judged = match &outcome.result {
        Ok(judged) => judged,
        Err(error) => {
            let why = with_causes(error).lines().next().unwrap_or_default().to_owned();
            let none = String::new;
            return [name, none(), none(), none(), "failed".to_owned(), none(), none(), why];
        }
    };
    let (verdict, limit) = (&judged.verdict, judged.verdict.limit.name());
    // The result of an overload has no place, and no confidence but its own interval.
    let if_limit = |text: &str| if judged.overload.is_some() { String::new() } else { text.to_owned() };
    let of_peak =
        |text: fn(&PeakStep) -> Option<String>| judged.peak.as_ref().and_then(text).unwrap_or_default();
    let throughput = |peak: &PeakStep| {
        let bound = if peak.lower_bound { "≥" } else { "" };
        Some(format!("{bound}{}", count_text(peak.throughput_per_sec)))
    };
    [
        name,
        of_peak(throughput),
        of_peak(|peak| Some(peak.connections.to_string())),
        of_peak(|peak| peak.p99_ns.map(duration_text)),
        match (judged.overload, judged.size()) {
            (Some(_), _) => judged.found_text(),
            (None, Some(size)) => format!("{limit} of {size:.0}"),
            (None, None) => limit.to_owned(),
        },
        if_limit(verdict.host()),
        if_limit(verdict.confidence.name()),
        match (outcome.as_expected(), &outcome.expected) {
            (Some(true), _) => "right".to_owned(),
            (Some(false), Some(expected)) => format!("WRONG, expected {}", words(expected)),
            _ => String::new(),
        },
    ]
}

fn row_cells(outcome: &CaseOutcome) -> [String; 11] {
    let run = outcome.judged().and_then(|judged| judged.row.as_ref());
    let mean = run.map(|run| duration_text(run.measured.mean_latency_ns)).unwrap_or_default();
    let moved = run.map(|run| significant(run.bytes_per_sec / 1e6)).unwrap_or_default();
    let used = run.map(busiest).unwrap_or_default();
    let [name, per_sec, connections, p99, limit, place, confidence, expected] = cells(outcome);
    [name, per_sec, connections, p99, mean, moved, used, limit, place, confidence, expected]
}

/// Formats the CPU use of the tier that uses most of its own CPU.
fn busiest(run: &RowRun) -> String {
    let share = |tier: &&TierUse| tier.cpu_ratio.unwrap_or(-1.0);
    let tier = run.measured.tiers.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let text = |tier: &TierUse| Some(format!("{} {}", share_text(tier.cpu_ratio?), tier.tier));
    tier.and_then(text).unwrap_or_default()
}

/// Formats an expectation as it could be typed.
pub(super) fn words(expected: &Expect) -> String {
    let one = |expected: &Expected| match &expected.host {
        Some(host) => format!("{}@{host}", expected.limit.name()),
        None => expected.limit.name().to_owned(),
    };
    let classes =
        expected.overload.iter().map(|class| class.name().to_owned()).collect::<Vec<_>>().join(" or ");
    let limits = expected.limits.iter().map(one).collect::<Vec<_>>().join(" and ");
    let ramp = expected.ramp.map_or_else(String::new, |effect| format!("ramp {}", effect.name()));
    let parts = [limits, classes, ramp].into_iter().filter(|part| !part.is_empty());
    let limits = parts.collect::<Vec<_>>().join(", ");
    expected.size.map_or_else(|| limits.clone(), |size| format!("{limits} of {size}"))
}
