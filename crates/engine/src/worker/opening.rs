//! Opening connections, and opening them again.

use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::Worker;
use crate::classify::connect_failure;
use crate::connection::State;
use crate::drive::Driver;
use crate::order::OPENING_MAX;
use crate::schedule::Schedule;

/// Pause before a closed-loop connection that could not be opened is tried again, so that a target that
/// is down is not asked as fast as this machine can.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Pause before a connection that found no place in the server's queue tries again. Nobody tells when one is free.
const CROWDED_PAUSE: Duration = Duration::from_millis(5);

/// True if the server's queue of new connections is full and says so, as that of a unix socket does (connect(2)).
fn is_crowded(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::WouldBlock
}

impl<D: Driver> Worker<D> {
    pub(super) fn may_open_gently(&self) -> bool {
        self.opening_gently < OPENING_MAX
    }

    /// Opens what is to be opened by now. A connection that the server closed is replaced at once, since it was
    /// the answer that paced it; new ones, and those that were refused, are opened a few at a time.
    pub(super) fn open_due(&mut self) {
        while let Some(slot) = self.closed.pop_front() {
            self.open_if_wanted(slot, false);
        }
        while let Some((at, slot)) = self.refused.front().copied()
            && at <= self.now
        {
            self.refused.pop_front();
            self.unopened.push_back(slot);
        }
        while let Some((at, slot)) = self.crowded.front().copied()
            && at <= self.now
        {
            self.crowded.pop_front();
            self.try_again(slot as usize);
        }
        while self.now >= self.began
            && self.may_open_gently()
            && let Some(slot) = self.unopened.pop_front()
        {
            self.open_if_wanted(slot, true);
        }
    }

    /// Opens a connection that still has something to do; one of an open loop may be needed later.
    fn open_if_wanted(&mut self, slot: u32, gently: bool) {
        if self.still_wanted(slot) {
            self.open_slot(slot as usize, gently);
        } else if let Schedule::Open(_) = self.schedule {
            self.spare.push(slot);
        }
    }

    fn still_wanted(&self, slot: u32) -> bool {
        self.measuring() || self.exchanges.connections[slot as usize].pending > 0
    }

    /// Opens connections for requests that are due and find none idle.
    pub(super) fn open_for_backlog(&mut self) {
        let writes_each = u64::from(self.exchanges.depth / self.batch);
        while self.backlog() > (self.opening + self.unopened.len()) as u64 * writes_each {
            if let Some(slot) = self.spare.pop() {
                self.open_slot(slot as usize, false);
            } else if self.may_open_gently() && self.exchanges.connections.len() < self.connections_max {
                self.exchanges.add_connection();
                self.open_slot(self.exchanges.connections.len() - 1, true);
            } else {
                return;
            }
        }
    }

    fn open_slot(&mut self, slot: usize, gently: bool) {
        let opened = self.routes.open(slot, |route| self.driver.open(slot, route));
        let crowded = opened.as_ref().is_err_and(is_crowded);
        if let Err(error) = opened
            && !crowded
        {
            return self.opening_failed(slot, connect_failure(&error));
        }
        self.exchanges.connections[slot].begin_opening(self.now, gently);
        self.opening += 1;
        self.opening_gently += usize::from(gently);
        if crowded {
            self.wait_for_place(slot);
        }
    }

    /// The server has no place for one more connection: it is tried again until its time is over.
    fn wait_for_place(&mut self, slot: usize) {
        self.exchanges.connections[slot].wait();
        self.crowded.push_back((self.now + CROWDED_PAUSE, slot as u32));
    }

    /// Tries again to open a connection that waits for a place, if it still does.
    fn try_again(&mut self, slot: usize) {
        if self.exchanges.connections[slot].state != State::Waiting {
            return;
        }
        match self.routes.open(slot, |route| self.driver.open(slot, route)) {
            Ok(()) => self.exchanges.connections[slot].resume_opening(),
            Err(error) if is_crowded(&error) => self.wait_for_place(slot),
            Err(error) => {
                self.opening_ended(slot);
                self.opening_failed(slot, connect_failure(&error));
            }
        }
    }

    pub(super) fn opening_ended(&mut self, slot: usize) {
        self.opening -= 1;
        self.opening_gently -= usize::from(self.exchanges.connections[slot].gently);
    }

