//! The source of the current instant.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::Instant;

/// A source of the current instant. Code that must be tested without sleeping takes one.
pub trait Clock {
    /// The current instant; never earlier than one it gave before.
    fn now(&self) -> Instant;
}

/// The operating system's monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone, Copy, Default)]
pub struct RealClock;

impl Clock for RealClock {
    #[inline]
    fn now(&self) -> Instant {
        let time = clock_gettime(ClockId::Monotonic);
        // The kernel never gives negative monotonic times; both casts keep the value.
        Instant::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
    }
}

/// Time since 1970, as the system has it: for dates and names, never for intervals. Zero where it is set before 1970.
pub fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl<C: Clock> Clock for &C {
    fn now(&self) -> Instant {
        (*self).now()
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct SimClock(Cell<Instant>);

impl SimClock {
    /// Moves the clock forward.
    pub fn advance(&self, span: Duration) {
        self.0.set(self.0.get() + span);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Instant {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_does_not_run_backwards() {
        let first = RealClock.now();
        assert!(RealClock.now() >= first);
    }

    #[test]
    fn the_simulated_clock_moves_only_on_request() {
        let clock = SimClock::default();
        let first = clock.now();
        assert_eq!(clock.now(), first);
        clock.advance(Duration::from_millis(3));
        assert_eq!(clock.now().since(first), Duration::from_millis(3));
    }
}
