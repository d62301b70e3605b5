//! The difference between two monotonic clocks, measured by exchanges of four timestamps.
//!
//! An agent asks at `t0` of its own clock, the conductor receives the request at `t1` and answers at `t2` of its clock, and the
//! answer arrives at `t3`. With the delay δ = (t3 − t0) − (t2 − t1) the difference of the clocks is θ = ((t1 − t0) + (t2 − t3)) / 2
//! with an error of at most δ / 2, whatever part of the delay each way took (RFC 5905, section 8 and appendix A.5.1). Of several
//! exchanges the one with the smallest delay counts.

use std::time::Duration;

use plimsoll_record::WallClocks;
use plimsoll_units::Instant;

/// Bound on the drift between two clocks: 100 ppm (RFC 5905 assumes 15 ppm of a disciplined one).
pub(crate) const DRIFT_PPB: u64 = 100_000;

/// Exchanges of the measurement before a step.
pub(crate) const EXCHANGES: usize = 16;
/// Exchanges of the measurement after a step, which only shows whether a clock was set. Few, because all agents ask at once.
pub(crate) const EXCHANGES_AFTER: usize = 4;
/// How long a measurement may take, with all its exchanges.
pub(crate) const MEASURED_WITHIN: Duration = Duration::from_secs(10);
/// How long one exchange may take.
pub(crate) const EXCHANGED_WITHIN: Duration = Duration::from_secs(1);

/// The four timestamps of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// When the agent asked, by its clock.
    pub(crate) asked: Instant,
    /// When the conductor received the request, by its clock.
    pub(crate) received: Instant,
    /// When the conductor answered, by its clock.
    pub(crate) answered: Instant,
    /// When the agent received the answer, by its clock.
    pub(crate) arrived: Instant,
}

/// By how much the conductor's clock is ahead of the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Nanoseconds to add to an instant of the agent.
    ns: i128,
    /// Bound on the error at the instant of the measurement, in nanoseconds.
    error_ns: u64,
    /// The instant of the measurement, by the agent's clock.
    measured: Instant,
    /// Bound on the drift between the clocks, in nanoseconds per second.
    drift_ppb: u64,
}

/// The result of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) offset: Offset,
    /// How the wall clocks compare with it; `None` unless both are synchronised.
    pub(crate) wall: Option<WallClocks>,
}

impl Exchange {
    fn delay_ns(&self) -> i128 {
        between(self.asked, self.arrived) - between(self.received, self.answered)
    }
}

/// Nanoseconds from the first instant to the second.
fn between(from: Instant, to: Instant) -> i128 {
    i128::from(to.as_nanos()) - i128::from(from.as_nanos())
}

impl Offset {
    /// Computes the offset from the exchange with the smallest delay, for clocks that drift by at most `drift_ppb`; `None` without
    /// any exchange.
    pub(crate) fn best(exchanges: &[Exchange], drift_ppb: u64) -> Option<Self> {
        let best = exchanges.iter().min_by_key(|exchange| exchange.delay_ns())?;
        let ns = (between(best.asked, best.received) + between(best.arrived, best.answered)) / 2;
        // A negative delay means that a clock was set, or that its resolution is too coarse.
        let halved = u64::try_from(best.delay_ns().max(0) / 2 + 1).unwrap_or(u64::MAX);
        // The clocks drift during the exchange, too.
        let error_ns = halved.saturating_add(drift_ns(best.arrived.since(best.asked), drift_ppb));
        Some(Self { ns, error_ns, measured: best.arrived, drift_ppb })
    }

    /// By how much the conductor's clock is ahead, in nanoseconds.
    pub(crate) fn ahead_ns(self) -> i128 {
        self.ns
    }

    /// Bound on the error of the offset at the instant of the measurement, in nanoseconds.
    pub(crate) fn own_error_ns(self) -> u64 {
        self.error_ns
    }

    /// Translates an instant of the conductor to the agent's clock.
    pub(crate) fn to_agent(self, instant: Instant) -> Instant {
        let ns = i128::from(instant.as_nanos()) - self.ns;
        Instant::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }

    /// Bound on the error of the offset at this instant of the agent, in nanoseconds: it grows with the drift.
    pub(crate) fn error_at(self, instant: Instant) -> u64 {
        let since = instant.since(self.measured).max(self.measured.since(instant));
        self.error_ns.saturating_add(drift_ns(since, self.drift_ppb))
    }

