//! Handles requests that exceed the timeout, and requests that are open at the end of the step.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::{SEND_GRACE, Worker};
use crate::connection::State;
use crate::driver::Driver;
use crate::schedule::Schedule;

/// How often all connections are scanned for timeouts: every twentieth of the timeout, within these bounds. An occasional scan
/// costs far less than a timer for each request.
const MIN_SCAN_INTERVAL: Duration = Duration::from_millis(1);
const MAX_SCAN_INTERVAL: Duration = Duration::from_millis(100);

/// This many unsent requests are given up one by one before the worker checks its deadline: tens of millions would take seconds.
const DROPPED_EXACTLY: u32 = 1 << 16;
/// After the deadline the rest is recorded in this many groups, each with one age.
const AGES: u64 = 1 << 10;

impl<D: Driver, C: Clock> Worker<D, C> {
    /// Gives up requests and connection attempts that exceed the timeout.
    pub(super) fn scan_deadlines(&mut self) {
        if self.now < self.next_scan {
            return;
        }
        self.next_scan = self.now + (self.spec.timeout / 20).clamp(MIN_SCAN_INTERVAL, MAX_SCAN_INTERVAL);
        for slot in 0..self.connections.len() {
            match self.connections[slot].state() {
                State::Queued(attempt) | State::Connecting(attempt) | State::Handshaking(attempt, _) => {
                    if self.is_overdue(attempt.began) {
                        self.connecting_timed_out(slot);
                    }
                }
                State::Open(_) if self.is_oldest_overdue(slot) => self.request_timed_out(slot),
                State::Open(_) if self.is_barred_too_long(slot) => self.no_stream_in_time(slot),
                State::Open(_) | State::Closed => {}
            }
        }
    }

    fn is_overdue(&self, since: Instant) -> bool {
        self.now.since(since) >= self.spec.timeout
    }

    fn is_oldest_overdue(&self, slot: usize) -> bool {
        self.connections[slot].oldest_sent(&self.shared.ledger).is_some_and(|sent| self.is_overdue(sent))
    }

    fn is_barred_too_long(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        connection.is_barred() && connection.due.is_some_and(|due| self.is_overdue(due))
    }

    /// Handles a connection on which the server allowed no request within the timeout. In a closed loop the waiting request
    /// fails; in an open loop it stays in the backlog for any connection.
    fn no_stream_in_time(&mut self, slot: usize) {
        if let Schedule::Closed = self.schedule {
            self.fail_waiting_request(slot, FailureKind::H2NoStreams, self.now, true);
        }
        self.replace(slot);
    }

    /// True if nothing has arrived since the oldest request was sent.
    fn is_silent(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        connection.oldest_sent(&self.shared.ledger).is_some_and(|sent| connection.received_at() <= sent)
    }

    /// A connection whose oldest request timed out cannot answer the later ones either, unless responses may come in any order.
    /// If it received nothing since, its path is likely dead, and new streams would time out like the old ones.
    fn request_timed_out(&mut self, slot: usize) {
        let before = self.connections[slot].in_flight();
        if self.spec.streams && !self.is_silent(slot) {
            while self.is_oldest_overdue(slot) {
                self.connections[slot].cancel_oldest(self.now, &mut self.shared);
            }
            let left = self.connections[slot].in_flight();
            if left > 0 {
                return self.resend_refused(slot, before - left);
            }
        }
        self.give_up_all(slot, FailureKind::TimedOut);
        self.replace(slot);
    }

    fn give_up_all(&mut self, slot: usize, kind: FailureKind) {
        self.connections[slot].give_up_all(kind, self.now, &mut self.shared.ledger);
    }

    /// Accounts for requests in flight or unsent when the worker ends.
    pub(super) fn fail_unfinished(&mut self) {
        self.now = self.clock.now();
        for slot in 0..self.connections.len() {
            self.give_up_all(slot, FailureKind::Unanswered);
        }
        self.drop_unsent();
    }

    /// Gives up requests that are still unsent [`SEND_GRACE`] after the end of the load.
    pub(super) fn drop_overdue(&mut self) {
        if self.backlog() > 0 && self.now >= self.control.load_ends() + SEND_GRACE {
            self.drop_unsent();
        }
    }

    fn drop_unsent(&mut self) {
        loop {
            for _ in 0..DROPPED_EXACTLY {
                let Schedule::Open(backlog) = &mut self.schedule else { return };
                let Some(intended) = backlog.take() else { return };
                self.give_up_unsent(self.now.nanos_since(intended), 1);
            }
            if self.clock.now() >= self.control.drain_ends() {
                return self.drop_rest();
            }
        }
    }

    /// Gives up all unsent requests at once, because the worker has to end. Their ages are recorded as evenly distributed
    /// between those of the oldest and the newest.
    fn drop_rest(&mut self) {
        let ends = self.control.load_ends();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        let (oldest, next, count) = backlog.take_rest();
        let oldest_ns = self.now.nanos_since(oldest);
        let half_part_ns = next.min(ends).nanos_since(oldest) / (2 * AGES);
        for part in 0..AGES {
            let age_ns = oldest_ns - half_part_ns * (2 * part + 1);
            self.give_up_unsent(age_ns, count * (part + 1) / AGES - count * part / AGES);
        }
    }
}
