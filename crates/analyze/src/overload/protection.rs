//! Limits that keep the load of a service at or below the rate that it holds.

use super::slices::limit_ms;
use crate::{Findings, OverloadClass, Protection};

/// The fraction of the latency limit that admitted requests may take; the rest is room for variation.
const LIMIT_PART: f64 = 0.5;
/// The fraction of the latency limit that a burst may take, which waits behind the requests in progress.
const BURST_PART: f64 = 0.25;
/// The smallest burst. A bucket that fills at the rate r and is emptied by Poisson arrivals at ρ·r is an M/D/1 queue with b places: it
/// refuses about (1 − ρ)·e^(−θb) of them, where ρ·(e^θ − 1) = θ (Asmussen, *Applied Probability and Queues*, 2003, chapter XIII).
/// For ρ = 0.9 θ is 0.207, and twenty places refuse 0.2 %, at any rate; for ρ = 0.95 they refuse 0.6 %. Random arrivals alone cause such
/// bursts, and the rate was measured with random arrivals.
const MIN_BURST: f64 = 20.0;
/// Room for random arrivals above N, the mean number in progress: three standard deviations of a Poisson variable, 3·√N, and one
/// request (square-root staffing: Halfin and Whitt, *Heavy-Traffic Limits for Queues with Many Exponential Servers*, 1981). At 90 % of
/// the rate Erlang's loss formula gives below 1 % for any N.
const CONCURRENCY_DEVIATIONS: f64 = 3.0;
/// Without a latency limit, the concurrency over the mean number of requests in progress.
const WITHOUT_LIMIT: f64 = 2.0;
/// Without a latency limit, the longest wait of a request for admission, in milliseconds.
const WAIT_MS: f64 = 100.0;

/// Derives limits from the highest rate within the conditions. `None` if no such rate is known, and for a target that kept up with more:
/// limits would refuse load that it served.
pub fn protection(findings: &Findings) -> Option<Protection> {
    if findings.overload.as_ref().is_some_and(|overload| overload.class == OverloadClass::NotOverloaded) {
        return None;
    }
    let (rate_per_sec, service_mean_ns) = held_rate(findings).zip(service_mean_ns(findings))?;
    let limit_ms = limit_ms(&findings.plan.slo);
    (rate_per_sec >= 1.0 && service_mean_ns > 0.0)
        .then(|| of_rate(rate_per_sec, service_mean_ns / 1e9, limit_ms))
}

/// The rate that holds, in requests per second: given or found, and not contradicted. `None` where none is known.
pub fn held_rate(findings: &Findings) -> Option<f64> {
    let of_search = || findings.search.as_ref()?.held_per_sec;
    findings.overload.as_ref().map_or_else(of_search, |overload| overload.held_per_sec)
}

/// The mean service time at the rate that holds, in nanoseconds: that of the search if the overload leaves doubt.
fn service_mean_ns(findings: &Findings) -> Option<f64> {
    let of_search = || Some(findings.search.as_ref()?.best()?.step.service.mean_ns);
    let Some(overload) = &findings.overload else { return of_search() };
    let of_reference = || Some(overload.reference.as_ref()?.service_mean_ns);
    match overload.reference_doubt {
        None => of_reference(),
        Some(_) => of_search().or_else(of_reference),
    }
}

impl Protection {
    /// True if the concurrency follows from the latency limit: it is the number of requests answered within half of that limit. Else it is
    /// the number in progress anyway, with its margin, which may take longer.
    pub fn is_by_limit(&self) -> bool {
        self.limit_ms.is_some_and(|ms| self.concurrency as f64 <= in_half(ms / 1e3, self.rate_per_sec).ceil())
    }
}

/// The number of requests that are answered within half of the limit.
fn in_half(limit_sec: f64, rate_per_sec: f64) -> f64 {
    LIMIT_PART * limit_sec * rate_per_sec
}

