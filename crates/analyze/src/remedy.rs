//! What helps against a kind of failure, in this run.

use plimsoll_plan::Plan;
use plimsoll_record::{FailureKind, FailureRow};

use crate::{GeneratorReason, StepSummary};

/// What helps against requests that were not sent because the workers had no time for them.
const OUT_OF_TIME: &str = "the generator itself was at its limit, and more connections would not help: lower the rate, use more workers (-t) if cores are free, or another machine";

/// What helps where the workers had time, and no connection was free.
const OUT_OF_CONNECTIONS: &str = "no connection was free: raise --max-connections, or lower the rate";

/// What helps against one kind of failure. Over a unix socket that is something else than over TCP; and requests are never
/// sent for want of connections, or of the generator's own time: its check of itself tells which.
pub fn remedy(plan: &Plan, steps: &[StepSummary], row: &FailureRow) -> &'static str {
    let unsent = |step: &&StepSummary| step.counts.failed.of(FailureKind::Unsent) > 0;
    let Some(step) = steps.iter().find(unsent).filter(|_| row.kind == FailureKind::Unsent) else {
        return row.remedy_over(plan.network.unix.is_some());
    };
    let short_of_descriptors =
        |reason: &&GeneratorReason| matches!(reason, GeneratorReason::OutOfConnections { .. });
    match step.generator.reasons.iter().find(short_of_descriptors) {
        Some(reason) => reason.remedy(),
        None if step.generator.out_of_time() => OUT_OF_TIME,
        None if step.generator.too_short => row.remedy,
        None => OUT_OF_CONNECTIONS,
    }
}
