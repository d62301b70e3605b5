//! From findings to an exit code.

use plimsoll_analyze::{Findings, Steadiness};
use plimsoll_record::{EventKind, Run};

use crate::exit::Exit;

/// The exit code of a measured run. What ended the run early counts before what it showed.
pub(super) fn exit(run: &Run, findings: &Findings, strict: bool) -> Exit {
    let happened = |kind| run.events.iter().any(|event| event.kind == kind);
    if happened(EventKind::Interrupted) {
        Exit::Interrupted
    } else if happened(EventKind::TargetLost) || happened(EventKind::StepFailed) {
        Exit::CouldNotRun
    } else if strict && !is_evidence(findings) {
        Exit::Refused
    } else if findings.slo.is_some_and(|slo| slo.broken()) {
        Exit::Broken
    } else {
        Exit::Held
    }
}

/// A result stands on its own if nothing of the generator's held it back and every step was steady, where it could be.
fn is_evidence(findings: &Findings) -> bool {
    let steady = |steadiness| matches!(steadiness, Steadiness::Steady | Steadiness::Ramp);
    !findings.lower_bound && findings.steps.iter().all(|step| steady(step.steadiness))
}
