//! When the next request of a worker is due. Pure: time is an argument.

use std::time::Duration;

use plimsoll_plan::{Arrivals, Level, Portion};
use plimsoll_units::Instant;

/// An instant that no clock reaches.
const NEVER: Instant = Instant::from_nanos(u64::MAX);

/// A worker's part of the schedule of one step.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Closed loop: the next request is due when a connection is free for it.
    Closed,
    /// Open loop: requests are due at instants that are fixed in advance.
    Open(Box<Backlog>),
}

impl Schedule {
    pub(crate) fn new(level: &Level, portion: Portion, began: Instant, seed: u64) -> Self {
        match level {
            Level::Closed { .. } => Self::Closed,
            Level::Open { profile, arrivals, .. } => {
                let arrivals = Arrivals::new(*arrivals, profile, portion, seed);
                Self::Open(Box::new(Backlog::new(arrivals, began)))
            }
        }
    }
}

/// The arrivals of an open loop that are due and not yet sent, oldest first.
///
/// It keeps no queue: two cursors walk the same sequence of arrivals, one at the next arrival to fall due, one at the next
/// to send. The backlog is the part between them, and its length costs no memory.
#[derive(Debug)]
pub(crate) struct Backlog {
    due: Cursor,
    unsent: Cursor,
    length: u64,
}

#[derive(Debug, Clone)]
struct Cursor {
    arrivals: Arrivals,
    began: Instant,
    next: Instant,
}

impl Cursor {
    fn advance(&mut self) -> Instant {
        let at = self.next;
        // A profile may end: no request is due after its last arrival.
        let next_ns = self.arrivals.next();
        self.next = next_ns.map_or(NEVER, |ns| self.began + Duration::from_nanos(ns));
        at
    }
}

impl Backlog {
    pub(crate) fn new(arrivals: Arrivals, began: Instant) -> Self {
        let mut cursor = Cursor { arrivals, began, next: began };
        cursor.advance();
        Self { due: cursor.clone(), unsent: cursor, length: 0 }
    }

    /// Adds every arrival that is due by `now` and before `load_ends` to the backlog, as long as `claim` returns true; returns
    /// their number.
    pub(crate) fn fall_due(
        &mut self,
        now: Instant,
        load_ends: Instant,
        mut claim: impl FnMut() -> bool,
    ) -> u64 {
        let mut count = 0;
        while self.due.next <= now && self.due.next < load_ends && claim() {
            self.due.advance();
            count += 1;
        }
        self.length += count;
        count
    }

    /// Removes the oldest arrival that is due; returns the instant at which it was due.
    pub(crate) fn take(&mut self) -> Option<Instant> {
        self.length = self.length.checked_sub(1)?;
        Some(self.unsent.advance())
    }

    /// Removes all arrivals that are due. Returns when the oldest was due, when the next arrival will be due, and how many were
    /// removed.
    pub(crate) fn take_rest(&mut self) -> (Instant, Instant, u64) {
        let oldest = self.unsent.next;
        self.unsent = self.due.clone();
        (oldest, self.due.next, std::mem::take(&mut self.length))
    }

    /// Number of arrivals that are due and not taken.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// When the next arrival will be due.
    pub(crate) fn next_due(&self) -> Instant {
        self.due.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::{ArrivalProcess, Shard};

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    fn backlog_of(process: ArrivalProcess, profile: &str) -> Backlog {
        let shard = Shard { index: 0, of: 1 };
        Backlog::new(Arrivals::new(process, &profile.parse().unwrap(), shard, 3), at(100))
    }

    fn backlog(process: ArrivalProcess) -> Backlog {
        backlog_of(process, "1k")
    }

    #[test]
    fn late_sends_get_the_instants_that_were_due() {
        let mut backlog = backlog(ArrivalProcess::Constant);
        assert_eq!(backlog.fall_due(at(99), at(1000), || true), 0);
        assert_eq!(backlog.fall_due(at(104), at(1000), || true), 5);
        assert_eq!(backlog.take(), Some(at(100)));
        assert_eq!(backlog.take(), Some(at(101)));
        assert_eq!((backlog.len(), backlog.next_due()), (3, at(105)));
    }

    #[test]
    fn nothing_falls_due_once_the_load_has_ended() {
        let mut backlog = backlog(ArrivalProcess::Constant);
        assert_eq!(backlog.fall_due(at(500), at(110), || true), 10);
        assert_eq!(backlog.fall_due(at(900), at(110), || true), 0);
        assert_eq!(std::iter::from_fn(|| backlog.take()).count(), 10);
    }

    #[test]
    fn nothing_falls_due_after_the_last_stage() {
        let mut backlog = backlog_of(ArrivalProcess::Constant, "const(1k,5ms)");
        assert_eq!(backlog.fall_due(at(1_000_000), at(2_000_000), || true), 5);
        assert_eq!(backlog.fall_due(at(1_500_000), at(2_000_000), || true), 0);
        assert_eq!(backlog.next_due(), NEVER);
        assert_eq!(std::iter::from_fn(|| backlog.take()).count(), 5);
    }

    #[test]
    fn the_rest_is_taken_at_once_and_what_falls_due_later_follows() {
        let mut backlog = backlog(ArrivalProcess::Constant);
        backlog.fall_due(at(109), at(1000), || true);
        assert_eq!(backlog.take(), Some(at(100)));
        assert_eq!(backlog.take_rest(), (at(101), at(110), 9));
        assert_eq!((backlog.len(), backlog.take()), (0, None));
        assert_eq!(backlog.fall_due(at(110), at(1000), || true), 1);
        assert_eq!(backlog.take(), Some(at(110)));
    }

    #[test]
    fn both_cursors_walk_the_same_random_arrivals() {
        let mut backlog = backlog(ArrivalProcess::Poisson);
        let mut due = Vec::new();
        while due.len() < 500 {
            let next = backlog.next_due();
            due.push(next);
            assert!(backlog.fall_due(next, at(1_000_000), || true) >= 1);
        }
        let taken: Vec<Instant> = std::iter::from_fn(|| backlog.take()).take(500).collect();
        assert_eq!(taken, due);
    }
}
