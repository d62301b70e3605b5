//! Instants, and the source of the current one.

use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A point on the monotonic clock, in nanoseconds since an origin that only this machine knows.
///
/// Unlike `std::time::Instant` it can be created from a number, so tests of schedules and state machines can choose their
/// instants, and it is eight bytes wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    /// Creates the instant `ns` nanoseconds after the clock's origin.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the nanoseconds since the clock's origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the nanoseconds from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ns))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(ns))
    }
}

/// A source of the current instant. Code that must be testable without sleeping takes one.
pub trait Clock {
    /// Returns the current instant, which is never earlier than the previous one.
    fn now(&self) -> Instant;
}

/// The operating system's monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone, Copy, Default)]
pub struct RealClock;

impl Clock for RealClock {
    #[inline]
    fn now(&self) -> Instant {
        let time = clock_gettime(ClockId::Monotonic);
        // The kernel never reports negative monotonic times, so both casts keep the value.
        Instant::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
    }
}

/// Returns the system's time since 1970, for dates and names, never for intervals. Zero if the clock is set to before 1970.
pub fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns [`unix_time`] in milliseconds.
pub fn unix_ms() -> u64 {
    u64::try_from(unix_time().as_millis()).unwrap_or(u64::MAX)
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
    fn a_difference_never_goes_below_zero() {
        let early = Instant::from_nanos(5);
        let late = early + Duration::from_nanos(7);
        assert_eq!(late.nanos_since(early), 7);
        assert_eq!(early.nanos_since(late), 0);
        assert_eq!((early - Duration::from_secs(1)).as_nanos(), 0);
    }
}
