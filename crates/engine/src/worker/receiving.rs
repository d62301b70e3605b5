//! Receives responses: from an event of the driver to its effect on the connection.

use plimsoll_record::FailureKind;
use plimsoll_tls::TlsFailure;
use plimsoll_units::Clock;

use super::Worker;
use crate::connection::{CloseKind, ReadOutcome, State};
use crate::driver::{Driver, Event, Received};
use crate::schedule::Schedule;

/// Why a receive returned no bytes.
#[derive(Debug, Clone, Copy)]
enum ReadError {
    /// Nothing has arrived.
    WouldBlock,
    Closed(CloseKind),
}

impl<D: Driver, C: Clock> Worker<D, C> {
    /// Handles an event of a connection that became ready.
    #[inline]
    pub(super) fn advance(&mut self, event: Event) {
        if event.writable {
            self.advance_writable(event.slot);
        }
        if !event.readable {
            return;
        }
        if self.connections[event.slot].is_handshaking() {
            self.read_handshake(event.slot);
        }
        if self.connections[event.slot].is_open() {
            self.read(event.slot, event.closing);
        }
    }

    fn advance_writable(&mut self, slot: usize) {
        match self.connections[slot].state() {
            State::Connecting(_) => self.connect_ended(slot),
            State::Handshaking(..) => self.send(slot),
            State::Open(_) if self.connections[slot].has_unsent() => {
                self.send(slot);
                self.refill(slot);
            }
            State::Open(_) | State::Closed | State::Queued(_) => {}
        }
    }

    /// Reads until the socket is empty or no more bytes are expected, and then sends requests if there is room.
    #[inline]
    fn read(&mut self, slot: usize, closing: bool) {
        loop {
            let (outcome, more) = match self.receive(slot) {
                Ok(read) => read,
                Err(ReadError::WouldBlock) => break,
                Err(ReadError::Closed(close)) => return self.peer_closed(slot, close),
            };
            let busy = self.connections[slot].in_flight() > 0;
            // Without a request in flight the remaining bytes do not matter, and no later event announces the end of the stream.
            if closing && !busy && outcome.goes_on() {
                return self.closed_while_idle(slot);
            }
            if self.settle_end(slot, outcome) {
                return;
            }
            if !(more || closing) || !busy {
                break;
            }
        }
        if self.connections[slot].is_layered() {
            return self.finish_layered_read(slot);
        }
        self.refill(slot);
    }

