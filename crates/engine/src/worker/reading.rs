//! Responses in.

use plimsoll_record::FailureKind;
use plimsoll_units::Clock;

use super::Worker;
use super::exchanges::Course;
use crate::connection::{End, State};
use crate::drive::{Driver, Event, Received};

impl<D: Driver> Worker<D> {
    /// Advances a connection that became ready.
    #[inline]
    pub(super) fn advance(&mut self, event: Event) {
        if event.writable {
            match self.exchanges.connections[event.slot].state {
                State::Opening => self.settle_opening(event.slot),
                State::Open if self.exchanges.connections[event.slot].sending() => {
                    self.flush(event.slot);
                    self.refill(event.slot);
                }
                State::Open | State::Closed => {}
            }
        }
        if event.readable {
            self.read(event.slot, event.closing);
        }
    }

    /// Reads until the socket is empty, or until nothing more can come, and sends what then has room.
    #[inline]
    fn read(&mut self, slot: usize, closing: bool) {
        loop {
            let unseen = self.exchanges.unseen_bytes(slot);
            let (course, more) = match self.driver.receive(slot, unseen) {
                Ok(Received::Bytes { bytes: [], .. }) => return self.ended(slot, End::Closed),
                Ok(Received::Bytes { bytes, more }) => {
                    self.now = self.clock.now();
                    self.exchanges.recorder.counts(0).bytes_in += bytes.len() as u64;
                    (self.exchanges.take(slot, bytes, self.now), more)
                }
                Ok(Received::Discarded { count, more }) => {
                    self.now = self.clock.now();
                    self.exchanges.recorder.counts(0).bytes_in += count;
                    (self.exchanges.skip(slot, count, self.now), more)
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(_) => return self.ended(slot, End::Reset),
            };
            let awaited = self.exchanges.connections[slot].pending > 0;
            match course {
                Course::Going => {}
                Course::Free if awaited || !closing => {}
                Course::Free => return self.given_up(slot),
                Course::Spent => return self.spent(slot),
                Course::Broken(kind) => return self.broken(slot, kind),
                Course::Gone => return self.given_up(slot),
            }
            if !(more || closing) || !awaited {
                break;
            }
        }
        self.refill(slot);
    }

    /// The socket came to its end.
    pub(super) fn ended(&mut self, slot: usize, end: End) {
        self.now = self.clock.now();
        if self.exchanges.connections[slot].state != State::Open {
            return;
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

    /// The server said with its answer that it closes the connection: what else was sent on it is unread.
    fn spent(&mut self, slot: usize) {
        self.exchanges.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
        self.replace(slot, Some(self.now));
    }

    /// The oldest request failed by what came, and nothing that comes after it can be trusted.
    fn broken(&mut self, slot: usize, kind: FailureKind) {
        self.exchanges.fail(slot, kind);
        self.exchanges.leave_rest(slot, FailureKind::ClosedBeforeResponse, true);
        self.replace(slot, Some(self.now));
    }
}
