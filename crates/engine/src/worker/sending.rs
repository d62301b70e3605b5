//! Requests out.

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant};

use super::Worker;
use super::source::Requests;
use crate::connection::{Rest, State};
use crate::drive::{Driver, Payload};
use crate::schedule::Schedule;

impl<D: Driver> Worker<D> {
    /// Sends what is due on a connection that may have room, or lets it rest.
    #[inline]
    pub(super) fn refill(&mut self, slot: usize) {
        let room = self.exchanges.room(slot);
        let unfilled = self.exchanges.connections[slot].unfilled;
        if room < if unfilled { self.batch } else { self.room_least } {
            return;
        }
        self.exchanges.connections[slot].unfilled = false;
        match &self.schedule {
            Schedule::Closed => self.refill_closed(slot, room / self.batch),
            Schedule::Open(_) => self.refill_open(slot, room / self.batch),
        }
    }

    #[inline]
    fn refill_closed(&mut self, slot: usize, writes: u16) {
        if !self.measuring() || !self.rested(slot) {
            return self.rest(slot);
        }
        // Time spent to replace a connection belongs to the request that waited for it.
        let mut due = self.exchanges.connections[slot].due.take().unwrap_or(self.now);
        let lag_ns = self.now.nanos_since(self.woke);
        let requests = u64::from(self.batch);
        self.exchanges.connections[slot].begin_writing();
        for _ in 0..writes {
            if !self.has_drained(slot) {
                break;
            }
            if !self.control.claim_or_end(requests, self.now) || !self.write(slot, due) {
                break;
            }
            self.exchanges.recorder.counts(0).intended += requests;
            self.exchanges.recorder.send_lag(lag_ns, requests);
            due = self.now;
        }
        self.flush(slot);
    }

    #[inline]
    fn refill_open(&mut self, slot: usize, writes: u16) {
        self.exchanges.connections[slot].begin_writing();
        for _ in 0..writes {
            if !self.has_drained(slot) {
                break;
            }
            let Schedule::Open(backlog) = &mut self.schedule else { break };
            let Some(intended) = backlog.take() else { break };
            self.write_due(slot, intended);
        }
        self.flush(slot);
        self.list(slot);
    }

    /// True if more may be written to what is to be sent on a connection: if that is much, it has to leave first.
    #[inline]
    fn has_drained(&mut self, slot: usize) -> bool {
        if !self.exchanges.connections[slot].is_full() {
            return true;
        }
        self.flush(slot);
        let connection = &mut self.exchanges.connections[slot];
        let drained = connection.writable();
        if drained {
            connection.begin_writing();
        }
        connection.unfilled = !drained;
        drained
    }

    /// Adds the requests of one call of the source to what is to be sent on a connection.
    #[inline]
    fn write(&mut self, slot: usize, intended: Instant) -> bool {
        let exchanges = &mut self.exchanges;
        let connection = &mut exchanges.connections[slot];
        let made_from = connection.outgoing.len();
        let Some(mut note) = exchanges.source.write(&mut connection.outgoing) else { return false };
        if self.fixed_bytes.is_none() {
            // Of several requests made one by one, only the last are still there to be sent again; on streams, each.
            note.idempotent &= exchanges.depth == 1 || exchanges.streams.is_some();
        }
        let mut place = 0;
        for _ in 0..self.batch {
            place = exchanges.begin(slot, intended, self.now, note);
        }
        let connection = &mut exchanges.connections[slot];
        match (self.fixed_bytes, &connection.layers) {
            (_, Some(_)) => return exchanges.write_layered(slot, place, made_from),
            (Some(length), None) => connection.unsent.end += length,
            (None, None) => connection.unsent.end = connection.outgoing.len() as u32,
        }
        connection.asked_until = connection.unsent.end;
        true
    }

    /// Writes a request of an open loop, which is accounted for even if it cannot be made.
    fn write_due(&mut self, slot: usize, intended: Instant) {
        if !self.write(slot, intended) {
            self.give_up_unsent(intended, FailureKind::Unsent);
        }
    }

    /// A request that was due goes unsent.
    pub(super) fn give_up_unsent(&mut self, intended: Instant, kind: FailureKind) {
        let requests = u64::from(self.batch);
        self.exchanges.recorder.failed(0, kind, requests);
        self.exchanges.recorder.never_sent_after(0, self.now.nanos_since(intended), requests);
    }

    /// True if the connection has made the pause before its next request; otherwise that begins.
    #[inline]
    fn rested(&mut self, slot: usize) -> bool {
        if self.fixed_bytes.is_some() {
            return true;
        }
        match std::mem::replace(&mut self.exchanges.connections[slot].rest, Rest::None) {
            Rest::Over => true,
            Rest::Pausing => {
                self.exchanges.connections[slot].rest = Rest::Pausing;
                false
            }
            Rest::None => self.pause(slot),
        }
    }

