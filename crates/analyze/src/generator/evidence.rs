//! The records on which the self-check is based.

use plimsoll_plan::Plan;
use plimsoll_record::{FrameHead, Histogram, Run, Step};

use crate::StepSummary;

/// The times of the requests that ended in a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedTimes {
    pub(crate) mean_ns: f64,
    pub(crate) stdev_ns: f64,
}

impl EndedTimes {
    /// The mean time of a request that is under way at a random instant: E[R²]/E[R], since long requests are met more often (Cox,
    /// *Renewal Theory*, 1962). With few slow requests among many fast ones it is close to that of the slow ones.
    pub(crate) fn under_way_sec(self) -> f64 {
        let variation = self.stdev_ns / self.mean_ns.max(f64::MIN_POSITIVE);
        self.mean_ns * (1.0 + variation.powi(2)) / 1e9
    }
}

/// The records of one step that the self-check reads.
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a Run,
    pub(crate) plan: &'a Plan,
    pub(crate) step: &'a Step,
    /// The summary of the step; its own `generator` is not read.
    pub(crate) summary: &'a StepSummary,
    pub(crate) all: &'a [&'a FrameHead],
    /// Frames under load after the warm-up.
    pub(crate) measured: &'a [&'a FrameHead],
    /// Latency of the requests that ended in `measured`.
    pub(crate) measured_times: EndedTimes,
    /// Mean service time of those requests, in nanoseconds.
    pub(crate) measured_service_mean_ns: f64,
    /// How long the generator held requests back.
    pub(crate) send_lag: &'a Histogram,
}
