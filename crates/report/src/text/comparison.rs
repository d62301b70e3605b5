//! Two ladders compared.

use plimsoll_analyze::{BestComparison, Comparison, ComparisonRow, Estimate, StepOutcome};
use plimsoll_units::{duration_text, escape_control, grouped, percent_text, significant};

use super::paragraph::{notes, wrapped};
use super::table::{Column, table};
use crate::amount::{at_least, connections, half_width, if_known, range};

/// The limits of a comparison of two single runs.
const ONE_PAIR: &str = "These are one run each, which does not show how results vary from run to run. An interval is that \
                        within a run. Repeat both in turn before acting on a small difference.";

/// The comparison of two runs under the names given for them. The text calls the reference A and the candidate B.
pub fn comparison(comparison: &Comparison, candidate: &str, reference: &str) -> String {
    let (a, b) = (escape_control(reference), escape_control(candidate));
    let headline = match &comparison.best {
        Some(best) => best_text(best, &b, &a),
        None => "The best QPS cannot be compared: one of the two runs has no step with responses.".to_owned(),
    };
    let sides = format!("A is {a}, B is {b}. Ratios are B / A: below 1, B is lower.");
    wrapped("", "", &headline) + "\n" + &steps(comparison) + &notes([sides.as_str(), ONE_PAIR])
}

fn best_text(best: &BestComparison, candidate: &str, reference: &str) -> String {
    let per_cent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
    format!(
        "{candidate}: best QPS is {} of {reference}'s{}: {} at {} against {} at {}.",
        per_cent(best.throughput_ratio.value),
        range(best.throughput_ratio.interval, per_cent),
        speed(best.candidate),
        connections(best.candidate.connections),
        speed(best.reference),
        connections(best.reference.connections),
    )
}

fn steps(comparison: &Comparison) -> String {
    let mean = |step: StepOutcome| duration_text(step.mean_latency_ns);
    let success = |step: StepOutcome| percent_text(step.success_ratio);
    let columns: [Column<'_, ComparisonRow>; 10] = [
        ("connections", &|row| grouped(row.connections.into())),
        ("QPS A", &|row| or_missing(row.reference.map(speed))),
        ("QPS B", &|row| or_missing(row.candidate.map(speed))),
        ("B / A", &|row| or_missing(row.throughput_ratio.map(ratio_text))),
        ("mean A", &|row| or_missing(row.reference.map(mean))),
        ("mean B", &|row| or_missing(row.candidate.map(mean))),
        ("B / A", &|row| or_missing(row.latency_ratio.map(significant))),
        ("success A", &|row| or_missing(row.reference.map(success))),
        ("success B", &|row| or_missing(row.candidate.map(success))),
        ("", &|_| String::new()),
    ];
    table(&comparison.rows, &columns)
}

fn speed(step: StepOutcome) -> String {
    at_least(step.throughput.value, step.lower_bound)
}

fn ratio_text(ratio: Estimate) -> String {
    let half = if_known(half_width(ratio), |half| format!(" ± {}", significant(half)));
    format!("{}{half}", significant(ratio.value))
}

fn or_missing(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
