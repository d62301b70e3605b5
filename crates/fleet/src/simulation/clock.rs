//! The clocks of the machines of agents and conductors.

use plimsoll_units::Instant;

use super::weather::Fate;

/// What the conductor's clock shows when the world begins, in nanoseconds.
const CONDUCTOR_NS: u64 = 7_200_000_000_000;

/// The clock of a conductor's machine, which runs at the true rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConductorClock {
    /// By how much it is ahead of the first conductor's clock, in nanoseconds.
    ahead: i64,
}

impl ConductorClock {
    pub(super) fn new(ahead: i64) -> Self {
        Self { ahead }
    }

    pub(super) fn now(self, now: u64) -> Instant {
        Instant::from_nanos((CONDUCTOR_NS + now).saturating_add_signed(self.ahead))
    }
}

/// A clock that is ahead, drifts, and is set or stands still.
#[derive(Debug)]
pub(super) struct AgentClock {
    fate: Fate,
}

impl AgentClock {
    pub(super) fn new(fate: &Fate) -> Self {
        Self { fate: fate.clone() }
    }

    pub(super) fn now(&self, now: u64) -> Instant {
        let Fate { ahead, gains_ppb, set, stops, .. } = self.fate;
        let gained = i128::from(now) * i128::from(gains_ppb) / 1_000_000_000;
        let was_set = set.filter(|(at, _)| *at <= now).map_or(0, |(_, by)| by);
        let stood = stops.map_or(0, |(at, long)| now.saturating_sub(at).min(long));
        let ns = i128::from(ahead + now + was_set) + gained - i128::from(stood);
        Instant::from_nanos(ns.max(0) as u64)
    }

    /// By how much the first conductor's clock is ahead of it.
    pub(super) fn offset(&self, now: u64) -> i128 {
        i128::from(ConductorClock::default().now(now).as_nanos()) - i128::from(self.now(now).as_nanos())
    }

    /// Returns in how many nanoseconds the clock shows this instant, unless it is set meanwhile.
    pub(super) fn until(&self, instant: Instant, now: u64) -> u64 {
        let shown = i128::from(instant.nanos_since(self.now(now)));
        (shown - shown * i128::from(self.fate.gains_ppb) / 1_000_000_000).max(0) as u64
    }

    /// Returns the end of the stop in which the machine is now.
    pub(super) fn stopped_until(&self, now: u64) -> Option<u64> {
        let (at, long) = self.fate.stops?;
        (at..at + long).contains(&now).then_some(at + long)
    }
}