    /// By how much a clock moved since `earlier`; `None` if drift and the errors of both offsets explain the difference.
    pub(crate) fn moved_since(self, earlier: Self) -> Option<Duration> {
        let apart = (self.ns - earlier.ns).unsigned_abs();
        let explained = self.error_ns.saturating_add(earlier.error_at(self.measured));
        let moved = u64::try_from(apart).unwrap_or(u64::MAX);
        (moved > explained).then(|| Duration::from_nanos(moved))
    }
}

fn drift_ns(since: Duration, drift_ppb: u64) -> u64 {
    let ns = (since.as_nanos() * u128::from(drift_ppb)).div_ceil(1_000_000_000);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exchange(asked: u64, received: u64, answered: u64, arrived: u64) -> Exchange {
        let [asked, received, answered, arrived] =
            [asked, received, answered, arrived].map(Instant::from_nanos);
        Exchange { asked, received, answered, arrived }
    }

    #[test]
    fn the_exchange_with_the_least_delay_counts() {
        let slow = exchange(1_000, 51_000, 51_100, 9_000);
        let quick = exchange(10_000, 60_200, 60_300, 10_500);
        let offset = Offset::best(&[slow, quick], DRIFT_PPB).unwrap();
        assert_eq!(offset.to_agent(Instant::from_nanos(60_250)), Instant::from_nanos(10_250));
        assert_eq!(offset.error_at(Instant::from_nanos(10_500)), 202, "a nanosecond for the drift");
        assert_eq!(Offset::best(&[], DRIFT_PPB), None);
    }

    #[test]
    fn the_error_grows_with_the_drift() {
        let offset = Offset::best(&[exchange(0, 100, 100, 200)], DRIFT_PPB).unwrap();
        let later = Instant::from_nanos(200) + Duration::from_secs(60);
        assert_eq!(offset.error_at(later), 102 + 6_000_000);
    }

    #[test]
    fn the_clocks_drift_during_the_exchange_too() {
        // All of the delay is on the way back, and the agent's clock loses 100 ppm meanwhile.
        let second = 1_000_000_000;
        let offset = Offset::best(&[exchange(0, 0, 0, second)], DRIFT_PPB).unwrap();
        let truth = Instant::from_nanos(second + 100_000);
        let error = between(offset.to_agent(truth), Instant::from_nanos(second)).unsigned_abs();
        assert!(error <= u128::from(offset.error_at(Instant::from_nanos(second))), "{error}");
    }

    #[test]
    fn a_clock_that_was_set_is_noticed_and_one_that_drifts_is_not() {
        let minute = 60_000_000_000;
        let before = Offset::best(&[exchange(0, 100, 100, 200)], DRIFT_PPB).unwrap();
        let drifted = Offset::best(
            &[exchange(minute, minute + 5_000_100, minute + 5_000_100, minute + 200)],
            DRIFT_PPB,
        );
        assert_eq!(drifted.unwrap().moved_since(before), None);
        let set =
            Offset::best(&[exchange(minute, 2 * minute + 100, 2 * minute + 100, minute + 200)], DRIFT_PPB);
        assert_eq!(set.unwrap().moved_since(before), Some(Duration::from_secs(60)));
    }

    proptest! {
        /// Whatever the way there and the way back take, the truth is within the error.
        #[test]
        fn the_truth_is_within_the_error(
            ahead in 0_u64..1_000_000_000_000_000,
            delays in prop::collection::vec((0_u64..50_000_000, 0_u64..5_000_000, 0_u64..50_000_000), 1..16),
        ) {
            let mut now = 1_000_000_000;
            let exchanges: Vec<Exchange> = delays
                .iter()
                .map(|(there, at, back)| {
                    let asked = now;
                    now += there + at + back;
                    let received = asked + ahead + there;
                    exchange(asked, received, received + at, now)
                })
                .collect();
            let offset = Offset::best(&exchanges, DRIFT_PPB).unwrap();
            let instant = Instant::from_nanos(now + ahead);
            let error = between(offset.to_agent(instant), Instant::from_nanos(now)).unsigned_abs();
            prop_assert!(error <= u128::from(offset.error_at(Instant::from_nanos(now))));
        }
    }
}
