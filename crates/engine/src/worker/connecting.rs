//! Opens connections: connect, TLS handshake, and the handling of their failures.

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::Worker;
use crate::connection::{CloseKind, Connection, Negotiated, ProtocolStack, State};
use crate::driver::{Driver, Received};
use crate::failure::connect_failure;
use crate::schedule::Schedule;
use crate::step_spec::MAX_CONNECTING;

/// True if the server's accept queue is full and the system reports it, as for a unix socket (connect(2)).
fn is_accept_queue_full(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::WouldBlock
}

impl<D: Driver, C: Clock> Worker<D, C> {
    /// True if one more rate-limited connection may connect.
    pub(super) fn may_connect(&self) -> bool {
        self.connecting_rate_limited < MAX_CONNECTING
    }

    /// Starts all connection attempts that are due. A connection that the server closed is replaced at once, because its
    /// responses paced it; new and refused connections connect a few at a time.
    pub(super) fn connect_due(&mut self) {
        while let Some(slot) = self.queues.closed.pop_front() {
            self.connect_if_needed(slot, false);
        }
        self.queues.release_refused(self.now);
        while let Some(slot) = self.queues.next_retry(self.now) {
            self.retry_connecting(slot);
        }
        while self.now >= self.began
            && self.may_connect()
            && let Some(slot) = self.queues.unconnected.pop_front()
        {
            self.connect_if_needed(slot, true);
        }
    }

    /// Connects a connection if there is load to generate or a request to send again. Otherwise an open loop keeps it as a spare.
    fn connect_if_needed(&mut self, slot: u32, rate_limited: bool) {
        if self.makes_load() || self.connections[slot as usize].in_flight() > 0 {
            self.connect(slot as usize, rate_limited);
        } else if let Schedule::Open(_) = self.schedule {
            self.queues.spare.push(slot);
        }
    }

    /// Connects more connections for due requests that found no idle one.
    pub(super) fn connect_for_backlog(&mut self) {
        let writes_each = u64::from(self.spec.depth / self.shared.ledger.source.batch());
        while self.backlog() > (self.connecting + self.queues.unconnected.len()) as u64 * writes_each {
            if let Some(slot) = self.queues.spare.pop() {
                self.connect(slot as usize, false);
            } else if self.may_connect() && self.connections.len() < self.max_connections {
                self.connections.push(Connection::new(&mut self.shared));
                self.connect(self.connections.len() - 1, true);
            } else {
                return;
            }
        }
    }

    fn connect(&mut self, slot: usize, rate_limited: bool) {
        self.connections[slot].begin_connecting(self.now, rate_limited);
        self.connecting += 1;
        self.connecting_rate_limited += usize::from(rate_limited);
        self.open_socket(slot);
    }

    /// Opens a socket for a connection that is connecting.
    fn open_socket(&mut self, slot: usize) {
        match self.routes.open(slot, |route| self.driver.open(slot, route)) {
            Ok(()) => {}
            Err(error) if is_accept_queue_full(&error) => self.wait_for_accept_queue(slot),
            Err(error) => self.connecting_failed(slot, connect_failure(&error)),
        }
    }

    fn wait_for_accept_queue(&mut self, slot: usize) {
        self.connections[slot].wait_for_accept_queue();
        self.queues.accept_queue_full(slot, self.now);
    }

    /// Connects again after the accept queue was full, unless the connection was given up in the meantime.
    fn retry_connecting(&mut self, slot: usize) {
        if let State::Queued(_) = self.connections[slot].state() {
            self.connections[slot].retry_connecting();
            self.open_socket(slot);
        }
    }

    /// Handles the end of an attempt to connect, whether it succeeded or not.
    pub(super) fn connect_ended(&mut self, slot: usize) {
        self.now = self.clock.now();
        match self.driver.connected(slot) {
            Ok(()) => self.begin_handshake(slot),
            Err(error) => {
                self.driver.close(slot);
                if is_accept_queue_full(&error) {
                    return self.wait_for_accept_queue(slot);
                }
                // Some drivers learn only now that the local address is in use.
                let in_use = self.connections[slot].count_address_in_use();
                match self.routes.try_another(slot, &error, in_use) {
                    true => self.open_socket(slot),
                    false => self.connecting_failed(slot, connect_failure(&error)),
                }
            }
        }
    }

    /// Starts the handshake on a connected socket by sending its first bytes. Without TLS the connection is open.
    fn begin_handshake(&mut self, slot: usize) {
        let stack = ProtocolStack::new(&self.spec).and_then(|mut stack| match stack.start() {
            Ok(()) => Ok(stack),
            Err(failure) => Err(self.shared.first.tls_failed(failure)),
        });
        match stack {
            Err(kind) => self.handshake_failed(slot, kind),
            Ok(stack) => {
                let handshaking = self.connections[slot].begin_handshake(stack, self.now);
                if !handshaking {
                    self.opened(slot);
                }
                self.send(slot);
            }
        }
    }

    /// Reads the server's part of a handshake.
    pub(super) fn read_handshake(&mut self, slot: usize) {
        while self.connections[slot].is_handshaking() {
            let read = match self.driver.receive(slot, 0) {
                Ok(Received::Bytes { bytes: [], .. }) => return self.peer_closed(slot, CloseKind::Orderly),
                Ok(Received::Bytes { bytes, .. }) => {
                    self.shared.ledger.recorder.counts(0).bytes_in += bytes.len() as u64;
                    self.connections[slot].read_handshake(bytes, self.now, &mut self.shared)
                }
                // A driver that may discard 0 bytes never returns this.
                Ok(Received::Discarded { .. }) => return self.peer_closed(slot, CloseKind::Reset),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => return self.peer_closed(slot, CloseKind::Reset),
            };
            match read {
                Err(kind) => self.handshake_failed(slot, kind),
                Ok(None) => self.send(slot),
                Ok(Some(negotiated)) => self.handshake_ended(slot, negotiated),
            }
        }
    }

