//! The figures of each request of the plan in one step, and the statuses that count as success.

use plimsoll_plan::{Plan, RequestGroup};
use plimsoll_record::{CorruptHistogram, Frame};
use plimsoll_scenario::{Check, CheckedResponse};
use plimsoll_stats::wilson;

use super::frames::{counts_of, merged, per_second};
use super::percentile::summary;
use crate::RequestSummary;

/// The frames of one step, as its analysis divides them.
pub(crate) struct Divided<'a> {
    pub(crate) all: &'a [&'a Frame],
    pub(crate) measured: &'a [&'a Frame],
    /// Frames in which requests of the measured window ended.
    pub(crate) ended: &'a [&'a Frame],
}

/// The figures of each request of a plan, in its order; empty for a plan of one request, whose figures are those of the step.
pub(crate) fn by_request(
    names: &[RequestGroup],
    frames: &Divided<'_>,
) -> Result<Vec<RequestSummary>, CorruptHistogram> {
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    (0..).zip(names).map(|(request, group)| of_request(request, &group.name, frames)).collect()
}

fn of_request(request: u16, name: &str, frames: &Divided<'_>) -> Result<RequestSummary, CorruptHistogram> {
    let own = |frame: &&&Frame| frame.head.request == request;
    let counts = counts_of(frames.all.iter().filter(own).map(|frame| &frame.head));
    let ended: Vec<&Frame> = frames.ended.iter().filter(own).copied().collect();
    let latency = summary(&merged(ended.iter().copied(), |frame| &frame.latency)?);
    let measured = frames.measured.iter().map(|frame| &frame.head);
    Ok(RequestSummary {
        name: name.to_owned(),
        throughput_per_sec: per_second(measured, |head| {
            if head.request == request { head.counts.completed } else { 0 }
        }),
        success_ratio: counts.success_ratio(),
        success_interval: wilson(counts.ok, counts.ended()),
        counts,
        latency,
        service: match ended.iter().any(|frame| frame.service.is_some()) {
            true => summary(&merged(ended.iter().copied(), Frame::service_times)?),
            false => latency,
        },
    })
}

/// True if a response with this status can be a success: by the plan's checks of the status, or without such checks if it is from
/// 200 to 399.
pub fn wants_status(plan: &Plan, status: u16) -> bool {
    let answer = CheckedResponse { status, body_bytes: 0, head: &[], body: &[] };
    let checks = plan.checks.iter().filter_map(|typed| Check::parse(typed).ok());
    let mut verdicts = checks.filter(Check::is_of_status).map(|check| check.holds(&answer)).peekable();
    match verdicts.peek() {
        None => (200..400).contains(&status),
        Some(_) => verdicts.all(|held| held),
    }
}
