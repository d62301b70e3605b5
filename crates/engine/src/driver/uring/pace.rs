//! How long a wait lingers for more completions once it has one.
//!
//! A wake-up for each response alone costs as much as the response. Lingering makes the response that is already there
//! look late, because a turn reads the clock when it wakes. So a wait lingers for a small part of the *shortest* latency
//! of late, and never long: no measured latency contains more than that of lingering.

use std::time::Duration;

use plimsoll_sys::WaitPolicy;

/// The part of the shortest latency that a wait may linger: one 32nd. A latency is then at most 3.1 % too long, and half
/// of that on average.
const PART: u64 = 32;

/// The longest a wait lingers: less than histograms resolve of latencies above 135 ms. Ten thousand wake-ups per second
/// cost a few per cent of a core, however many responses there are.
const LINGER_MAX: Duration = Duration::from_micros(100);

/// With this many completions a turn begins at once, so that the first ones are not evicted from the caches.
const MAX_COMPLETIONS: u32 = 64;

/// How long a latency counts as recent.
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

    /// A connection sent something and waits for the response.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.waiting += 1;
    }

    /// A connection waits no longer: it received something, or was closed.
    #[inline]
    pub(super) fn ended(&mut self) {
        self.waiting -= 1;
    }

    /// A response was complete after this time.
    #[inline]
    pub(super) fn answered_after(&mut self, ns: u64) {
        self.shortest_ns = self.shortest_ns.min(ns);
    }

    /// How the next wait lingers. Before the first whole window, not at all.
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