    fn handshake_ended(&mut self, slot: usize, negotiated: Negotiated) {
        if !negotiated.protocol_matches {
            return self.handshake_failed(slot, FailureKind::TlsHandshake);
        }
        self.now = self.clock.now();
        let connection = &self.connections[slot];
        if let State::Handshaking(_, connected) = connection.state() {
            let handshake_ns = self.now.nanos_since(connected);
            self.shared.ledger.recorder.secured(handshake_ns, negotiated.resumed);
        }
        if connection.is_turned_away() {
            return self.handshake_failed(slot, FailureKind::H2Refused);
        }
        self.opened(slot);
        self.send(slot);
        // The server may have refused requests in the same bytes that ended the handshake.
        if self.connections[slot].is_open() {
            self.resend_refused(slot, 0);
        }
    }

    /// The connection is ready: sends unanswered requests of the last socket again, and then new requests.
    fn opened(&mut self, slot: usize) {
        self.connecting_ended(slot);
        self.open += 1;
        let connection = &mut self.connections[slot];
        let began = connection.opened(self.now);
        self.shared.ledger.recorder.connected(self.now.nanos_since(began));
        if connection.in_flight() > 0 {
            connection.write_again(self.now, &mut self.shared);
            self.send(slot);
        }
        self.refill(slot);
    }

    /// Updates the counts when an attempt to connect has ended, successfully or not.
    fn connecting_ended(&mut self, slot: usize) {
        self.connecting -= 1;
        let rate_limited = self.connections[slot].attempt().is_some_and(|attempt| attempt.rate_limited);
        self.connecting_rate_limited -= usize::from(rate_limited);
    }

    /// Handles a failed handshake. The last bytes of the layers are sent, such as an alert for the server's log.
    pub(super) fn handshake_failed(&mut self, slot: usize, kind: FailureKind) {
        self.now = self.clock.now();
        self.send_farewell(slot);
        self.driver.close(slot);
        self.connecting_failed(slot, kind);
    }

    /// Handles an attempt to connect that exceeded the timeout.
    pub(super) fn connecting_timed_out(&mut self, slot: usize) {
        let connection = &self.connections[slot];
        if connection.is_handshaking() {
            return self.handshake_failed(slot, FailureKind::TlsHandshake);
        }
        let queue_was_full = connection.attempt().is_some_and(|attempt| attempt.queue_was_full);
        let kind = if queue_was_full { FailureKind::BacklogFull } else { FailureKind::ConnectTimedOut };
        self.driver.close(slot);
        self.connecting_failed(slot, kind);
    }

    /// Fails the requests that needed a connection that could not be opened.
    fn connecting_failed(&mut self, slot: usize, kind: FailureKind) {
        self.connecting_ended(slot);
        self.shared.first.broke(kind);
        let connection = &mut self.connections[slot];
        let began = connection.attempt().map_or(self.now, |attempt| attempt.began);
        let timed_out = kind == FailureKind::ConnectTimedOut || self.now.since(began) >= self.spec.timeout;
        if connection.in_flight() == 0 {
            self.fail_waiting_request(slot, kind, began, timed_out);
        }
        let connection = &mut self.connections[slot];
        match timed_out {
            true => connection.give_up_all(kind, self.now, &mut self.shared.ledger),
            false => connection.fail_all(kind, &mut self.shared.ledger),
        }
        connection.close();
        match self.schedule {
            Schedule::Closed => self.queues.refused(slot, self.now),
            Schedule::Open(_) => self.queues.spare.push(slot as u32),
        }
    }

    /// Fails the request that waits for a connection; it stays unsent. During a think time no request waits.
    pub(super) fn fail_waiting_request(
        &mut self,
        slot: usize,
        kind: FailureKind,
        began: Instant,
        timed_out: bool,
    ) {
        if matches!(self.schedule, Schedule::Closed) && !self.has_thought(slot) {
            return;
        }
        let recorder = &mut self.shared.ledger.recorder;
        let requests = u64::from(self.shared.ledger.source.batch());
        let due = self.connections[slot].due.take().unwrap_or(began);
        let intended = match &mut self.schedule {
            Schedule::Open(backlog) => backlog.take(),
            Schedule::Closed if self.control.claim_or_end(requests, self.now) => {
                recorder.counts(0).intended += requests;
                Some(due)
            }
            Schedule::Closed => None,
        };
        let Some(intended) = intended else { return };
        recorder.failed(0, kind, requests);
        if timed_out {
            recorder.never_sent_after(0, self.now.nanos_since(intended), requests);
        }
    }

    /// Closes an open connection. If it had room for a request, its next request is due now.
    pub(super) fn disconnect(&mut self, slot: usize) {
        self.driver.close(slot);
        self.open -= 1;
        let connection = &mut self.connections[slot];
        connection.close();
        // If requests that are sent again fill the next socket, the next request is due only when they are answered.
        let is_free = self.spec.depth - connection.in_flight() >= self.min_room;
        connection.due = is_free.then_some(self.now);
    }

    /// Closes an open connection and schedules a reconnect, if there is something to send.
    pub(super) fn replace(&mut self, slot: usize) {
        self.disconnect(slot);
        match self.schedule {
            Schedule::Open(_) if self.connections[slot].in_flight() == 0 => {
                self.queues.spare.push(slot as u32);
            }
            // It is connected at the end of the turn. Doing it here would recurse for as long as the connection is refused at
            // once.
            _ => self.queues.closed.push_back(slot as u32),
        }
    }
}