    /// The connecting ended, well or not.
    pub(super) fn settle_opening(&mut self, slot: usize) {
        self.now = self.clock.now();
        match self.driver.connected(slot) {
            Ok(()) => {
                self.exchanges.connections[slot].connected = self.now;
                self.begin_layers(slot);
            }
            Err(error) if is_crowded(&error) => {
                self.driver.close(slot);
                self.wait_for_place(slot);
            }
            Err(error) => {
                self.driver.close(slot);
                self.opening_ended(slot);
                self.open_otherwise(slot, &error);
            }
        }
    }

    /// The connecting failed. Some drivers learn only here that the local end was taken: then another is tried.
    fn open_otherwise(&mut self, slot: usize, error: &std::io::Error) {
        let connection = &mut self.exchanges.connections[slot];
        connection.tries = connection.tries.saturating_add(1);
        let (tries, gently) = (u32::from(connection.tries), connection.gently);
        if self.routes.goes_on(slot, error, tries) {
            self.open_slot(slot, gently);
        } else {
            self.opening_failed(slot, connect_failure(error));
        }
    }

    pub(super) fn opened(&mut self, slot: usize) {
        self.opening_ended(slot);
        self.open += 1;
        let connection = &mut self.exchanges.connections[slot];
        self.exchanges.recorder.connected(self.now.nanos_since(connection.since));
        connection.opened(self.now);
        if self.exchanges.connections[slot].pending > 0 {
            self.send_again(slot);
        }
        self.refill(slot);
    }

    /// The connection could not be opened: the requests that needed it fail.
    pub(super) fn opening_failed(&mut self, slot: usize, kind: FailureKind) {
        let connection = &self.exchanges.connections[slot];
        let timed_out = kind == FailureKind::ConnectTimedOut || self.is_overdue(connection.since);
        if connection.pending == 0 {
            self.fail_waiting_request(slot, kind, timed_out);
        }
        match timed_out {
            true => self.give_up_all(slot, kind),
            false => self.exchanges.fail_all(slot, kind),
        }
        self.exchanges.connections[slot].close();
        self.exchanges.connections[slot].tries = 0;
        match self.schedule {
            Schedule::Closed => self.refused.push_back((self.now + RETRY_PAUSE, slot as u32)),
            Schedule::Open(_) => self.spare.push(slot as u32),
        }
    }

    /// The request that a connection being opened was for fails unsent.
    fn fail_waiting_request(&mut self, slot: usize, kind: FailureKind, timed_out: bool) {
        let requests = u64::from(self.batch);
        let connection = &mut self.exchanges.connections[slot];
        let due = connection.due.take().unwrap_or(connection.since);
        let intended = match &mut self.schedule {
            Schedule::Open(backlog) => backlog.take(),
            Schedule::Closed if self.control.claim_or_end(requests, self.now) => {
                self.exchanges.recorder.counts(0).intended += requests;
                Some(due)
            }
            Schedule::Closed => None,
        };
        let Some(intended) = intended else { return };
        self.exchanges.recorder.failed(0, kind, requests);
        if timed_out {
            self.exchanges.recorder.never_sent_after(0, self.now.nanos_since(intended), requests);
        }
    }

    /// Closes a connection and opens it again if there is something to send; `next_due` is when the
    /// request that waits for it was due.
    pub(super) fn replace(&mut self, slot: usize, next_due: Option<Instant>) {
        self.driver.close(slot);
        self.open -= 1;
        let connection = &mut self.exchanges.connections[slot];
        connection.close();
        connection.due = next_due;
        match self.schedule {
            Schedule::Open(_) if connection.pending == 0 => self.spare.push(slot as u32),
            _ => self.closed.push_back(slot as u32),
        }
        // Not opened here but at the end of the turn: a connection that is refused at once would otherwise
        // be tried again and again from within itself.
    }

    /// A connection being opened has taken too long.
    pub(super) fn opening_timed_out(&mut self, slot: usize) {
        let connection = &self.exchanges.connections[slot];
        if connection.state == State::Securing {
            return self.securing_failed(slot, FailureKind::TlsHandshake);
        }
        let crowded = connection.crowded;
        let kind = if crowded { FailureKind::BacklogFull } else { FailureKind::ConnectTimedOut };
        self.driver.close(slot);
        self.opening_ended(slot);
        self.opening_failed(slot, kind);
    }
}
