//! Schedules delayed responses: timers, pools of workers, stall windows.
//!
//! Pure: time is an argument, so tests can check the guarantees at any instant (never more than K at a time, in order of
//! arrival, windows exact to the nanosecond).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use plimsoll_units::Instant;

/// Maximum number of different `/stall` pairs. Each keeps its phase as long as the server runs.
pub(crate) const MAX_STALLS: usize = 1000;

/// The token of a connection to wake.
pub(crate) type Ticket = u64;

/// A repeated stall: the last `held` of each period of `every` is a window without responses. `held` is above zero and
/// shorter than `every`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stall {
    pub(crate) every: Duration,
    pub(crate) held: Duration,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StallEffect {
    /// The request is outside a window and is answered now.
    Open,
    HeldUntil(Instant),
    /// The pair is new, and [`MAX_STALLS`] others exist already.
    TooMany,
}

/// A timer. Timers of the same instant fire in the order in which they were set; the order of the fields ensures that.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due: Instant,
    sequence: u64,
    ticket: Ticket,
    pool: Option<u32>,
}

struct Sleeper {
    ticket: Ticket,
    arrived: Instant,
    span: Duration,
}

#[derive(Default)]
struct Pool {
    busy: u32,
    queue: VecDeque<Sleeper>,
}

#[derive(Default)]
pub(crate) struct Delays {
    timers: BinaryHeap<Reverse<Timer>>,
    sequence: u64,
    pools: HashMap<u32, Pool>,
    stall_starts: HashMap<Stall, Instant>,
}

impl Delays {
    pub(crate) fn wake_at(&mut self, due: Instant, ticket: Ticket) {
        self.push(due, ticket, None);
    }

    /// Wakes the ticket once one of `workers` workers has spent `span` on it. If all workers are busy, the ticket waits in
    /// order of arrival.
    pub(crate) fn sleep(&mut self, now: Instant, ticket: Ticket, span: Duration, workers: u32) {
        let pool = self.pools.entry(workers).or_default();
        if pool.busy < workers {
            pool.busy += 1;
            self.push(now + span, ticket, Some(workers));
        } else {
            pool.queue.push_back(Sleeper { ticket, arrived: now, span });
        }
    }

    /// Returns the effect of the stall on a request that arrives now. The first request of a pair starts its clock.
    pub(crate) fn stall(&mut self, now: Instant, stall: Stall) -> StallEffect {
        if self.stall_starts.len() >= MAX_STALLS && !self.stall_starts.contains_key(&stall) {
            return StallEffect::TooMany;
        }
        let start = *self.stall_starts.entry(stall).or_insert(now);
        let into_period_ns = u128::from(now.nanos_since(start)) % stall.every.as_nanos();
        let left = stall.every.saturating_sub(Duration::from_nanos_u128(into_period_ns));
        if left <= stall.held { StallEffect::HeldUntil(now + left) } else { StallEffect::Open }
    }

    /// Removes and returns the earliest ticket that is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Ticket> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse(timer) = self.timers.pop()?;
        if let Some(workers) = timer.pool {
            self.free_worker(workers, timer.due);
        }
        Some(timer.ticket)
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse(timer)| timer.due)
    }

    fn push(&mut self, due: Instant, ticket: Ticket, pool: Option<u32>) {
        self.sequence += 1;
        self.timers.push(Reverse(Timer { due, sequence: self.sequence, ticket, pool }));
    }

    /// Gives a free worker its next request. The request begins when the worker became free, not when the event loop noticed
    /// it, so that a full pool of K workers serves exactly K requests in each span.
    fn free_worker(&mut self, workers: u32, freed: Instant) {
        let Some(pool) = self.pools.get_mut(&workers) else { return };
        if let Some(next) = pool.queue.pop_front() {
            self.push(freed.max(next.arrived) + next.span, next.ticket, Some(workers));
            return;
        }
        pool.busy -= 1;
        // An idle pool has no state, and clients can name any number of pools, so it is removed.
        if pool.busy == 0 {
            self.pools.remove(&workers);
        }
    }
}

#[cfg(test)]
mod tests;
