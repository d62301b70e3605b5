//! The limits that keep a service within what it holds.

use super::slices::limit_ms;
use crate::{Findings, Overload, Protection};

/// The part of the limit of latency that those may take who are let in: half of it is left for what varies.
const LIMIT_PART: f64 = 0.5;
/// The part of it that a burst may take, which waits behind what is in progress.
const BURST_PART: f64 = 0.25;
/// Without a limit of latency, so many times those in progress on average.
const WITHOUT_LIMIT: f64 = 2.0;
/// Without a limit of latency, the longest wait of a request to be let in, in milliseconds.
const WAIT_MS: f64 = 100.0;

/// The limits that follow from the highest rate within the conditions; `None` where none is known.
pub fn protection(findings: &Findings) -> Option<Protection> {
    let (rate_per_sec, service_mean_ns) = held(findings)?;
    let limit_ms = limit_ms(&findings.plan.slo);
    (rate_per_sec >= 1.0 && service_mean_ns > 0.0)
        .then(|| of_rate(rate_per_sec, service_mean_ns / 1e9, limit_ms))
}

/// The rate that holds, and the mean service time at it: of the overloads, or else of the search.
fn held(findings: &Findings) -> Option<(f64, f64)> {
    let of_overload = |overload: &Overload| {
        let reference = overload.reference.as_ref()?;
        Some((overload.rate_per_sec?, reference.service_mean_ns))
    };
    if let Some(overload) = &findings.overload {
        return of_overload(overload);
    }
    let search = findings.search.as_ref()?;
    Some((search.held_per_sec?, search.best()?.step.service.mean_ns))
}

/// By Little's law N requests are in progress for N/λ on average while λ are answered a second: so many as λ·L/2 are answered
/// within half of the limit L. There must be room for those that are in progress anyway, λ·R.
fn of_rate(rate_per_sec: f64, service_sec: f64, limit_ms: Option<f64>) -> Protection {
    let in_progress = rate_per_sec * service_sec;
    let limit_sec = limit_ms.map(|ms| ms / 1e3);
    let within = limit_sec.map_or(WITHOUT_LIMIT * in_progress, |sec| LIMIT_PART * sec * rate_per_sec);
    let burst = limit_sec.map_or(in_progress, |sec| BURST_PART * sec * rate_per_sec);
    Protection {
        rate_per_sec,
        burst: (burst.round() as u64).max(1),
        concurrency: (within.max(in_progress).ceil() as u64).max(1),
        in_progress,
        limit_ms,
        wait_ms: limit_ms.map_or(WAIT_MS, |ms| BURST_PART * ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_let_in_is_answered_within_half_of_the_limit() {
        let limits = of_rate(800.0, 0.012, Some(100.0));
        assert_eq!((limits.concurrency, limits.burst, limits.wait_ms), (40, 20, 25.0));
        assert!((limits.in_progress - 9.6).abs() < 1e-9);
    }

    #[test]
    fn there_is_room_for_what_is_in_progress_anyway() {
        assert_eq!(of_rate(100.0, 0.9, Some(1000.0)).concurrency, 90);
        assert_eq!(of_rate(100.0, 0.05, None).concurrency, 10);
        assert_eq!(of_rate(2.0, 0.001, Some(10.0)).concurrency, 1, "one at least is let in");
    }
}
