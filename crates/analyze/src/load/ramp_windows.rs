//! The figures of a load with a changing rate, over time.

use std::time::Duration;

use plimsoll_plan::RateProfile;
use plimsoll_record::{CorruptHistogram, Frame, Phase, Step};

use super::frames::{counts_of, merged, per_second};
use super::percentile::summary;
use crate::RampWindow;

/// The approximate number of windows of a profile.
const WINDOWS: f64 = 20.0;

/// The ends of the windows of a profile, in seconds since the load began. A level stage is one window; a rising or falling stage is
/// split into windows of nearly equal length. If there are more stages than windows, one window covers several.
fn ends_sec(profile: &RateProfile) -> Vec<f64> {
    let whole_sec = profile.duration().unwrap_or_default().as_secs_f64();
    let least_sec = whole_sec / WINDOWS;
    let (mut ends, mut began_sec) = (Vec::new(), 0.0);
    for stage in profile.stages() {
        let level = stage.from_per_sec == stage.to_per_sec;
        let span_sec = stage.duration.as_secs_f64();
        let parts = if level { 1.0 } else { (span_sec / least_sec).round().max(1.0) };
        ends.extend((1..=parts as u32).map(|part| began_sec + span_sec * f64::from(part) / parts));
        began_sec += span_sec;
    }
    if ends.len() as f64 <= 2.0 * WINDOWS {
        return ends;
    }
    (1..=WINDOWS as u32).map(|part| whole_sec * f64::from(part) / WINDOWS).collect()
}

/// The windows of a step with a changing rate, as far as it ran; empty for a constant rate.
///
/// A frame belongs to the window that contains its middle. A response counts when it arrives, so that at a rising rate the answers lag
/// behind the due requests by about the latency.
pub(crate) fn over_time(
    profile: Option<&RateProfile>,
    step: &Step,
    frames: &[&Frame],
) -> Result<Vec<RampWindow>, CorruptHistogram> {
    let Some(profile) = profile.filter(|profile| profile.varies()) else { return Ok(Vec::new()) };
    let mut windows = Vec::new();
    let mut began_sec = 0.0;
    for end_sec in ends_sec(profile) {
        let within: Vec<&Frame> =
            frames.iter().copied().filter(|frame| falls(step, frame, began_sec, end_sec)).collect();
        if !within.is_empty() {
            let middle = Duration::from_secs_f64((began_sec + end_sec) / 2.0);
            windows.push(window((began_sec, end_sec), profile.rate_at(middle), &within)?);
        }
        began_sec = end_sec;
    }
    Ok(windows)
}

fn falls(step: &Step, frame: &Frame, began_sec: f64, end_sec: f64) -> bool {
    let head = &frame.head;
    let since_sec = |ns: u64| ns.saturating_sub(step.began_ns) as f64 / 1e9;
    let middle_sec = (since_sec(head.began_ns) + since_sec(head.ended_ns)) / 2.0;
    head.phase == Phase::Measure && (began_sec..end_sec).contains(&middle_sec)
}

fn window(
    (began_sec, end_sec): (f64, f64),
    rate_per_sec: f64,
    frames: &[&Frame],
) -> Result<RampWindow, CorruptHistogram> {
    let heads = || frames.iter().map(|frame| &frame.head);
    let last = heads().map(|head| head.interval).max().unwrap_or(0);
    let at_the_end = || heads().filter(|head| head.interval == last);
    Ok(RampWindow {
        began_sec,
        end_sec,
        rate_per_sec,
        due_per_sec: per_second(heads(), |head| head.counts.intended),
        throughput_per_sec: per_second(heads(), |head| head.counts.completed),
        success_ratio: counts_of(heads()).success_ratio(),
        in_flight: at_the_end().map(|head| head.in_flight).sum(),
        backlog: at_the_end().map(|head| head.backlog).sum(),
        latency: summary(&merged(frames.iter().copied(), |frame| &frame.latency)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Vec<f64> {
        ends_sec(&text.parse().unwrap())
    }

    #[test]
    fn level_stages_are_one_moment_and_ramps_are_several() {
        assert_eq!(ends("const(1,60s) const(2,40s)"), [60.0, 100.0]);
        assert_eq!(ends("ramp(1,9,10s)").len(), 20);
        assert_eq!(ends("ramp(1,9,10s) const(9,30s)"), [2.0, 4.0, 6.0, 8.0, 10.0, 40.0]);
        assert_eq!(ends("step(1,1k,1,1s)").len(), 20);
    }
}
