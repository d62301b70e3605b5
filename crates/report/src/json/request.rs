//! One request of a plan of several.

use std::collections::BTreeMap;

use plimsoll_analyze::RequestSummary;
use plimsoll_plan::Plan;
use plimsoll_record::{CheckCounts, FailureCounts, StatusCounts};
use schemars::JsonSchema;
use serde::Serialize;

use super::step::TimesDocument;
use super::{bounds, finite};

/// One request of a plan of several, over one step. What fell due and found no connection, and bytes, are told of the
/// step as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RequestDocument {
    /// Its name in the plan.
    pub name: String,
    /// Requests that were sent, over the whole step.
    pub sent: u64,
    /// Complete responses of whatever status.
    pub completed: u64,
    /// Responses with a status of 200 to 399 that passed every check.
    pub ok: u64,
    /// Responses by status; `0` stands for any outside 100 to 599.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub status: StatusCounts,
    /// Failed requests by kind.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub failed: FailureCounts,
    /// Responses that failed a check, by check.
    pub failed_checks: BTreeMap<String, u64>,
    /// Responses per second while measured.
    pub throughput_per_sec: Option<f64>,
    /// Responses with success over everything that ended; null if nothing ended.
    pub success_ratio: Option<f64>,
    /// Its 95 % interval; null if nothing ended.
    pub success_interval: Option<[f64; 2]>,
    /// done − intended.
    pub latency_ms: TimesDocument,
    /// done − sent.
    pub service_ms: TimesDocument,
}

/// Checks that failed, by the text of the check.
pub(crate) fn failed_checks(plan: &Plan, checks: &CheckCounts) -> BTreeMap<String, u64> {
    let name = |check: u16| plan.checks.get(usize::from(check)).cloned().unwrap_or_else(|| check.to_string());
    checks.iter().map(|(check, count)| (name(check), count)).collect()
}

impl RequestDocument {
    pub(super) fn of(plan: &Plan, request: &RequestSummary) -> Self {
        let counts = &request.counts;
        Self {
            name: request.name.clone(),
            sent: counts.sent,
            completed: counts.completed,
            ok: counts.ok,
            status: counts.status.clone(),
            failed: counts.failed,
            failed_checks: failed_checks(plan, &counts.checks),
            throughput_per_sec: finite(request.throughput_per_sec),
            success_ratio: request.success_ratio.and_then(finite),
            success_interval: bounds(request.success_interval),
            latency_ms: TimesDocument::of(&request.latency),
            service_ms: TimesDocument::of(&request.service),
        }
    }
}
