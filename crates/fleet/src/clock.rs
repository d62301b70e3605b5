//! The difference between two monotonic clocks, measured by exchanges of four timestamps.
//!
//! An agent asks at `t0` of its own clock, the conductor gets that at `t1` and answers at `t2` of its clock, and the answer is
//! there at `t3`. With the delay δ = (t3 − t0) − (t2 − t1) the difference of the clocks is θ = ((t1 − t0) + (t2 − t3)) / 2 with an
//! error of at most δ / 2, whatever part of the delay each way took (RFC 5905, section 8 and appendix A.5.1). Of several exchanges
//! the one with the smallest delay counts.

use std::time::Duration;

use plimsoll_record::WallClocks;
use plimsoll_units::Instant;

/// Two clocks gain or lose no more than this against each other: 100 ppm (RFC 5905 assumes 15 ppm of a disciplined one).
pub(crate) const DRIFT_PPB: u64 = 100_000;

/// Exchanges of the measurement before a step.
pub(crate) const EXCHANGES: usize = 16;
/// Of that after a step, which shows no more than whether a clock was set: all agents ask at once, and the answer waits for them.
pub(crate) const EXCHANGES_AFTER: usize = 4;
/// A measurement may take so long, of all its exchanges together.
pub(crate) const MEASURED_WITHIN: Duration = Duration::from_secs(10);
/// One exchange may take so long.
pub(crate) const EXCHANGED_WITHIN: Duration = Duration::from_secs(1);

/// The four timestamps of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// When the agent asked, by its clock.
    pub(crate) asked: Instant,
    /// When the conductor got that, by its clock.
    pub(crate) received: Instant,
    /// When the conductor answered, by its clock.
    pub(crate) answered: Instant,
    /// When the agent had the answer, by its clock.
    pub(crate) arrived: Instant,
}

/// By how much the conductor's clock is ahead of the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Nanoseconds to add to an instant of the agent.
    ns: i128,
    /// The truth is no further away than this at the instant it was measured.
    error_ns: u64,
    /// That instant, by the agent's clock.
    measured: Instant,
    /// What the clocks may gain or lose against each other, in nanoseconds per second.
    drift_ppb: u64,
}

/// What a measurement shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) offset: Offset,
    /// What the wall clocks say of it; `None` unless both are synchronised.
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
    /// The best that these exchanges show of clocks that gain or lose no more than `drift_ppb`; `None` without any exchange.
    pub(crate) fn best(exchanges: &[Exchange], drift_ppb: u64) -> Option<Self> {
        let best = exchanges.iter().min_by_key(|exchange| exchange.delay_ns())?;
        let ns = (between(best.asked, best.received) + between(best.arrived, best.answered)) / 2;
        // A delay below zero is no delay: a clock was set, or has no such resolution.
        let halved = u64::try_from(best.delay_ns().max(0) / 2 + 1).unwrap_or(u64::MAX);
        // The clocks drift during the exchange, too.
        let error_ns = halved.saturating_add(drift_ns(best.arrived.since(best.asked), drift_ppb));
        Some(Self { ns, error_ns, measured: best.arrived, drift_ppb })
    }

    /// By how much the conductor's clock is ahead, in nanoseconds.
    pub(crate) fn ahead_ns(self) -> i128 {
        self.ns
    }

    /// How far the truth may be from that at the instant of the measurement, in nanoseconds.
    pub(crate) fn own_error_ns(self) -> u64 {
        self.error_ns
    }

    /// An instant of the conductor by the agent's clock.
    pub(crate) fn to_agent(self, instant: Instant) -> Instant {
        let ns = i128::from(instant.as_nanos()) - self.ns;
        Instant::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }

    /// How far the truth may be from it at this instant of the agent, as clocks drift.
    pub(crate) fn error_at(self, instant: Instant) -> u64 {
        let since = instant.since(self.measured).max(self.measured.since(instant));
        self.error_ns.saturating_add(drift_ns(since, self.drift_ppb))
    }

    /// By how much a clock was moved since `earlier`, beyond what drift and the errors of both explain; `None` if it was not.
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
