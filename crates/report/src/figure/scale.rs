//! Value axes: the height of a value in the frame, and the places and texts of the ticks.

use std::time::Duration;

use super::axis::Axis;
use crate::amount::span;

/// The smallest share of failures that is drawn apart from none.
const MIN_FAILED: f64 = 1e-5;
/// The height of 100 % of success, which leaves room above it.
const NINES_HEIGHT: f64 = 0.92;
/// More ticks than this are thinned to the powers of ten.
const MAX_LOG_TICKS: usize = 7;
/// The values of a decade that have ticks.
const IN_DECADE: [f64; 3] = [1.0, 2.0, 5.0];
/// The factor by which a logarithmic axis extends beyond its points.
const LOG_ROOM: f64 = 1.15;

/// How the values of an axis become heights.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scale {
    Linear(Axis),
    /// Times in milliseconds, each decade as high as the next.
    Times(LogTimes),
    /// Per cent of success, by the part that failed on a logarithmic scale: 99.9 % is as far from 99 % as 99.99 % is from
    /// 99.9 %, and 100 % is at the top.
    Nines,
}

/// The ends of a logarithmic axis of times, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogTimes {
    label: &'static str,
    low: f64,
    high: f64,
}

impl Scale {
    /// Returns a logarithmic axis of times in milliseconds that shows all of these; values that are not positive are left
    /// out.
    pub(super) fn times(label: &'static str, shown: impl Iterator<Item = f64>) -> Self {
        let shown: Vec<f64> = shown.filter(|ms| ms.is_finite() && *ms > 0.0).collect();
        let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shown.iter().copied().fold(0.0, f64::max);
        let (low, high) = if shown.is_empty() { (1.0, 10.0) } else { (low / LOG_ROOM, high * LOG_ROOM) };
        Self::Times(LogTimes { label, low: at_most(low), high: at_least(high) })
    }

    /// The height of a value, 0 at the bottom of the frame and 1 at its top.
    pub(super) fn height(&self, value: f64) -> f64 {
        let height = match self {
            Self::Linear(axis) => axis.height(value),
            Self::Times(LogTimes { low, high, .. }) => (value / low).log10() / (high / low).log10(),
            Self::Nines => NINES_HEIGHT * (1.0 - value / 100.0).max(MIN_FAILED).log10() / MIN_FAILED.log10(),
        };
        if height.is_nan() { 0.0 } else { height.clamp(0.0, 1.0) }
    }

    /// The quantity and its unit.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Linear(axis) => &axis.label,
            Self::Times(LogTimes { label, .. }) => label,
            Self::Nines => "success (% of requests)",
        }
    }

    /// The ticks with their texts, lowest first.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Linear(axis) => axis.ticks(),
            Self::Times(times) => times.ticks(),
            Self::Nines => {
                [0.0, 90.0, 99.0, 99.9, 99.99, 100.0].map(|value| (value, format!("{value}"))).into()
            }
        }
    }
}

impl LogTimes {
    fn ticks(&self) -> Vec<(f64, String)> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let within = |value: &f64| (self.low * 0.999..=self.high * 1.001).contains(value);
        let ticks = |factors: &[f64]| -> Vec<f64> {
            let values = decades
                .clone()
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
            values.filter(within).collect()
        };
        let fine = ticks(&IN_DECADE);
        let chosen = if fine.len() > MAX_LOG_TICKS { ticks(&IN_DECADE[..1]) } else { fine };
        let time = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).unwrap_or(Duration::MAX);
        chosen.into_iter().map(|ms| (ms, span(time(ms)))).collect()
    }
}

/// The highest value with a tick that is at most this one.
fn at_most(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    IN_DECADE.iter().rev().map(|factor| factor * power).find(|tick| *tick <= value).unwrap_or(power)
}

/// The lowest value with a tick that is at least this one.
fn at_least(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    IN_DECADE.iter().map(|factor| factor * power).find(|tick| *tick >= value).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn times_have_ticks_in_every_decade_and_hold_all_points() {
        let scale = Scale::times("latency", [4.2, 19.0].into_iter());
        assert_eq!(texts(&scale), ["2 ms", "5 ms", "10 ms", "20 ms", "50 ms"]);
        assert!(scale.height(4.2) > 0.05 && scale.height(19.0) < 0.95);
        let wide = Scale::times("latency", [0.05, 9000.0].into_iter());
        assert_eq!(texts(&wide), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        assert_eq!(Scale::times("", [f64::NAN, -1.0].into_iter()), Scale::times("", std::iter::empty()));
        assert!(!texts(&Scale::times("latency", [1e25].into_iter())).is_empty());
    }

    #[test]
    fn nearly_all_and_all_successes_are_apart() {
        let height = |percent| Scale::Nines.height(percent);
        assert!(height(99.95) - height(99.5) > 0.1 && height(100.0) - height(99.95) > 0.1);
        assert_eq!((height(0.0), height(-3.0)), (0.0, 0.0));
        assert!(height(100.0) < 1.0, "a mark at the top has room");
    }
}
