//! How long a turn may wait for more answers once one is there.
//!
//! To be woken for each answer alone costs as much as the answer. To wait for more makes the one that is there look
//! late, since a turn reads the clock when it wakes. So it waits for a small part of the *shortest* time that any
//! answer has taken of late: whatever latency is measured, no more than that part of it is the waiting.

use std::time::Duration;

use plimsoll_sys::Gathering;

/// The part of the shortest time to an answer that may be waited: one 32nd, so that a latency is at most 3.1 % too
/// long, and half of that on average.
const PART: u64 = 32;

/// With so many answers a turn begins in any case: those that came first are not to grow cold in the caches.
const ANSWERS_MAX: u32 = 64;

/// How long the shortest time stands after it was seen.
const WINDOW_NS: u64 = 100_000_000;

/// Learns the shortest time to an answer.
#[derive(Debug)]
pub(super) struct Pace {
    window_ends_ns: u64,
    /// The shortest in this window and in the one before; the largest number if there was no answer.
    shortest_ns: u64,
    shortest_before_ns: u64,
    waiting: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { window_ends_ns: 0, shortest_ns: u64::MAX, shortest_before_ns: u64::MAX, waiting: 0 }
    }

    /// A request was sent that is to be answered.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.waiting += 1;
    }

    /// A request was answered, or nobody waits for its answer any more.
    #[inline]
    pub(super) fn ended(&mut self) {
        self.waiting -= 1;
    }

    /// It was answered after so long.
    #[inline]
    pub(super) fn answered_after(&mut self, ns: u64) {
        self.shortest_ns = self.shortest_ns.min(ns);
    }

    /// How long to wait for more. Before a whole window was seen, not at all.
    pub(super) fn gathering(&mut self, now_ns: u64) -> Gathering {
        if now_ns >= self.window_ends_ns {
            self.window_ends_ns = now_ns + WINDOW_NS;
            self.shortest_before_ns = self.shortest_ns;
            self.shortest_ns = u64::MAX;
        }
        let shortest = self.shortest_ns.min(self.shortest_before_ns);
        if self.shortest_before_ns == u64::MAX || self.waiting < 2 {
            return Gathering::default();
        }
        let longest = Duration::from_nanos(shortest / PART);
        Gathering { completions: self.waiting.min(ANSWERS_MAX), longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting_for(count: u32) -> Pace {
        let mut pace = Pace::new();
        (0..count).for_each(|_| pace.sent());
        pace
    }

    #[test]
    fn nothing_is_waited_for_before_the_times_are_known() {
        let mut pace = waiting_for(10);
        assert_eq!(pace.gathering(0), Gathering::default());
        pace.answered_after(3_200_000);
        assert_eq!(pace.gathering(1), Gathering::default());
        assert_eq!(pace.gathering(WINDOW_NS).longest, Duration::from_micros(100));
    }

    #[test]
    fn one_quick_answer_shortens_the_wait_until_it_is_long_past() {
        let mut pace = waiting_for(10);
        pace.answered_after(3_200_000);
        assert_eq!(pace.gathering(0).longest, Duration::from_micros(100));
        pace.answered_after(32_000);
        assert_eq!(pace.gathering(1).longest, Duration::from_micros(1));
        assert_eq!(pace.gathering(WINDOW_NS).longest, Duration::from_micros(1));
        pace.answered_after(3_200_000);
        assert_eq!(pace.gathering(2 * WINDOW_NS).longest, Duration::from_micros(100));
    }

    #[test]
    fn a_lone_request_is_never_held() {
        let mut pace = waiting_for(2);
        pace.answered_after(3_200_000);
        assert_eq!(pace.gathering(0).completions, 2);
        pace.ended();
        assert_eq!(pace.gathering(1), Gathering::default());
    }
}