    fn pause(&mut self, slot: usize) -> bool {
        let pause = self.exchanges.source.pause();
        if pause.is_zero() {
            return !self.exchanges.source.stopped;
        }
        self.exchanges.connections[slot].rest = Rest::Pausing;
        self.pauses.begin(self.now + pause, slot);
        false
    }

    /// Sends on connections whose pause is over: their requests were due when it ended.
    pub(super) fn end_pauses(&mut self) {
        while let Some((at, slot)) = self.pauses.end_by(self.now) {
            let connection = &mut self.exchanges.connections[slot];
            connection.rest = Rest::Over;
            connection.due = Some(at);
            self.refill(slot);
        }
    }

    /// Nothing is to be sent now.
    fn rest(&mut self, slot: usize) {
        let connection = &mut self.exchanges.connections[slot];
        connection.since = self.now;
        connection.due = None;
    }

    /// Enters the connection into the queue of those that may take a request, if it has room.
    fn list(&mut self, slot: usize) {
        if self.exchanges.room(slot) < self.batch || self.exchanges.connections[slot].listed {
            return;
        }
        self.rest(slot);
        self.exchanges.connections[slot].listed = true;
        self.idle.push_back(slot as u32);
    }

    /// Sends again, on a new connection, what the last one did not carry to an answer.
    pub(super) fn send_again(&mut self, slot: usize) {
        let pending = self.exchanges.connections[slot].pending;
        for index in 0..pending {
            self.exchanges.of(slot, index).sent = self.now;
        }
        let connection = &mut self.exchanges.connections[slot];
        if connection.layers.is_some() {
            self.exchanges.write_again(slot);
            return self.flush(slot);
        }
        let length = match self.fixed_bytes {
            Some(length) => u32::from(pending) * length,
            None => connection.outgoing.len() as u32,
        };
        connection.unsent = 0..length;
        connection.asked_until = length;
        self.flush(slot);
    }

    /// Hands to the system what it takes of what is to be sent.
    #[inline]
    pub(super) fn flush(&mut self, slot: usize) {
        let connection = &mut self.exchanges.connections[slot];
        if connection.unsent.is_empty() {
            return;
        }
        let unsent = connection.unsent.start as usize..connection.unsent.end as usize;
        let payload = match (&connection.layers, &self.exchanges.source.requests) {
            (Some(layers), _) => Payload::Passing(&layers.wire[unsent]),
            (None, Requests::Fixed(_)) => Payload::Fixed(unsent),
            (None, Requests::Made(_)) => Payload::Passing(&connection.outgoing[unsent]),
        };
        match self.driver.send(slot, payload) {
            Ok(count) => {
                connection.unsent.start += count as u32;
                connection.forget_sent();
                self.exchanges.recorder.counts(0).bytes_out += count as u64;
            }
            Err(_) => self.sending_failed(slot),
        }
    }

    /// Sends due requests on connections that have room, and opens more connections if those are too few.
    #[inline]
    pub(super) fn dispatch_due(&mut self) {
        let ends = self.control.load_ends();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        if backlog.len() == 0 && (backlog.next_due() > self.now || backlog.next_due() >= ends) {
            return;
        }
        let control = &self.control;
        let requests = u64::from(self.batch);
        let fallen = backlog.fall_due(self.now, ends, || control.claim_or_end(requests, self.now));
        self.exchanges.recorder.counts(0).intended += fallen * requests;
        while self.backlog() > 0
            && let Some(slot) = self.idle.pop_front()
        {
            self.send_on_idle(slot as usize);
        }
        self.open_for_backlog();
    }

    /// Sends one due request; more of them go to other connections first.
    fn send_on_idle(&mut self, slot: usize) {
        let connection = &mut self.exchanges.connections[slot];
        connection.listed = false;
        // A connection that was lost while idle has left its place in the queue behind.
        if connection.state != State::Open || self.exchanges.room(slot) < self.batch {
            return;
        }
        // A burst of due requests takes time to send, which must not be charged to the target.
        self.now = self.clock.now();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        let Some(intended) = backlog.take() else { return };
        let ready = intended.max(self.exchanges.connections[slot].since);
        self.exchanges.recorder.send_lag(self.now.nanos_since(ready), u64::from(self.batch));
        self.exchanges.connections[slot].begin_writing();
        self.write_due(slot, intended);
        self.flush(slot);
        self.list(slot);
    }
}