/// By Little's law N requests are in progress for N/λ on average at λ answers per second, so that λ·L/2 of them are answered within half
/// of the limit L. The concurrency is at least what is in progress anyway: λ·R and the margin for random arrivals. A burst may wait for a
/// quarter of the limit, in which λ·L/4 are answered; it is at least [`MIN_BURST`].
fn of_rate(rate_per_sec: f64, service_sec: f64, limit_ms: Option<f64>) -> Protection {
    let in_progress = rate_per_sec * service_sec;
    let limit_sec = limit_ms.map(|ms| ms / 1e3);
    let within = limit_sec.map_or(WITHOUT_LIMIT * in_progress, |sec| in_half(sec, rate_per_sec));
    let anyway = in_progress + CONCURRENCY_DEVIATIONS * in_progress.sqrt() + 1.0;
    let burst = limit_sec.map_or(in_progress, |sec| BURST_PART * sec * rate_per_sec);
    Protection {
        rate_per_sec,
        burst: burst.max(MIN_BURST).round() as u64,
        concurrency: within.max(anyway).ceil() as u64,
        in_progress,
        limit_ms,
        wait_ms: limit_ms.map_or(WAIT_MS, |ms| BURST_PART * ms),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use plimsoll_plan::{ArrivalProcess, Arrivals, RateProfile, Shard};

    use super::*;

    #[test]
    fn what_is_let_in_is_answered_within_half_of_the_limit() {
        let limits = of_rate(800.0, 0.012, Some(200.0));
        assert_eq!((limits.concurrency, limits.burst, limits.wait_ms), (80, 40, 50.0));
        assert!((limits.in_progress - 9.6).abs() < 1e-9);
    }

    #[test]
    fn there_is_room_for_what_is_in_progress_anyway() {
        // 90 + 3·√90 + 1, and 5 + 3·√5 + 1.
        assert_eq!(of_rate(100.0, 0.9, Some(1000.0)).concurrency, 120);
        assert_eq!(of_rate(100.0, 0.05, None).concurrency, 13);
        assert_eq!(of_rate(2.0, 0.001, Some(10.0)).concurrency, 2);
    }

    #[test]
    fn the_concurrency_follows_from_the_limit_or_from_what_is_in_progress_anyway() {
        assert!(of_rate(800.0, 0.012, Some(200.0)).is_by_limit());
        assert!(!of_rate(2.0, 0.05, Some(200.0)).is_by_limit(), "3 of 2/s take 1.5 s");
        assert!(!of_rate(100.0, 0.05, None).is_by_limit());
    }

    /// The parts of Poisson arrivals that the rate and the concurrency let in, and the rate of both over the limit. Each request
    /// takes `service_sec`.
    fn let_in(limits: &Protection, service_sec: f64, offered: f64) -> (f64, f64) {
        const REQUESTS: usize = 200_000;
        let profile = RateProfile::Constant(offered * limits.rate_per_sec);
        let arrivals = Arrivals::new(ArrivalProcess::Poisson, &profile, Shard { index: 0, of: 1 }, 11);
        let room = limits.burst as f64;
        let (mut tokens, mut last_sec, mut passed) = (room, 0.0, 0);
        let mut ends: VecDeque<f64> = VecDeque::new();
        for due_ns in arrivals.take(REQUESTS) {
            let now_sec = due_ns as f64 / 1e9;
            tokens = room.min(tokens + (now_sec - last_sec) * limits.rate_per_sec);
            last_sec = now_sec;
            while ends.front().is_some_and(|end| *end <= now_sec) {
                ends.pop_front();
            }
            if tokens >= 1.0 {
                tokens -= 1.0;
                if (ends.len() as u64) < limits.concurrency {
                    ends.push_back(now_sec + service_sec);
                    passed += 1;
                }
            }
        }
        let passed = f64::from(passed);
        (passed / REQUESTS as f64, passed / last_sec / limits.rate_per_sec)
    }

    #[test]
    fn random_arrivals_below_the_limit_are_let_in_and_what_is_beyond_is_not() {
        for (rate, service_sec, limit_ms) in [
            (1000.0, 0.012, Some(100.0)),
            (1000.0, 0.0002, Some(10.0)),
            (100.0, 0.9, Some(1000.0)),
            (100.0, 0.008, Some(10.0)),
            (7.9, 0.05, Some(200.0)),
            (2.0, 0.001, None),
        ] {
            let limits = of_rate(rate, service_sec, limit_ms);
            let (below, _) = let_in(&limits, service_sec, 0.9);
            assert!(below > 0.99, "{below} of 90 % of {limits:?}");
            let (_, beyond) = let_in(&limits, service_sec, 2.0);
            assert!((0.98..1.02).contains(&beyond), "{beyond} of the limit at twice its rate: {limits:?}");
        }
    }
}
