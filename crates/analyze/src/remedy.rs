//! Advice against a kind of failure in a run.

use plimsoll_plan::Plan;
use plimsoll_record::FailureKind;

use crate::findings::{FailureAdvice, StepSummary};
use crate::generator::health::GeneratorReason;

/// Returns the advice against one kind of failure. It differs between unix sockets and TCP. Requests remain unsent for lack of
/// connections, of resources of this machine, or of the generator's own time; its self-check shows which.
pub fn failure_advice(plan: &Plan, steps: &[StepSummary], kind: FailureKind) -> FailureAdvice {
    let is_unsent = |step: &&StepSummary| step.counts.failed.of(FailureKind::Unsent) > 0;
    let Some(step) = steps.iter().find(is_unsent).filter(|_| kind == FailureKind::Unsent) else {
        return match plan.network.unix {
            Some(_) => FailureAdvice::OverUnixSocket(kind),
            None => FailureAdvice::Usual(kind),
        };
    };
    let short = step.generator.reasons.iter().find_map(|reason| match reason {
        GeneratorReason::OutOfConnections { resource, .. } => Some(*resource),
        _ => None,
    });
    match short {
        Some(resource) => FailureAdvice::OutOf(resource),
        None if step.generator.out_of_time() => FailureAdvice::OutOfTime,
        None if step.generator.too_short => FailureAdvice::Usual(kind),
        None => FailureAdvice::OutOfConnections,
    }
}
