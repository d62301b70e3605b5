//! What the self-check is made from.

use plimsoll_plan::Plan;
use plimsoll_record::{FrameHead, Histogram, Run, Step};

use crate::StepSummary;

/// The records of one step that the self-check reads.
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a Run,
    pub(crate) plan: &'a Plan,
    pub(crate) step: &'a Step,
    /// What it came to; its own `generator` is not read.
    pub(crate) summary: &'a StepSummary,
    pub(crate) all: &'a [&'a FrameHead],
    /// Frames under load after the warm-up.
    pub(crate) measured: &'a [&'a FrameHead],
    /// Mean latency of the requests that ended in those, in nanoseconds.
    pub(crate) measured_mean_ns: f64,
    /// Mean service time of the same, in nanoseconds.
    pub(crate) measured_service_mean_ns: f64,
    /// How long the generator held requests back.
    pub(crate) send_lag: &'a Histogram,
}
