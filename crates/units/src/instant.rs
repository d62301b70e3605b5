//! A point on the monotonic clock.

use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point on the monotonic clock, in nanoseconds since an origin that only this machine knows.
///
/// Unlike `std::time::Instant` it can be made from a number, so schedules and state machines are
/// tested on instants of the test's choosing, and it is eight bytes wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The instant `ns` nanoseconds after the clock's origin.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the clock's origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from `earlier` to `self`; zero if `earlier` is the later one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_never_goes_below_zero() {
        let early = Instant::from_nanos(5);
        let late = early + Duration::from_nanos(7);
        assert_eq!(late.nanos_since(early), 7);
        assert_eq!(early.nanos_since(late), 0);
        assert_eq!((early - Duration::from_secs(1)).as_nanos(), 0);
    }
}
