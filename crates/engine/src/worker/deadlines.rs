//! Requests that took too long, and those that the end of the run leaves behind.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::{SEND_GRACE, Worker};
use crate::connection::State;
use crate::drive::Driver;
use crate::schedule::Schedule;

/// How often deadlines are looked at: one twentieth of the timeout, within these bounds. Looking through
/// all connections now and then costs far less than a timer for each request.
const SCAN_LEAST: Duration = Duration::from_millis(1);
const SCAN_MOST: Duration = Duration::from_millis(100);

impl<D: Driver> Worker<D> {
    /// Gives up what has taken longer than the timeout.
    pub(super) fn scan_deadlines(&mut self) {
        if self.now < self.next_deadline_scan {
            return;
        }
        self.next_deadline_scan = self.now + (self.order.timeout / 20).clamp(SCAN_LEAST, SCAN_MOST);
        for slot in 0..self.exchanges.connections.len() {
            let connection = &self.exchanges.connections[slot];
            match connection.state {
                State::Waiting | State::Opening | State::Securing if self.is_overdue(connection.since) => {
                    self.opening_timed_out(slot);
                }
                State::Open if connection.pending > 0 => self.scan_oldest(slot),
                State::Waiting | State::Opening | State::Securing | State::Open | State::Closed => {}
            }
        }
    }

    pub(super) fn is_overdue(&self, since: Instant) -> bool {
        self.now.since(since) >= self.order.timeout
    }

    /// A connection whose oldest request timed out cannot answer the later ones either, unless answers may come
    /// in any order.
    fn scan_oldest(&mut self, slot: usize) {
        let sent = self.exchanges.of(slot, 0).sent;
        if !self.is_overdue(sent) {
            return;
        }
        let pending = self.exchanges.connections[slot].pending;
        if self.order.streams && self.cancel_overdue(slot) {
            let ended = pending - self.exchanges.connections[slot].pending;
            return self.heed_refusals(slot, ended);
        }
        self.give_up_all(slot, FailureKind::TimedOut);
        self.replace(slot, Some(self.now));
    }

    /// Gives up the streams that took too long; says whether others go on.
    fn cancel_overdue(&mut self, slot: usize) -> bool {
        while self.exchanges.connections[slot].pending > 0 {
            let sent = self.exchanges.of(slot, 0).sent;
            if !self.is_overdue(sent) {
                return true;
            }
            let held = self.exchanges.is_held(slot, 0);
            let kind = if held { FailureKind::H2Refused } else { FailureKind::TimedOut };
            self.exchanges.cancel_oldest(slot);
            self.exchanges.give_up(slot, kind, self.now);
        }
        false
    }

    pub(super) fn give_up_all(&mut self, slot: usize, kind: FailureKind) {
        while self.exchanges.connections[slot].pending > 0 {
            self.exchanges.give_up(slot, kind, self.now);
        }
    }

    /// Accounts for what is still under way or unsent when the worker ends.
    pub(super) fn give_up_the_rest(&mut self) {
        self.now = self.clock.now();
        for slot in 0..self.exchanges.connections.len() {
            self.give_up_all(slot, FailureKind::Unanswered);
        }
        self.drop_unsent();
    }

    /// Gives up requests that are still unsent when the load has been over for a while.
    pub(super) fn drop_overdue(&mut self) {
        if self.backlog() > 0 && self.now >= self.control.load_ends() + SEND_GRACE {
            self.drop_unsent();
        }
    }

    fn drop_unsent(&mut self) {
        while let Schedule::Open(backlog) = &mut self.schedule
            && let Some(intended) = backlog.take()
        {
            self.give_up_unsent(intended, FailureKind::Unsent);
        }
    }
}
