//! Requests that took too long, and those that the end of the run leaves behind.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::Clock;

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
        for slot in 0..self.connections.len() {
            let connection = &self.connections[slot];
            if self.now.since(connection.since) < self.order.timeout {
                continue;
            }
            match connection.state {
                State::Opening => self.opening_timed_out(slot),
                State::Sending(_) | State::Waiting => {
                    self.record_age(slot);
                    self.fail(slot, FailureKind::TimedOut);
                }
                State::Closed | State::Idle => {}
            }
        }
    }

    /// The request under way goes into the histograms at the age it has now.
    fn record_age(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        let sent = connection.since;
        let intended = connection.intended.unwrap_or(sent);
        self.recorder.ended_after(0, self.now.nanos_since(intended), self.now.nanos_since(sent));
    }

    /// Accounts for what is still under way or unsent when the worker ends.
    pub(super) fn give_up_the_rest(&mut self) {
        self.now = self.clock.now();
        for slot in 0..self.connections.len() {
            if self.carries_request(slot) {
                self.record_age(slot);
                self.recorder.failed(0, FailureKind::Unanswered, 1);
            }
        }
        self.in_flight = 0;
        self.drop_unsent();
    }

    /// Gives up requests that are still unsent when the load has been over for a while.
    pub(super) fn drop_overdue(&mut self) {
        if self.backlog() > 0 && self.now >= self.control.load_ends() + SEND_GRACE {
            self.drop_unsent();
        }
    }

    fn drop_unsent(&mut self) {
        if let Schedule::Open(backlog) = &mut self.schedule {
            while let Some(intended) = backlog.take() {
                self.recorder.never_sent_after(0, self.now.nanos_since(intended));
                self.recorder.failed(0, FailureKind::Unsent, 1);
            }
        }
    }
}
