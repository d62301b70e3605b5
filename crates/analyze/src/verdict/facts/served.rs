//! How much is served next to what is refused or closed.

use plimsoll_record::FailureKind;

use crate::findings::StepSummary;
use crate::hosts::utilisation::TIE;
use crate::load::knee::counts_for_capacity;

/// The statuses with which servers refuse excess requests: RFC 6585 section 4, RFC 9110 section 15.6.4.
const STATUSES: [u16; 2] = [429, 503];
/// A smaller share of refusals is no policy: a step may fail by as much and still count.
pub(crate) const MIN_PART: f64 = 0.05;
/// Throughput is the same at two loads within this share.
pub(crate) const SAME_SERVED: f64 = 0.1;

/// The share of the ended requests that was refused.
pub(crate) fn refused_part(step: &StepSummary) -> f64 {
    let refused = step.counts.status.iter().filter(|(status, _)| STATUSES.contains(status));
    refused.map(|(_, count)| count).sum::<u64>() as f64 / (step.counts.ended().max(1)) as f64
}

/// The share of the ended requests whose connection was closed before an answer.
pub(crate) fn closed_part(step: &StepSummary) -> f64 {
    let kinds = [FailureKind::ClosedBeforeResponse, FailureKind::ResetBeforeResponse];
    let closed: u64 = kinds.iter().map(|kind| step.counts.failed.of(*kind)).sum();
    closed as f64 / step.counts.ended().max(1) as f64
}

/// Requests of a step that got no connection.
pub(crate) fn failed_to_connect(step: &StepSummary) -> u64 {
    let kinds = [
        FailureKind::ConnectRefused,
        FailureKind::ConnectTimedOut,
        FailureKind::ConnectReset,
        FailureKind::ClosedBeforeResponse,
        FailureKind::ResetBeforeResponse,
    ];
    kinds.iter().map(|kind| step.counts.failed.of(*kind)).sum()
}

/// Requests per second that were served while the load was on.
pub(crate) fn served_per_sec(step: &StepSummary) -> f64 {
    step.ok_under_load as f64 / (step.warmup_sec + step.measured_sec).max(f64::MIN_POSITIVE)
}

/// The highest rate of served requests of any step.
pub(crate) fn most_served(steps: &[StepSummary]) -> f64 {
    steps.iter().map(served_per_sec).fold(0.0, f64::max)
}

/// True for a step whose requests were accepted.
pub(crate) fn is_accepting(step: &StepSummary) -> bool {
    refused_part(step) < MIN_PART && counts_for_capacity(step)
}

/// The step with the lowest load whose refusals are a policy.
pub(crate) fn first_refusing(steps: &[StepSummary]) -> Option<usize> {
    let refusing = (0..steps.len()).filter(|index| refused_part(&steps[*index]) >= MIN_PART);
    refusing.min_by_key(|index| (steps[*index].connections, *index))
}

/// True if as much was served before there were refusals: something else had stopped growth by then, and what is refused may be
/// the requests that waited too long for it.
pub(crate) fn was_level_before(steps: &[StepSummary], level_per_sec: f64) -> bool {
    let accepting = steps.iter().filter(|step| is_accepting(step));
    accepting.map(served_per_sec).any(|served| served >= (1.0 - TIE) * level_per_sec)
}
