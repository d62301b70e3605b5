//! What each request of the plan came to in one step.

use plimsoll_record::{CorruptHistogram, Counts, Frame};

use crate::RequestSummary;
use crate::proportion::wilson;
use crate::quantile::summary;
use crate::summary::{merged, per_second};

/// The frames of one step, as its analysis divides them.
pub(crate) struct Divided<'a> {
    /// All of them.
    pub(crate) all: &'a [&'a Frame],
    /// Those of the measured window.
    pub(crate) measured: &'a [&'a Frame],
    /// Those in which requests of the measured window ended.
    pub(crate) ended: &'a [&'a Frame],
}

/// The requests of a plan of several, in its order; none for a plan of one, whose figures are those of its step.
///
/// # Errors
/// When a stored histogram cannot be decoded.
pub(crate) fn by_request(
    names: &[plimsoll_plan::RequestGroup],
    frames: &Divided<'_>,
) -> Result<Vec<RequestSummary>, CorruptHistogram> {
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    (0..).zip(names).map(|(request, group)| of_request(request, &group.name, frames)).collect()
}

fn of_request(request: u16, name: &str, frames: &Divided<'_>) -> Result<RequestSummary, CorruptHistogram> {
    let own = |frame: &&&Frame| frame.head.request == request;
    let mut counts = Counts::default();
    frames.all.iter().filter(own).for_each(|frame| counts.merge(&frame.head.counts));
    let ended: Vec<&Frame> = frames.ended.iter().filter(own).copied().collect();
    let measured = frames.measured.iter().map(|frame| &frame.head);
    Ok(RequestSummary {
        name: name.to_owned(),
        throughput_per_sec: per_second(measured, |head| {
            if head.request == request { head.counts.completed } else { 0 }
        }),
        success_ratio: counts.success_ratio(),
        success_interval: wilson(counts.ok, counts.ended()),
        counts,
        latency: summary(&merged(ended.iter().copied(), |frame| &frame.latency)?),
        service: summary(&merged(ended.iter().copied(), Frame::service_times)?),
    })
}
