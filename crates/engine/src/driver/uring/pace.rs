//! How long a wait lingers for more completions once it has one.
//!
//! One wake-up for each response costs as much as the response. Lingering saves wake-ups, but delays the first response,
//! because a turn reads the clock when it wakes. So a wait lingers for at most a small part of the *shortest* recent latency,
//! and lingering adds no more than that to any measured latency.

use std::time::Duration;

use plimsoll_sys::WaitPolicy;

/// The divisor of the shortest latency that gives the linger time. A measured latency is at most 3.1 % too long, on average
/// half of that.
const PART: u64 = 32;

/// The longest time that a wait lingers: less than the resolution of histograms at latencies above 135 ms. Ten thousand
/// wake-ups per second cost a few per cent of a core, however many responses there are.
const LINGER_MAX: Duration = Duration::from_micros(100);

/// A turn begins at once when this many completions are there, so that the first ones stay in the caches.
const MAX_COMPLETIONS: u32 = 64;

/// How long a latency counts as recent, in nanoseconds; recent ones are those of the current and the last window.
const WINDOW_NS: u64 = 100_000_000;

/// Tracks the shortest recent latency.
#[derive(Debug)]
pub(super) struct Pace {
    window_ends_ns: u64,
    /// The shortest latency in this window and in the one before; `u64::MAX` if there was no response.
    shortest_ns: u64,
    shortest_before_ns: u64,
    waiting: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { window_ends_ns: 0, shortest_ns: u64::MAX, shortest_before_ns: u64::MAX, waiting: 0 }
    }

    /// A connection has sent bytes and now waits for the response.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.waiting += 1;
    }

    /// A connection no longer waits: it received bytes, or was closed.
    #[inline]
    pub(super) fn ended(&mut self) {
        self.waiting -= 1;
    }

    /// Records the latency of a complete response.
    #[inline]
    pub(super) fn answered_after(&mut self, ns: u64) {
        self.shortest_ns = self.shortest_ns.min(ns);
    }

    /// Returns how the next wait lingers; not at all before the first complete window.
    pub(super) fn wait_policy(&mut self, now_ns: u64) -> WaitPolicy {
        if now_ns >= self.window_ends_ns {
            self.window_ends_ns = now_ns + WINDOW_NS;
            self.shortest_before_ns = self.shortest_ns;
            self.shortest_ns = u64::MAX;
        }
        let shortest = self.shortest_ns.min(self.shortest_before_ns);
        if self.shortest_before_ns == u64::MAX || self.waiting < 2 {
            return WaitPolicy::default();
        }
        let linger = Duration::from_nanos(shortest / PART).min(LINGER_MAX);
        WaitPolicy { completions: self.waiting.min(MAX_COMPLETIONS), linger }
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
    fn a_wait_does_not_linger_before_latencies_are_known() {
        let mut pace = waiting_for(10);
        assert_eq!(pace.wait_policy(0), WaitPolicy::default());
        pace.answered_after(3_200_000);
        assert_eq!(pace.wait_policy(1), WaitPolicy::default());
        assert_eq!(pace.wait_policy(WINDOW_NS).linger, Duration::from_micros(100));
    }

    #[test]
    fn one_quick_response_shortens_the_wait_until_it_is_no_longer_recent() {
        let mut pace = waiting_for(10);
        pace.answered_after(3_200_000);
        assert_eq!(pace.wait_policy(0).linger, Duration::from_micros(100));
        pace.answered_after(32_000);
        assert_eq!(pace.wait_policy(1).linger, Duration::from_micros(1));
        assert_eq!(pace.wait_policy(WINDOW_NS).linger, Duration::from_micros(1));
        pace.answered_after(3_200_000);
        assert_eq!(pace.wait_policy(2 * WINDOW_NS).linger, Duration::from_micros(100));
    }

    #[test]
    fn slow_responses_are_held_up_no_longer_than_their_histogram_resolves() {
        let mut pace = waiting_for(10);
        pace.answered_after(1_500_000_000);
        assert_eq!(pace.wait_policy(0).linger, Duration::from_micros(100));
    }

    #[test]
    fn a_lone_request_is_never_held_up() {
        let mut pace = waiting_for(2);
        pace.answered_after(3_200_000);
        assert_eq!(pace.wait_policy(0).completions, 2);
        pace.ended();
        assert_eq!(pace.wait_policy(1), WaitPolicy::default());
    }
}
