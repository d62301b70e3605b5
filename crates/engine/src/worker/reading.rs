//! Responses in.

use plimsoll_record::FailureKind;
use plimsoll_units::Clock;

use super::Worker;
use super::exchanges::Course;
use crate::connection::{End, State};
use crate::drive::{Driver, Event, Received};

/// Why nothing came from a socket.
#[derive(Debug, Clone, Copy)]
enum Silence {
    /// There is nothing yet.
    Empty,
    Ended(End),
}

impl<D: Driver> Worker<D> {
    /// Advances a connection that became ready.
    #[inline]
    pub(super) fn advance(&mut self, event: Event) {
        if event.writable {
            match self.exchanges.connections[event.slot].state {
                State::Opening => self.settle_opening(event.slot),
                State::Securing => self.flush(event.slot),
                State::Open if !self.exchanges.connections[event.slot].unsent.is_empty() => {
                    self.flush(event.slot);
                    self.refill(event.slot);
                }
                State::Open | State::Closed | State::Waiting => {}
            }
        }
        if !event.readable {
            return;
        }
        if self.exchanges.connections[event.slot].state == State::Securing {
            self.read_handshake(event.slot);
        }
        if self.exchanges.connections[event.slot].state == State::Open {
            self.read(event.slot, event.closing);
        }
    }

    /// Reads until the socket is empty, or until nothing more can come, and sends what then has room.
    #[inline]
    fn read(&mut self, slot: usize, closing: bool) {
        loop {
            let (course, more) = match self.receive(slot) {
                Ok(heard) => heard,
                Err(Silence::Empty) => break,
                Err(Silence::Ended(end)) => return self.ended(slot, end),
            };
            let awaited = self.exchanges.connections[slot].pending > 0;
            if course == Course::Free && !awaited && closing {
                return self.given_up(slot);
            }
            if self.over(slot, course) {
                return;
            }
            if !(more || closing) || !awaited {
                break;
            }
        }
        if self.exchanges.connections[slot].layers.is_some() {
            return self.answer_layers(slot);
        }
        self.refill(slot);
    }

    /// Takes in what is there on a socket: what it means, and whether there may be more.
    #[inline]
    fn receive(&mut self, slot: usize) -> Result<(Course, bool), Silence> {
        let unseen = self.exchanges.unseen_bytes(slot);
        match self.driver.receive(slot, unseen) {
            Ok(Received::Bytes { bytes: [], .. }) => Err(Silence::Ended(End::Closed)),
            Ok(Received::Bytes { bytes, more }) => {
                self.now = self.clock.now();
                self.exchanges.recorder.counts(0).bytes_in += bytes.len() as u64;
                Ok((self.exchanges.receive(slot, bytes, self.now), more))
            }
            Ok(Received::Discarded { count, more }) => {
                self.now = self.clock.now();
                self.exchanges.recorder.counts(0).bytes_in += count;
                Ok((self.exchanges.skip(slot, count, self.now), more))
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Err(Silence::Empty),
            Err(_) => Err(Silence::Ended(End::Reset)),
        }
    }

    /// Settles what came if that ends the connection; says whether it does.
    #[inline]
    fn over(&mut self, slot: usize, course: Course) -> bool {
        match course {
            Course::Going | Course::Free => return false,
            Course::Spent => self.spent(slot),
            Course::Broken(kind) => self.broken(slot, kind),
            Course::Ruined(kind) => self.ruined(slot, kind),
            Course::Gone => self.given_up(slot),
        }
        true
    }

    /// Sees to what an HTTP/2 server refused, at another time than when it said so.
    pub(super) fn heed_refusals(&mut self, slot: usize, ended: u16) {
        match self.exchanges.heed_refusals_now(slot, ended, self.now) {
            Course::Spent => self.spent(slot),
            _ => self.answer_layers(slot),
        }
    }

    /// Sends what the layers have to say beside requests, and notices that the peer has closed under encryption.
    pub(super) fn answer_layers(&mut self, slot: usize) {
        let closed =
            self.exchanges.connections[slot].layers.as_ref().is_some_and(|layers| layers.peer_closed());
        if closed {
            return self.ended(slot, End::Closed);
        }
        self.refill(slot);
        self.flush(slot);
    }

    /// Sending failed, so that the connection is over; but what the server had said before counts, such as an answer
    /// that it gave without waiting for the whole request.
    pub(super) fn sending_failed(&mut self, slot: usize) {
        while self.exchanges.connections[slot].state == State::Open {
            let Ok((course, _)) = self.receive(slot) else { break };
            if course == Course::Free && self.exchanges.connections[slot].pending == 0 {
                return self.given_up(slot);
            }
            if self.over(slot, course) {
                return;
            }
        }
        self.ended(slot, End::Reset);
    }

    /// The socket came to its end.
    pub(super) fn ended(&mut self, slot: usize, end: End) {
        self.now = self.clock.now();
        match self.exchanges.connections[slot].state {
            State::Open => {}
            State::Securing => return self.securing_failed(slot, FailureKind::TlsHandshake),
            State::Closed | State::Waiting | State::Opening => return,
        }
        if self.exchanges.end(slot, end, self.now) {
            self.replace(slot, Some(self.now));
        } else {
            self.given_up(slot);
        }
    }

    /// The server gave up a connection that carried nothing.
    fn given_up(&mut self, slot: usize) {
        // A server that closes unannounced behind its answer makes the client reconnect.
        self.exchanges.recorder.counts(0).reconnects += 1;
        self.replace(slot, Some(self.now));
    }

    /// The server said that it closes the connection: what was sent on it and not answered is unread. One that
    /// answered nothing has not given the connection up between two requests, it refuses them.
    fn spent(&mut self, slot: usize) {
        let proven = self.exchanges.connections[slot].proven();
        self.exchanges.leave_rest(slot, FailureKind::ClosedBeforeResponse, proven);
        self.replace(slot, Some(self.now));
    }

    /// The oldest request failed by what came, and nothing that comes after it can be trusted.
    fn broken(&mut self, slot: usize, kind: FailureKind) {
        self.exchanges.fail(slot, 0, kind);
        self.exchanges.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
        self.replace(slot, Some(self.now));
    }

    /// The connection broke under everything it carried.
    fn ruined(&mut self, slot: usize, kind: FailureKind) {
        // What the layers say last, such as an alert, is for the server's log: it is sent if that can be done at once.
        self.send_last_words(slot);
        self.exchanges.leave_rest(slot, kind, false);
        self.replace(slot, Some(self.now));
    }
}
