//! When held answers are due: timers, pools of workers, stall windows.
//!
//! Pure: time is an argument, so that the promises made here (never more than K at a time, in order of
//! arrival, windows exact to the nanosecond) are tested on instants of the test's choosing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use plimsoll_units::Instant;

/// Different pairs of `/stall` that are remembered. Each keeps its phase as long as the server runs.
pub(crate) const MAX_STALLS: usize = 1000;

/// Who is to be woken: the token of a connection.
pub(crate) type Ticket = u64;

/// A repeated stall: in each period of `every` the last `held`, which is shorter and not zero, is a window in which nothing
/// is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stall {
    pub(crate) every: Duration,
    pub(crate) held: Duration,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StallEffect {
    /// Nothing: it is answered now.
    Open,
    HeldUntil(Instant),
    /// Nothing is known of this pair and [`MAX_STALLS`] others are remembered.
    TooMany,
}

/// Timers of equal instants fire in the order they were set, hence the order of the fields.
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

    /// Wakes the ticket once one of `workers` workers has spent `span` on it. Those who find all
    /// workers busy wait in order of arrival.
    pub(crate) fn sleep(&mut self, now: Instant, ticket: Ticket, span: Duration, workers: u32) {
        let pool = self.pools.entry(workers).or_default();
        if pool.busy < workers {
            pool.busy += 1;
            self.push(now + span, ticket, Some(workers));
        } else {
            pool.queue.push_back(Sleeper { ticket, arrived: now, span });
        }
    }

    /// What the stall does to a request that arrives now. The first one of a pair starts its clock.
    pub(crate) fn stall(&mut self, now: Instant, stall: Stall) -> StallEffect {
        if self.stall_starts.len() >= MAX_STALLS && !self.stall_starts.contains_key(&stall) {
            return StallEffect::TooMany;
        }
        let start = *self.stall_starts.entry(stall).or_insert(now);
        let into_period_ns = u128::from(now.nanos_since(start)) % stall.every.as_nanos();
        let left = stall.every.saturating_sub(Duration::from_nanos_u128(into_period_ns));
        if left <= stall.held { StallEffect::HeldUntil(now + left) } else { StallEffect::Open }
    }

    /// The next ticket that is due, earliest first.
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

    /// Gives a worker that became free its next request. It begins when the worker was due, not when the
    /// event loop came to see it, so that a full pool of K serves exactly K requests in each span.
    fn free_worker(&mut self, workers: u32, freed: Instant) {
        let Some(pool) = self.pools.get_mut(&workers) else { return };
        if let Some(next) = pool.queue.pop_front() {
            self.push(freed.max(next.arrived) + next.span, next.ticket, Some(workers));
            return;
        }
        pool.busy -= 1;
        // An idle pool holds nothing worth keeping, and clients can name any number of them.
        if pool.busy == 0 {
            self.pools.remove(&workers);
        }
    }
}

#[cfg(test)]
mod tests;
