//! A part of a step whose offered rate changes.

use plimsoll_analyze::Moment;
use schemars::JsonSchema;
use serde::Serialize;

use super::finite;
use super::step::TimesDocument;

/// A part of a step whose offered rate changes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MomentDocument {
    /// When it began, in seconds since the load did.
    pub began_sec: Option<f64>,
    /// When it ended, in seconds since the load began.
    pub end_sec: Option<f64>,
    /// The offered rate in its middle, requests per second.
    pub rate_per_sec: Option<f64>,
    /// Requests that fell due, per second.
    pub due_per_sec: Option<f64>,
    /// Responses per second.
    pub throughput_per_sec: Option<f64>,
    /// Responses with success over everything that ended within it; null if nothing did.
    pub success_ratio: Option<f64>,
    /// Requests sent and not answered at its end.
    pub in_flight: u64,
    /// Requests due and not sent at its end.
    pub backlog: u64,
    /// done − intended of the requests that ended within it.
    pub latency_ms: TimesDocument,
}

impl MomentDocument {
    pub(super) fn of(moment: &Moment) -> Self {
        Self {
            began_sec: finite(moment.began_sec),
            end_sec: finite(moment.end_sec),
            rate_per_sec: finite(moment.rate_per_sec),
            due_per_sec: finite(moment.due_per_sec),
            throughput_per_sec: finite(moment.throughput_per_sec),
            success_ratio: moment.success_ratio.and_then(finite),
            in_flight: moment.in_flight,
            backlog: moment.backlog,
            latency_ms: TimesDocument::of(&moment.latency),
        }
    }
}
