//! What the screen shows of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_record::FailureKind;

/// A run as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    /// The URL.
    pub(super) target: String,
    /// What goes on, such as `step 4 of 11 · 64 connections`.
    pub(super) phase: String,
    pub(super) elapsed: Duration,
    /// The longest time of this load; zero where it has none.
    pub(super) limit: Duration,
    /// The time for all that follows, at most.
    pub(super) left: Duration,
    /// Responses per second now; `None` until this load has its first response.
    pub(super) throughput_per_sec: Option<f64>,
    /// The same of the moments of the run, oldest first.
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
    /// True once the target is known, and so all that is shown of a run.
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
    /// Used over how much there is.
    pub(super) share: f64,
}
