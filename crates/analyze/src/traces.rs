//! The requests with a trace id that are reported: the slowest of each step, and the first unsuccessful ones.

use std::cmp::Reverse;

use plimsoll_record::{Run, Trace};

/// How many of each kind are reported for a step.
const SHOWN: usize = 10;

/// Requests of one step that carried a trace id.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTraces {
    /// The index of the step.
    pub step: u32,
    /// Sorted, the slowest first.
    pub slowest: Vec<Trace>,
    /// The first unsuccessful ones, in the order in which they were sent.
    pub unsuccessful: Vec<Trace>,
}

/// The traces of each step that has any, without those of warm-ups.
pub fn traces(run: &Run) -> Vec<StepTraces> {
    let of_step = |step: u32| StepTraces::new(step, run.frames_of(step).flat_map(|frame| &frame.traces));
    run.steps.iter().map(|step| of_step(step.index)).filter(|found| !found.is_empty()).collect()
}

impl StepTraces {
    /// Selects from the traces that workers kept, which are more than are reported.
    fn new<'a>(step: u32, kept: impl Iterator<Item = &'a Trace>) -> Self {
        let kept: Vec<Trace> = kept.copied().collect();
        let mut slowest: Vec<Trace> =
            kept.iter().filter(|trace| trace.latency_ns.is_some()).copied().collect();
        slowest.sort_by_key(|trace| (Reverse(trace.latency_ns), trace.id));
        slowest.truncate(SHOWN);
        let mut unsuccessful: Vec<Trace> = kept.into_iter().filter(|trace| !trace.ok).collect();
        unsuccessful.sort_by_key(|trace| (trace.sent_ns, trace.id));
        unsuccessful.truncate(SHOWN);
        Self { step, slowest, unsuccessful }
    }

    fn is_empty(&self) -> bool {
        self.slowest.is_empty() && self.unsuccessful.is_empty()
    }
}
