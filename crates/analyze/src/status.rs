//! How a run ended, which determines the exit code and the result of a test in a pipeline.

use plimsoll_record::{EventKind, Run};

use crate::{Findings, OverloadClass, SearchEnd, SloCheck, Steadiness};

/// How a measured run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// Measured, and every condition of the plan was met.
    Met,
    /// The user ended the run.
    Interrupted,
    /// The target was lost, or a step failed or exceeded the limits of this machine.
    Incomplete,
    /// Measured, but not evidence: the generator was the limit, or a step was not steady.
    NotEvidence,
    /// Measured, and a condition of the plan was not met.
    Broken,
    /// Every request failed.
    AllFailed,
    /// Measured, but it is not known whether a condition of the plan was met.
    Open,
}

impl RunStatus {
    /// The status of a run. An early end takes precedence over the result, and a condition that was broken over one that is not known.
    /// [`Self::NotEvidence`] occurs only if `strict`.
    pub fn new(run: &Run, findings: &Findings, strict: bool) -> Self {
        let happened = |kind| run.events.iter().any(|event| event.kind == kind);
        if happened(EventKind::Interrupted) {
            Self::Interrupted
        } else if happened(EventKind::TargetLost)
            || happened(EventKind::StepFailed)
            || !findings.not_run.is_empty()
        {
            Self::Incomplete
        } else if strict && !is_evidence(findings) {
            Self::NotEvidence
        } else if let Some(overload) = &findings.overload {
            Self::of_overload(overload.class)
        } else if findings.slo.as_ref().is_some_and(SloCheck::broken) {
            Self::Broken
        } else if findings.steps.iter().all(|step| step.counts.ok == 0) {
            Self::AllFailed
        } else if findings.slo.as_ref().is_some_and(|slo| !slo.held()) {
            Self::Open
        } else {
            Self::Met
        }
    }
}

impl RunStatus {
    /// The status of an overload, whose condition is that the target holds up.
    pub fn of_overload(class: OverloadClass) -> Self {
        match class {
            OverloadClass::Graceful | OverloadClass::Degrades => Self::Met,
            OverloadClass::Collapses | OverloadClass::Metastable => Self::Broken,
            OverloadClass::NotOverloaded | OverloadClass::Unknown => Self::Open,
        }
    }
}

/// True if the generator limited neither the ladder nor the search, and every step was steady where it could be.
fn is_evidence(findings: &Findings) -> bool {
    let steady = |steadiness| matches!(steadiness, Steadiness::Steady | Steadiness::Ramp);
    let limited = findings.search.as_ref().is_some_and(|search| search.end == SearchEnd::GeneratorLimited);
    !findings.lower_bound && !limited && findings.steps.iter().all(|step| steady(step.steadiness))
}
