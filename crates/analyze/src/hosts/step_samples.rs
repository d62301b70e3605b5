//! The samples of hosts next to the steps during which they were taken.

use plimsoll_record::Run;

use super::track::Span;
use super::tracks::Hosts;
use crate::StepSummary;

/// The samples of all hosts, and the measured window of each step.
pub(crate) struct StepSamples<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    /// The measured window of each step, in the order of the steps.
    pub(crate) spans: &'a [Span],
    /// Processors of the machine that made the run: those of a host made on it that was given no fewer.
    pub(crate) machine_cores: f64,
}

impl StepSamples<'_> {
    /// A figure of each step.
    pub(crate) fn each(&self, figure: impl Fn(Span) -> Option<f64>) -> Vec<Option<f64>> {
        self.spans.iter().map(|span| figure(*span)).collect()
    }
}

/// When each step was measured: after its warm-up, for as long as its throughput was counted.
pub(crate) fn spans(run: &Run, steps: &[StepSummary]) -> Vec<Span> {
    let span = |summary: &StepSummary| {
        let began_ns =
            run.steps.iter().find(|step| step.index == summary.index).map_or(0, |step| step.began_ns);
        let from_ns = began_ns + (summary.warmup_sec * 1e9) as u64;
        Span { from_ns, to_ns: from_ns + (summary.measured_sec * 1e9) as u64 }
    };
    steps.iter().map(span).collect()
}