    /// Receives bytes that have arrived; returns the outcome and whether there may be more.
    #[inline]
    fn receive(&mut self, slot: usize) -> Result<(ReadOutcome, bool), ReadError> {
        let (connection, shared) = (&mut self.connections[slot], &mut self.shared);
        match self.driver.receive(slot, connection.discardable_bytes(&shared.ledger)) {
            Ok(Received::Bytes { bytes: [], .. }) => Err(ReadError::Closed(CloseKind::Orderly)),
            Ok(Received::Bytes { bytes, more }) => {
                self.now = self.clock.now();
                shared.ledger.recorder.counts(0).bytes_in += bytes.len() as u64;
                Ok((connection.read(bytes, self.now, shared), more))
            }
            Ok(Received::Discarded { count, more }) => {
                self.now = self.clock.now();
                shared.ledger.recorder.counts(0).bytes_in += count;
                Ok((connection.skip(count, self.now, shared), more))
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Err(ReadError::WouldBlock),
            Err(_) => Err(ReadError::Closed(CloseKind::Reset)),
        }
    }

    /// Handles an outcome that ends the connection; returns false if the connection stays open.
    #[inline]
    fn settle_end(&mut self, slot: usize, outcome: ReadOutcome) -> bool {
        match outcome {
            ReadOutcome::Incomplete | ReadOutcome::Answered => return false,
            ReadOutcome::Retired => self.retired(slot),
            ReadOutcome::RequestFailed(kind) => self.request_failed(slot, kind),
            ReadOutcome::Failed(kind) => self.failed(slot, kind),
            ReadOutcome::Unrequested => self.closed_while_idle(slot),
        }
        true
    }

    /// Sends refused HTTP/2 requests again, at a time other than when bytes are read.
    pub(super) fn resend_refused(&mut self, slot: usize, ended: u16) {
        match self.connections[slot].resend_refused(ended, self.now, &mut self.shared) {
            Some(outcome) if self.settle_end(slot, outcome) => {}
            _ => self.finish_layered_read(slot),
        }
    }

    /// Sends the replies of the layers, and handles a TLS session that the peer has closed.
    fn finish_layered_read(&mut self, slot: usize) {
        if self.connections[slot].peer_closed_tls() {
            return self.peer_closed(slot, CloseKind::Orderly);
        }
        // Replies and requests are sent by one system call.
        if self.connections[slot].is_writable() {
            self.refill(slot);
            return self.send(slot);
        }
        // Unsent bytes leave no room for new requests. If all of them are sent here, no writable event follows.
        self.send(slot);
        self.refill(slot);
    }

    /// Handles a failed send, which ends the connection. Bytes that the server sent before still count, such as a response that
    /// it sent before reading the whole request.
    pub(super) fn sending_failed(&mut self, slot: usize) {
        while self.connections[slot].is_open() {
            let Ok((outcome, _)) = self.receive(slot) else { break };
            if outcome == ReadOutcome::Answered && self.connections[slot].in_flight() == 0 {
                return self.closed_while_idle(slot);
            }
            if self.settle_end(slot, outcome) {
                return;
            }
        }
        self.peer_closed(slot, CloseKind::Reset);
    }

    /// Handles the end of the stream or a reset.
    pub(super) fn peer_closed(&mut self, slot: usize, close: CloseKind) {
        self.now = self.clock.now();
        match self.connections[slot].state() {
            State::Open(_) => {}
            State::Handshaking(..) => {
                if matches!(close, CloseKind::Orderly) {
                    self.shared.first.tls_failed(TlsFailure::ClosedInHandshake);
                }
                return self.handshake_failed(slot, FailureKind::TlsHandshake);
            }
            State::Closed | State::Queued(_) | State::Connecting(_) => return,
        }
        if self.connections[slot].settle_close(close, self.now, &mut self.shared) {
            self.replace(slot);
        } else {
            self.closed_while_idle(slot);
        }
    }

    /// Handles a connection that the server closed while it carried no request. It counts as a reconnect, not as a failure.
    fn closed_while_idle(&mut self, slot: usize) {
        self.shared.first.broke(FailureKind::ClosedBeforeResponse);
        self.shared.ledger.recorder.counts(0).reconnects += 1;
        match self.schedule {
            // A server that closes connections during think time right after it accepted them is not paced by its responses.
            Schedule::Closed if !self.connections[slot].answered_before() => {
                self.disconnect(slot);
                self.queues.refused(slot, self.now);
            }
            Schedule::Closed | Schedule::Open(_) => self.replace(slot),
        }
    }

    /// The server announced that it closes the connection, and does not read the requests still in flight. If it had answered
    /// none on this connection, it did not close between two requests but refuses them; without a request in flight, it closed
    /// an idle connection.
    fn retired(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let between_requests = connection.answered_before();
        if !between_requests && connection.in_flight() == 0 && matches!(self.schedule, Schedule::Closed) {
            return self.closed_while_idle(slot);
        }
        let kind = FailureKind::ClosedBeforeResponse;
        connection.settle_unanswered(kind, between_requests, &mut self.shared.ledger);
        self.replace(slot);
    }

    /// The oldest request failed because of its response, and the bytes after it cannot be trusted.
    fn request_failed(&mut self, slot: usize, kind: FailureKind) {
        let (connection, ledger) = (&mut self.connections[slot], &mut self.shared.ledger);
        connection.fail_oldest(kind, ledger);
        connection.settle_unanswered(FailureKind::ClosedBeforeResponse, true, ledger);
        self.replace(slot);
    }

    /// The connection failed, and with it all requests in flight.
    fn failed(&mut self, slot: usize, kind: FailureKind) {
        self.send_farewell(slot);
        self.shared.first.broke(kind);
        self.connections[slot].settle_unanswered(kind, false, &mut self.shared.ledger);
        self.replace(slot);
    }
}
