//! Requests out, responses in.

use plimsoll_http::Response;
use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::Worker;
use crate::connection::{End, Outcome, State};
use crate::drive::{Driver, Event, Payload, Received};
use crate::recorder::Answer;
use crate::schedule::Schedule;

impl<D: Driver> Worker<D> {
    /// Advances a connection that became ready.
    #[inline]
    pub(super) fn advance(&mut self, event: Event) {
        let state = self.connections[event.slot].state;
        if state == State::Opening && event.writable {
            self.settle_opening(event.slot);
        } else if matches!(state, State::Sending(_)) && event.writable {
            self.write(event.slot);
        }
        if event.readable {
            self.read(event.slot, event.closing);
        }
    }

    /// Reads until the socket is empty, or until what was read has changed the connection's course.
    #[inline]
    fn read(&mut self, slot: usize, closing: bool) {
        loop {
            let connection = &mut self.connections[slot];
            let (outcome, more) = match self.driver.receive(slot, connection.unwanted_bytes()) {
                Ok(Received::Bytes { bytes: [], .. }) => (connection.end(End::Closed), false),
                Ok(Received::Bytes { bytes, more }) => {
                    self.recorder.counts(0).bytes_in += bytes.len() as u64;
                    (connection.take(bytes, &mut self.memory), more || closing)
                }
                Ok(Received::Discarded { count, more }) => {
                    self.recorder.counts(0).bytes_in += count;
                    (connection.skip(count), more || closing)
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => (connection.end(End::Reset), false),
            };
            if outcome != Outcome::Pending {
                self.now = self.clock.now();
                return self.settle(slot, outcome, closing);
            }
            if !more {
                return;
            }
        }
    }

    #[inline]
    fn settle(&mut self, slot: usize, outcome: Outcome, closing: bool) {
        match outcome {
            Outcome::Pending => {}
            Outcome::Answered { response, reusable } => self.answered(slot, response, reusable, closing),
            Outcome::Unserved(_) if self.retries => self.send_elsewhere(slot),
            Outcome::Unserved(kind) | Outcome::Failed(kind) => self.fail(slot, kind),
            Outcome::Gone => self.lose(slot),
        }
    }

    #[inline]
    fn answered(&mut self, slot: usize, response: Response, reusable: bool, closing: bool) {
        let connection = &mut self.connections[slot];
        let sent = connection.since;
        let intended = connection.intended.unwrap_or(sent);
        let answer = Answer {
            status: response.status,
            failed_checks: 0,
            latency_ns: self.now.nanos_since(intended),
            service_ns: self.now.nanos_since(sent),
        };
        self.recorder.completed(0, answer);
        self.in_flight -= 1;
        connection.resent = false;
        if reusable && !closing {
            self.next_request(slot);
        } else {
            // A server that closes unannounced behind its answer makes the client reconnect; one that says so does as it should.
            self.recorder.counts(0).reconnects += u64::from(reusable);
            self.replace(slot, Some(self.now));
        }
    }

    /// The connection is free: sends what is due on it, or lets it rest.
    #[inline]
    pub(super) fn next_request(&mut self, slot: usize) {
        match &mut self.schedule {
            Schedule::Closed if self.now < self.control.load_ends() => {
                self.recorder.counts(0).intended += 1;
                self.recorder.send_lag(self.now.nanos_since(self.woke));
                self.start(slot, self.now);
            }
            Schedule::Closed => self.connections[slot].rest(self.now),
            Schedule::Open(backlog) => match backlog.take() {
                Some(intended) => self.start(slot, intended),
                None => {
                    self.connections[slot].rest(self.now);
                    self.idle.push_back(slot as u32);
                }
            },
        }
    }

    /// Sends a request that was due at `intended`.
    #[inline]
    pub(super) fn start(&mut self, slot: usize, intended: Instant) {
        let connection = &mut self.connections[slot];
        connection.begin_request(intended, self.now, self.expect);
        if !connection.resent {
            self.recorder.counts(0).sent += 1;
            self.in_flight += 1;
        }
        self.write(slot);
    }

    #[inline]
    fn write(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let State::Sending(written) = connection.state else { return };
        let length = self.order.request.len();
        match self.driver.send(slot, Payload::Fixed(written as usize..length)) {
            Ok(count) => {
                self.recorder.counts(0).bytes_out += count as u64;
                connection.wrote(count, length);
            }
            Err(_) => {
                let outcome = connection.end(End::Reset);
                self.settle(slot, outcome, true);
            }
        }
    }

    /// Sends due requests on idle connections, and opens more connections if those are too few.
    #[inline]
    pub(super) fn dispatch_due(&mut self) {
        let ends = self.control.load_ends();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        if backlog.len() == 0 && backlog.next_due() > self.now {
            return;
        }
        self.recorder.counts(0).intended += backlog.fall_due(self.now, ends);
        while self.backlog() > 0
            && let Some(slot) = self.idle.pop_front()
        {
            self.send_on_idle(slot as usize);
        }
        self.open_for_backlog();
    }

    fn send_on_idle(&mut self, slot: usize) {
        // A connection that was lost while idle has left its place in the queue behind.
        if self.connections[slot].state != State::Idle {
            return;
        }
        // A burst of due requests takes time to send, which must not be charged to the target.
        self.now = self.clock.now();
        let idle_since = self.connections[slot].since;
        self.next_request(slot);
        let due = self.connections[slot].intended.unwrap_or(self.now);
        self.recorder.send_lag(self.now.nanos_since(due.max(idle_since)));
    }

    /// The request under way is lost; its connection is replaced.
    pub(super) fn fail(&mut self, slot: usize, kind: FailureKind) {
        self.recorder.failed(0, kind, 1);
        self.in_flight -= 1;
        self.connections[slot].resent = false;
        self.replace(slot, Some(self.now));
    }

    /// The server gave up the connection before it saw the request: another connection carries it.
    fn send_elsewhere(&mut self, slot: usize) {
        let intended = self.connections[slot].intended;
        self.recorder.counts(0).reconnects += 1;
        self.connections[slot].resent = true;
        self.replace(slot, intended);
    }

    /// A connection without a request under way is gone.
    fn lose(&mut self, slot: usize) {
        if self.connections[slot].state == State::Idle {
            self.recorder.counts(0).reconnects += 1;
            self.replace(slot, None);
        }
    }
}
