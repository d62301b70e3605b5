//! The data that the screen shows of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_record::FailureKind;

/// The state of a run on the screen.
#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    /// The URL.
    pub(super) target: String,
    /// The current phase, such as `step 4 of 11 · 64 connections`.
    pub(super) phase: String,
    pub(super) elapsed: Duration,
    /// The longest time of this load; zero if it has none.
    pub(super) limit: Duration,
    /// The longest time that is left for the whole run.
    pub(super) left: Duration,
    /// Responses per second now; `None` until this load has its first response.
    pub(super) throughput_per_sec: Option<f64>,
    /// The throughput at the moments of the run, in responses per second, oldest first.
    pub(super) course: Vec<u64>,
    /// Median and 99th percentile of latency over the last second, in nanoseconds.
    pub(super) p50_ns: Option<f64>,
    pub(super) p99_ns: Option<f64>,
    /// Requests that failed so far, in the whole run.
    pub(super) failures: BTreeMap<FailureKind, u64>,
    /// Responses without success so far, in the whole run.
    pub(super) refused: u64,
    /// The loads that have ended.
    pub(super) rows: Vec<Row>,
    pub(super) hosts: Vec<Bar>,
    /// Messages, oldest first.
    pub(super) messages: Vec<String>,
}

impl Board {
    /// Returns true once the target is known; before that there is nothing to show.
    pub(super) fn has_begun(&self) -> bool {
        !self.target.is_empty()
    }
}

/// A load that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) level: String,
    pub(super) throughput_per_sec: f64,
    pub(super) p50_ns: Option<f64>,
    pub(super) p99_ns: Option<f64>,
    pub(super) failed: u64,
}

/// The use of one resource of a host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    pub(super) host: String,
    pub(super) resource: String,
    /// The use divided by the capacity.
    pub(super) share: f64,
}
