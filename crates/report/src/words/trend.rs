//! The history of a metric in words.

use plimsoll_analyze::{LevelChange, Trend, TrendMetric};
use plimsoll_units::{count_text, duration_text, escape_control, percent_text};

use crate::amount::{counted, range};

/// Returns the name of a metric.
pub(crate) fn metric(metric: TrendMetric) -> &'static str {
    match metric {
        TrendMetric::Throughput => "QPS",
        TrendMetric::HighestRate => "highest rate within the conditions",
        TrendMetric::Median => "p50",
        TrendMetric::P99 => "p99",
        TrendMetric::CpuPerRequest => "CPU per request",
    }
}

/// Formats a value of a metric.
pub(crate) fn value(metric: TrendMetric, value: f64) -> String {
    if metric.is_rate() { count_text(value) } else { duration_text(value) }
}

/// Formats a ratio of levels as a signed change: `−5.0 %`.
pub(crate) fn signed_change(ratio: f64) -> String {
    let sign = if ratio < 1.0 { "−" } else { "+" };
    format!("{sign}{}", size(ratio))
}

/// Formats the size of a change, without its direction.
fn size(ratio: f64) -> String {
    format!("{:.1} %", (ratio - 1.0).abs() * 100.0)
}

/// Describes a change: `QPS fell by 5.0 % (4.1 % to 5.9 %), which is worse; p = 0.001`.
pub(crate) fn change(trend: &Trend, change: &LevelChange) -> String {
    let judged = match (change.is_bounded, change.worse) {
        (true, _) if trend.metric.is_rate() => {
            "may be no change: most runs of the lower level show lower bounds (≥)"
        }
        (true, _) => "may be no change: most runs of the higher level show upper bounds (≤)",
        (false, Some(true)) => "is worse",
        (false, Some(false)) => "is better",
        (false, None) => "may be no change of the level: how much the runs vary may have changed instead",
    };
    let by = change.ratio.map(|ratio| {
        let direction = if ratio.value < 1.0 { "fell" } else { "rose" };
        // For a fall, the ends of the interval are swapped.
        let interval =
            ratio.interval.map(|(low, high)| if ratio.value < 1.0 { (high, low) } else { (low, high) });
        let crosses = ratio.interval.is_some_and(|(low, high)| low < 1.0 && 1.0 < high);
        let interval = if crosses { String::new() } else { range(interval, size) };
        format!("{direction} by {}{interval}", size(ratio.value))
    });
    let by = by.unwrap_or_else(|| "changed".to_owned());
    format!("{} {by}, which {judged}; p {}", metric(trend.metric), chance(change.p_value))
}

/// Formats the probability that runs without a change look like this.
fn chance(p_value: f64) -> String {
    if p_value <= 0.001 { "≤ 0.001".to_owned() } else { format!("= {p_value:.3}") }
}

/// Says that no change was found.
pub(crate) fn no_change() -> String {
    "No change was found.".to_owned()
}

/// The share of series without a change in which one is found anyway.
pub(crate) fn false_alarms() -> String {
    format!(
        "Of series without a change about {} show one, more where runs influence each other.",
        percent_text(0.01)
    )
}

/// The newest change of the kernel, which may be the reason for one of the metric; `None` without any.
pub(crate) fn kernels(trend: &Trend) -> Option<String> {
    let changes = trend.kernel_changes();
    let at = *changes.last()?;
    let kernel = |at: usize| escape_control(&trend.points[at].run.machine.kernel);
    let before = match changes.len() - 1 {
        0 => String::new(),
        count => format!(", and {} before", counted(count as u64, "time")),
    };
    Some(format!(
        "The kernel changed from {} to {} with {}{before}.",
        kernel(at - 1),
        kernel(at),
        escape_control(&trend.points[at].run.file)
    ))
}
