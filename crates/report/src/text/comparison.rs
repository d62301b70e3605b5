//! Two ladders compared.

use plimsoll_analyze::{BestComparison, Comparison, ComparisonRow, Estimate, RungOutcome};
use plimsoll_units::{count_text, duration_text, escape_control, grouped, percent_text, significant};

use super::paragraph::wrapped;
use super::table::Table;
use crate::amount::count_of;

const MISSING: &str = "-";

/// The limits of a comparison of two single runs.
const ONE_PAIR: &str = "These are one run each, which does not show how results vary from run to run. An interval is that \
                        within a run. Repeat both in turn before acting on a small difference.";

/// The comparison of two runs, A the candidate and B the reference, under the names given for them.
pub fn comparison(comparison: &Comparison, name_a: &str, name_b: &str) -> String {
    let names = (escape_control(name_a), escape_control(name_b));
    let headline = match &comparison.best {
        Some(best) => best_text(best, &names),
        None => "The best QPS cannot be compared: one of the two runs has no step with responses.".to_owned(),
    };
    let sides = format!("A is {}, B is {}. Ratios are A / B: below 1, A is lower.", names.0, names.1);
    [
        wrapped("", "", &headline),
        "\n".to_owned(),
        table(comparison),
        wrapped("  ", "  ", &sides),
        wrapped("  ", "  ", ONE_PAIR),
    ]
    .concat()
}

fn best_text(best: &BestComparison, names: &(String, String)) -> String {
    format!(
        "{}: best QPS is {} of {}'s{}: {} at {} against {} at {}.",
        names.0,
        ratio_percent(best.throughput_ratio.value),
        names.1,
        interval_text(best.throughput_ratio),
        count_text(best.a.throughput.value),
        count_of(best.a.connections, "connection"),
        count_text(best.b.throughput.value),
        count_of(best.b.connections, "connection"),
    )
}

fn ratio_percent(ratio: f64) -> String {
    format!("{:.1} %", ratio * 100.0)
}

fn interval_text(ratio: Estimate) -> String {
    let text = |(lower, upper)| format!(" ({} to {})", ratio_percent(lower), ratio_percent(upper));
    ratio.interval.map_or_else(String::new, text)
}

fn table(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        "connections",
        "QPS A",
        "QPS B",
        "A / B",
        "mean A",
        "mean B",
        "A / B",
        "success A",
        "success B",
        "",
    ]);
    comparison.rows.iter().for_each(|row| table.row(cells(row)));
    table.render()
}

fn cells(row: &ComparisonRow) -> Vec<String> {
    let qps = |side: Option<RungOutcome>| or_missing(side.map(|rung| count_text(rung.throughput.value)));
    let mean = |side: Option<RungOutcome>| or_missing(side.map(|rung| duration_text(rung.mean_latency_ns)));
    let success = |side: Option<RungOutcome>| or_missing(side.map(|rung| percent_text(rung.success_ratio)));
    vec![
        grouped(u64::from(row.connections)),
        qps(row.a),
        qps(row.b),
        or_missing(row.throughput_ratio.map(ratio_text)),
        mean(row.a),
        mean(row.b),
        or_missing(row.latency_ratio.map(significant)),
        success(row.a),
        success(row.b),
        String::new(),
    ]
}

fn ratio_text(ratio: Estimate) -> String {
    let half = ratio.interval.map(|(lower, upper)| format!(" ± {}", significant((upper - lower) / 2.0)));
    format!("{}{}", significant(ratio.value), half.unwrap_or_default())
}

fn or_missing(text: Option<String>) -> String {
    text.unwrap_or_else(|| MISSING.to_owned())
}
