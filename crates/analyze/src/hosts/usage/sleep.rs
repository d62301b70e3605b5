//! Whether processes sleep between requests.

use plimsoll_record::metric::process;

use crate::StepSummary;
use crate::hosts::track::{Span, Track};

/// A thread that serves requests one by one sleeps until the next one comes. If few are under way, it must sleep at least once per
/// hundred of its requests, even if it is held up for long in between; a thread that polls never does.
pub(crate) const MIN_SLEEPS: f64 = 0.01;

/// How often a process or thread gave up its CPU, per second.
pub(crate) fn sleeps_per_sec(track: &Track<'_>, span: Span) -> Option<f64> {
    track.per_sec(track.own(process::VOLUNTARY_SWITCHES)?, span)
}

/// The step with the fewest requests under way: its index, its span, and its throughput.
pub(crate) fn fewest(steps: &[StepSummary], spans: &[Span]) -> Option<(usize, Span, f64)> {
    let by_load = |a: &&StepSummary, b: &&StepSummary| a.under_way().total_cmp(&b.under_way());
    let (index, step) = steps.iter().enumerate().min_by(|(_, a), (_, b)| by_load(a, b))?;
    Some((index, spans[index], step.throughput.value))
}

/// Whether a process slept while it waited for requests, at the step with the fewest under way; `None` if that was not counted.
pub(crate) fn sleeps(track: &Track<'_>, steps: &[StepSummary], spans: &[Span]) -> Option<bool> {
    let (_, span, throughput) = fewest(steps, spans)?;
    Some(sleeps_per_sec(track, span)? >= MIN_SLEEPS * throughput)
}
