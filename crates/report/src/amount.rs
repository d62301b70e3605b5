//! Formats amounts, spans and loads the same way for text, JSON and figures; finds the steps that reports refer to.

use std::time::Duration;

pub(crate) use plimsoll_analyze::chosen_step;
use plimsoll_analyze::{Currency, Estimate, Findings, Percentile, StepSummary, TimeSummary, is_unfinished};
use plimsoll_record::StepEnd;
use plimsoll_units::{bytes_text, count_text, duration_text, grouped, percent_text, significant};

/// Printed for a value that is not known; [`NOT_KNOWN_NOTE`] explains it.
pub(crate) const NOT_KNOWN: &str = "n/k";

/// The footnote of [`NOT_KNOWN`].
pub(crate) const NOT_KNOWN_NOTE: &str =
    "n/k: not known, too few requests ended (p99 needs 299 of them, p99.9 needs 2,995).";

/// `1 worker`, `2 workers`.
pub(crate) fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `1 connection`, `600 connections`.
pub(crate) fn connections(count: u32) -> String {
    counted(count, "connection")
}

/// Joins parts of a sentence with a separator.
pub(crate) fn list(parts: impl IntoIterator<Item = String>, separator: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

/// Returns the text of a known value; empty for `None`.
pub(crate) fn if_known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

/// `≥ ` in front of a lower bound.
pub(crate) fn bound(lower_bound: bool) -> &'static str {
    if lower_bound { "≥ " } else { "" }
}

/// Returns the sign of a ratio of two throughputs: `≥ ` if only the first is a lower bound, `≤ ` if only the second is.
/// If both are, there is no ratio.
pub(crate) fn ratio_bound(lower_bound: bool, from_lower_bound: bool) -> &'static str {
    if from_lower_bound { "≤ " } else { bound(lower_bound) }
}

/// A rate, marked if it is a lower bound.
pub(crate) fn at_least(per_sec: f64, lower_bound: bool) -> String {
    format!("{}{}", bound(lower_bound), count_text(per_sec))
}

/// ` (3,150 to 3,230)`; empty without an interval.
pub(crate) fn range(interval: Option<(f64, f64)>, text: impl Fn(f64) -> String) -> String {
    if_known(interval, |(lower, upper)| format!(" ({} to {})", text(lower), text(upper)))
}

/// Bits per second, in the units of links: `200 Mbit/s`.
pub(crate) fn bits(per_sec: f64) -> String {
    format!("{}bit/s", bytes_text(per_sec).trim_end_matches('B'))
}

/// An amount of money: two decimals from a tenth on, three digits below, and the currency where the user wrote it.
pub(crate) fn money(currency: &Currency, value: f64) -> String {
    let number = match value {
        _ if value != 0.0 && value < 0.1 => significant(value),
        _ if value >= 1_000.0 => {
            let cents = (value * 100.0).round() as u64;
            format!("{}.{:02}", grouped(cents / 100), cents % 100)
        }
        _ => format!("{value:.2}"),
    };
    match (currency.symbol.as_str(), currency.leads) {
        ("", _) => number,
        (symbol, true) => format!("{symbol}{number}"),
        (symbol, false) => format!("{number} {symbol}"),
    }
}

/// Formats a ratio in per cent; [`NOT_KNOWN`] for `None`.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NOT_KNOWN.to_owned(), percent_text)
}

/// Formats the mean of a distribution; [`NOT_KNOWN`] if it is empty.
pub(crate) fn mean(times: &TimeSummary) -> String {
    if times.count > 0 { duration_text(times.mean_ns) } else { NOT_KNOWN.to_owned() }
}

/// Formats a percentile; [`NOT_KNOWN`] if too few requests ended.
pub(crate) fn percentile(percentile: Percentile) -> String {
    percentile.ns.map_or_else(|| NOT_KNOWN.to_owned(), duration_text)
}

pub(crate) fn any_unknown(percentiles: &[Percentile]) -> bool {
    percentiles.iter().any(|percentile| percentile.ns.is_none())
}

/// A measured span, given in seconds.
pub(crate) fn seconds(span_sec: f64) -> String {
    duration_text(span_sec * 1e9)
}

/// A span that a user chose, without trailing zeros: `10 s`, not `10.0 s`.
pub(crate) fn span(span: Duration) -> String {
    let text = duration_text(span.as_nanos() as f64);
    match text.split_once(' ') {
        Some((amount, unit)) if amount.contains('.') => {
            format!("{} {unit}", amount.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Half the width of an interval, the `±` of a table; `None` without an interval.
pub(crate) fn half_width(estimate: Estimate) -> Option<f64> {
    estimate.interval.map(|(lower, upper)| (upper - lower) / 2.0)
}

/// A throughput in a sentence: `3,190 requests/s (3,150 to 3,230)`, or as a lower bound without an interval.
pub(crate) fn throughput(estimate: Estimate, lower_bound: bool) -> String {
    let interval = match estimate.interval {
        _ if lower_bound => String::new(),
        None => " (interval not known)".to_owned(),
        interval => range(interval, count_text),
    };
    format!("{} requests/s{interval}", at_least(estimate.value, lower_bound))
}

/// The load of a step: `32 connections`, or `2,000 requests/s offered`.
pub(crate) fn load_of(step: &StepSummary) -> String {
    match step.rate_per_sec {
        Some(rate) if step.ramp_windows.is_empty() => format!("{} requests/s offered", count_text(rate)),
        Some(rate) => format!("a changing rate, {} requests/s offered on average", count_text(rate)),
        None if step.depth > 1 => {
            format!("{} × {} requests under way", connections(step.connections), step.depth)
        }
        None => connections(step.connections),
    }
}

/// Returns why a ladder gives only a lower bound: it ended before throughput stopped growing. `None` if it did not.
pub(crate) fn unfinished(findings: &Findings) -> Option<String> {
    if !is_unfinished(findings) {
        return None;
    }
    let whole = findings.steps.iter().filter(|step| step.end != StepEnd::Cut).count() as u64;
    Some(match findings.steps.last()?.end {
        StepEnd::Cut => format!("the ladder was cut short after {}", counted(whole, "whole step")),
        _ => "throughput was still growing at the last step".to_owned(),
    })
}

/// Returns the position of the step at which hosts are shown: the plateau, else the highest throughput; `None` without
/// steps.
pub(crate) fn plateau_position(findings: &Findings) -> Option<usize> {
    let plateau = findings.knee.map(|knee| knee.plateau_connections);
    let at_plateau = findings.steps.iter().position(|step| Some(step.connections) == plateau);
    at_plateau.or_else(|| findings.best_step().map(|(position, _)| position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_spans_have_no_decimals() {
        assert_eq!(span(Duration::from_secs(10)), "10 s");
        assert_eq!(span(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(span(Duration::from_secs(300)), "300 s");
        assert_eq!(span(Duration::ZERO), "0 ns");
    }

    #[test]
    fn money_reads_as_prices_do() {
        let money = |symbol: &str, leads: bool, value: f64| {
            money(&Currency { symbol: symbol.to_owned(), leads }, value)
        };
        assert_eq!(money("$", true, 0.17), "$0.17");
        assert_eq!(money("EUR", false, 1_234.5), "1,234.50 EUR");
        assert_eq!(money("", false, 0.012_34), "0.0123");
        assert_eq!(money("", false, 0.0), "0.00");
    }

    #[test]
    fn bits_read_in_the_units_of_links() {
        assert_eq!(bits(200e6), "200 Mbit/s");
        assert_eq!(bits(2.5e9), "2.50 Gbit/s");
        assert_eq!(bits(12.0), "12 bit/s");
    }
}
