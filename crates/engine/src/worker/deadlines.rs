//! Requests that took too long, and requests that the end of the step leaves behind.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::{SEND_GRACE, Worker};
use crate::connection::State;
use crate::driver::Driver;
use crate::schedule::Schedule;

/// How often all connections are scanned for timeouts: every twentieth of the timeout, within these bounds. A scan now and
/// then costs far less than a timer for each request.
const MIN_SCAN_INTERVAL: Duration = Duration::from_millis(1);
const MAX_SCAN_INTERVAL: Duration = Duration::from_millis(100);

impl<D: Driver, C: Clock> Worker<D, C> {
    /// Gives up what has taken longer than the timeout.
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

    /// The request that waits for the server to allow one fails. In an open loop it goes on to wait for any connection.
    fn no_stream_in_time(&mut self, slot: usize) {
        if let Schedule::Closed = self.schedule {
            self.fail_waiting_request(slot, FailureKind::H2NoStreams, self.now, true);
        }
        self.replace(slot, Some(self.now));
    }

    /// A connection whose oldest request timed out cannot answer the later ones either, unless responses come in any order.
    fn request_timed_out(&mut self, slot: usize) {
        let before = self.connections[slot].in_flight();
        if self.spec.streams {
            while self.is_oldest_overdue(slot) {
                self.connections[slot].cancel_oldest(self.now, &mut self.shared);
            }
            let left = self.connections[slot].in_flight();
            if left > 0 {
                return self.resend_refused(slot, before - left);
            }
        }
        self.give_up_all(slot, FailureKind::TimedOut);
        self.replace(slot, Some(self.now));
    }

    fn give_up_all(&mut self, slot: usize, kind: FailureKind) {
        self.connections[slot].give_up_all(kind, self.now, &mut self.shared.ledger);
    }

    /// Accounts for what is still under way or unsent when the worker ends.
    pub(super) fn fail_unfinished(&mut self) {
        self.now = self.clock.now();
        for slot in 0..self.connections.len() {
            self.give_up_all(slot, FailureKind::Unanswered);
        }
        self.drop_unsent();
    }

    /// Gives up requests that are still unsent some time after the load has ended.
    pub(super) fn drop_overdue(&mut self) {
        if self.backlog() > 0 && self.now >= self.control.load_ends() + SEND_GRACE {
            self.drop_unsent();
        }
    }

    fn drop_unsent(&mut self) {
        while let Schedule::Open(backlog) = &mut self.schedule
            && let Some(intended) = backlog.take()
        {
            self.give_up_unsent(intended);
        }
    }
}
