//! The two deadlines that workers share with their conductor.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_units::Instant;

/// When the load ends, and when waiting for its last answers ends. Both only ever move earlier.
#[derive(Debug)]
pub(crate) struct Control {
    load_ends_ns: AtomicU64,
    drain_ends_ns: AtomicU64,
    drain: Duration,
}

impl Control {
    /// The load ends at `load_ends`; what is under way then is waited for at most `drain`.
    pub(crate) fn new(load_ends: Instant, drain: Duration) -> Self {
        let drain_ends = load_ends + drain;
        Self {
            load_ends_ns: AtomicU64::new(load_ends.as_nanos()),
            drain_ends_ns: AtomicU64::new(drain_ends.as_nanos()),
            drain,
        }
    }

    pub(crate) fn load_ends(&self) -> Instant {
        Instant::from_nanos(self.load_ends_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn drain_ends(&self) -> Instant {
        Instant::from_nanos(self.drain_ends_ns.load(Ordering::Relaxed))
    }

    /// Ends the load at `at`, unless it ends before; what is under way is still waited for.
    pub(crate) fn end_load(&self, at: Instant) {
        self.load_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.end_drain(at + self.drain);
    }

    /// Ends the waiting at `at`, and with it the load.
    pub(crate) fn end_drain(&self, at: Instant) {
        self.drain_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.load_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_only_move_earlier() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let control = Control::new(at(10), Duration::from_secs(5));
        control.end_load(at(4));
        control.end_load(at(7));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(4), at(9)));
        control.end_drain(at(6));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(4), at(6)));
        control.end_drain(at(3));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(3), at(3)));
    }
}
