//! Amounts as reports print them.

use plimsoll_analyze::{Estimate, Findings, Percentile, StepSummary};
use plimsoll_units::{count_text, duration_text};

pub(super) use crate::count::{count_of, counted};

/// Printed where a value cannot be known; explained once below.
pub(super) const NOT_KNOWN: &str = "n/k";

/// `≥ ` in front of what is a lower bound.
pub(super) fn bound(lower_bound: bool) -> &'static str {
    if lower_bound { "≥ " } else { "" }
}

/// A percentile, or that it is not known.
pub(super) fn percentile(percentile: Percentile) -> String {
    percentile.ns.map_or_else(|| NOT_KNOWN.to_owned(), duration_text)
}

/// A span given in seconds.
pub(super) fn seconds(span_sec: f64) -> String {
    duration_text(span_sec * 1e9)
}

/// Half the width of an interval, the `±` of a table; `None` where there is no interval.
pub(super) fn half_width(estimate: Estimate) -> Option<f64> {
    estimate.interval.map(|(lower, upper)| (upper - lower) / 2.0)
}

/// A throughput in a sentence: `3,190 requests/s (3,150 to 3,230)`, or as a lower bound without an interval.
pub(super) fn throughput(estimate: Estimate, lower_bound: bool) -> String {
    let value = format!("{}{} requests/s", bound(lower_bound), count_text(estimate.value));
    match estimate.interval {
        _ if lower_bound => value,
        Some((lower, upper)) => format!("{value} ({} to {})", count_text(lower), count_text(upper)),
        None => format!("{value} (interval not known)"),
    }
}

/// The load of a step: `32 connections`, or `2,000 requests/s offered`.
pub(super) fn load_of(step: &StepSummary) -> String {
    match step.rate_per_sec {
        Some(rate) if step.moments.is_empty() => format!("{} requests/s offered", count_text(rate)),
        Some(rate) => format!("a changing rate, {} requests/s offered on average", count_text(rate)),
        None if step.depth > 1 => {
            format!("{} × {} requests under way", count_of(step.connections, "connection"), step.depth)
        }
        None => count_of(step.connections, "connection"),
    }
}

/// The step that the answer speaks of: the best within the SLO, else the one of highest throughput.
pub(super) fn chosen_step(findings: &Findings) -> Option<&StepSummary> {
    let within = findings.slo.and_then(|slo| slo.best_step);
    let named = within.and_then(|index| findings.steps.iter().find(|step| step.index == index));
    named.or_else(|| {
        let with_throughput = findings.steps.iter().filter(|step| step.throughput.value > 0.0);
        with_throughput.max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value))
    })
}

/// True if any of these percentiles is not known.
pub(super) fn any_unknown(percentiles: &[Percentile]) -> bool {
    percentiles.iter().any(|percentile| percentile.ns.is_none())
}

/// What [`NOT_KNOWN`] means.
pub(super) const NOT_KNOWN_NOTE: &str =
    "n/k: not known, too few requests ended (p99 needs 299 of them, p99.9 needs 2,995).";
