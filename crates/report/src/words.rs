//! Findings in words. Text and JSON say the same, so that both take their sentences from here.

mod ablation;
mod advice;
mod claim;
mod conclusion;
mod damage;
mod evidence;
mod failure;
pub(crate) mod fleet;
mod generator;
pub(crate) mod machines;
mod overload;
mod phrase;
mod production;
mod proof;
mod table_claim;
mod table_reading;
pub(crate) mod trend;

use plimsoll_analyze::Verdict;
use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_units::{exact_count_text, exact_duration_text, exact_percent_text};

pub(crate) use ablation::no_noise;
pub use advice::advice;
pub use claim::paragraph;
pub(crate) use claim::short_paragraph;
pub(crate) use conclusion::{conclusions, row_name};
pub use damage::damage;
pub(crate) use evidence::{at, excluded, not_the_limit, observed};
pub(crate) use failure::failure_name;
pub use failure::{failure_meaning, failure_remedy, failure_seen, is_redirect};
pub use generator::reason;
pub(crate) use generator::{failure_advice, remedy, short_reason};
pub(crate) use overload::{
    limits_text, onset_name, outage_text, outcome_text, overload_verdict, ramp_text, recovery_cell,
    rounded_down, times,
};
pub(crate) use phrase::placed;
pub(crate) use production::{
    PRODUCTION_TEST_ONLY, hours, production_amount, production_beyond, production_cost, production_limit,
    production_remarks, production_resource, production_title,
};
pub use proof::{raise, untried};
pub(crate) use table_claim::breach_meaning;
pub(crate) use table_reading::table_reading;

/// Each limit of latency and of failures, such as `p99 ≤ 500 ms`.
pub(crate) fn limits(slo: &Slo) -> impl Iterator<Item = String> + '_ {
    slo.latency.iter().map(latency_limit).chain(slo.success_ratio.map(success_limit))
}

pub(crate) fn latency_limit(limit: &LatencyLimit) -> String {
    format!("{} ≤ {}", limit.name(), exact_duration_text(limit.limit_ns()))
}

pub(crate) fn success_limit(ratio: f64) -> String {
    format!("success ≥ {}", exact_percent_text(ratio))
}

pub(crate) fn throughput_limit(per_sec: f64) -> String {
    format!("throughput ≥ {} requests/s", exact_count_text(per_sec))
}

/// Formats the limits as a clause, `, within p99 ≤ 500 ms and success ≥ 99.95 %`; empty without limits.
pub(crate) fn within(slo: &Slo) -> String {
    let mut limits: Vec<String> = limits(slo).collect();
    let Some(last) = limits.pop() else { return String::new() };
    let others = if limits.is_empty() { String::new() } else { limits.join(", ") + " and " };
    format!(", within {others}{last}")
}

/// Returns the short form of a verdict: its paragraph, or what to try if it has none.
pub fn summary(verdict: &Verdict) -> String {
    let text = paragraph(verdict);
    if text.is_empty() { advice(verdict).join(" ") } else { text }
}
