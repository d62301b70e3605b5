//! Opening connections, and opening them again.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::Worker;
use crate::classify::connect_failure;
use crate::connection::{Connection, State};
use crate::drive::Driver;
use crate::order::OPENING_MAX;
use crate::schedule::Schedule;

/// Pause before a closed-loop connection that could not be opened is tried again, so that a target that
/// is down is not asked as fast as this machine can.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

impl<D: Driver> Worker<D> {
    pub(super) fn may_open_gently(&self) -> bool {
        self.opening_gently < OPENING_MAX
    }

    /// Opens what is to be opened by now. A connection that the server closed is replaced at once, since it was
    /// the answer that paced it; new ones, and those that were refused, are opened a few at a time.
    pub(super) fn open_due(&mut self) {
        while let Some(slot) = self.closed.pop_front() {
            if self.still_wanted(slot) {
                self.open_slot(slot as usize, false);
            }
        }
        while let Some((at, slot)) = self.refused.front().copied()
            && at <= self.now
        {
            self.refused.pop_front();
            self.unopened.push_back(slot);
        }
        while self.now >= self.began
            && self.may_open_gently()
            && let Some(slot) = self.unopened.pop_front()
        {
            if self.still_wanted(slot) {
                self.open_slot(slot as usize, true);
            }
        }
    }

    fn still_wanted(&self, slot: u32) -> bool {
        self.measuring() || self.connections[slot as usize].resent
    }

    /// Opens connections for requests that are due and find none idle.
    pub(super) fn open_for_backlog(&mut self) {
        while self.backlog() > self.opening as u64 {
            if let Some(slot) = self.spare.pop() {
                self.open_slot(slot as usize, false);
            } else if self.may_open_gently() && self.connections.len() < self.connections_max {
                self.connections.push(Connection::new());
                self.open_slot(self.connections.len() - 1, true);
            } else {
                return;
            }
        }
    }

    fn open_slot(&mut self, slot: usize, gently: bool) {
        match self.routes.open(slot, |route| self.driver.open(slot, route)) {
            Ok(()) => {
                self.connections[slot].begin_opening(self.now, gently);
                self.opening += 1;
                self.opening_gently += usize::from(gently);
            }
            Err(error) => self.opening_failed(slot, connect_failure(&error)),
        }
    }

    fn opening_ended(&mut self, slot: usize) {
        self.opening -= 1;
        self.opening_gently -= usize::from(self.connections[slot].gently);
    }

    /// The connecting ended, well or not.
    pub(super) fn settle_opening(&mut self, slot: usize) {
        self.now = self.clock.now();
        self.opening_ended(slot);
        match self.driver.connected(slot) {
            Ok(()) => {
                self.open += 1;
                self.opened(slot);
            }
            Err(error) => {
                self.driver.close(slot);
                self.opening_failed(slot, connect_failure(&error));
            }
        }
    }

    fn opened(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        match (&self.schedule, connection.intended) {
            (_, Some(intended)) if connection.resent => self.start(slot, intended),
            // Time spent to replace a connection belongs to the request that waited for it.
            (Schedule::Closed, Some(intended)) if self.measuring() => {
                self.recorder.counts().intended += 1;
                self.start(slot, intended);
            }
            _ => self.next_request(slot),
        }
    }

    /// The connection could not be opened: the request that needed it fails.
    fn opening_failed(&mut self, slot: usize, kind: FailureKind) {
        if let Some(intended) = self.request_waiting_for(slot) {
            self.recorder.failed(kind, 1);
            if kind == FailureKind::ConnectTimedOut {
                self.recorder.never_sent_after(self.now.nanos_since(intended));
            }
        }
        let connection = &mut self.connections[slot];
        connection.close();
        connection.intended = None;
        connection.resent = false;
        match self.schedule {
            Schedule::Closed => self.refused.push_back((self.now + RETRY_PAUSE, slot as u32)),
            Schedule::Open(_) => self.spare.push(slot as u32),
        }
    }

    /// Takes the request that a connection being opened was for: when it was due.
    fn request_waiting_for(&mut self, slot: usize) -> Option<Instant> {
        let connection = &self.connections[slot];
        if connection.resent {
            self.in_flight -= 1;
            return connection.intended;
        }
        let opening_since = connection.since;
        let intended = connection.intended;
        match &mut self.schedule {
            Schedule::Open(backlog) => backlog.take(),
            Schedule::Closed => {
                self.recorder.counts().intended += 1;
                Some(intended.unwrap_or(opening_since))
            }
        }
    }

    /// Closes a connection and opens it again if there is something to send; `next_due` is when the
    /// request that waits for it was due.
    pub(super) fn replace(&mut self, slot: usize, next_due: Option<Instant>) {
        self.driver.close(slot);
        self.open -= 1;
        let connection = &mut self.connections[slot];
        connection.close();
        connection.intended = next_due;
        match self.schedule {
            Schedule::Open(_) if !connection.resent => self.spare.push(slot as u32),
            _ => self.closed.push_back(slot as u32),
        }
        // Not opened here but at the end of the turn: a connection that is refused at once would otherwise
        // be tried again and again from within itself.
    }

    /// A connection being opened has taken too long.
    pub(super) fn opening_timed_out(&mut self, slot: usize) {
        self.driver.close(slot);
        self.opening_ended(slot);
        self.opening_failed(slot, FailureKind::ConnectTimedOut);
    }

    /// True while the connection carries a request that was sent, or is to be sent again.
    pub(super) fn carries_request(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        connection.in_flight() || (connection.resent && connection.state != State::Idle)
    }
}
