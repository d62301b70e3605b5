//! The io_uring driver: receives that stay asked for, sends that complete in silence, one call of the kernel a turn.
//!
//! What is to be sent or received is only noted down while a turn goes on; the call that waits for the next turn
//! hands all of it over. A connection whose responses are short has one receive for life, which gives every piece
//! in a buffer of the ring. One whose bodies are long receives piece by piece, so that what nobody wants to see of
//! a body can be thrown away within the kernel, all of it by one operation.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_sys::{Arming, Completion, Connection, Life, Mishap, Ring, RingMemory, Route};
use plimsoll_units::{Clock, RealClock};

use super::{Driver, Event, Payload, Received};

mod pace;
mod slot;
mod token;

use pace::Pace;
use slot::{Receiving, Slot};
use token::{GENERATIONS, Kind, parts, token};

/// Room for the answers of one turn. They are taken into use as they are needed.
const MEMORY: RingMemory = RingMemory { buffers: 1024, buffer_bytes: 4096 + 320 };

/// From so many bytes that nobody wants to see, throwing them away costs less than receiving them.
const DISCARD_LEAST_BYTES: u64 = 8 * 1024;
/// The most bytes thrown away by one operation, so that those of long bodies are counted as they come.
const DISCARD_MOST_BYTES: u64 = 1024 * 1024;
/// After so many answers without a long body a connection is taken to have short ones.
const PIECES_MAX: u8 = 16;

/// So much is sent without waiting to hear that it was. It is less than any socket's buffer holds, so that nothing
/// is left over that what is sent next could overtake.
const QUIET_MOST_BYTES: usize = 16 * 1024;
/// So many requests are handed to the kernel at once. They leave one after the other, which takes microseconds each
/// while the worker takes them to be sent: more at once would show as latency.
const SENDS_MAX: u32 = 32;
/// The most that is copied in one send.
const COPY_MOST_BYTES: usize = 64 * 1024;

pub(crate) struct Uring {
    ring: Ring,
    slots: Vec<Slot>,
    /// Slots that a receive is due for at the end of the turn.
    due: Vec<u32>,
    /// What the last event brought, until it is received.
    arrival: Option<(usize, Arrival)>,
    pace: Pace,
    /// Requests asked for and not handed over yet.
    sends: u32,
    /// When the turn began.
    now_ns: u64,
    /// The connection that was seen last had long bodies.
    bulk: bool,
}

#[derive(Debug, Clone, Copy)]
enum Arrival {
    /// The bytes of the ring's last completion, none at the end of the connection.
    Bytes,
    Discarded(u64),
    Broken(Mishap),
}

fn not_connected() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

fn error(mishap: Mishap) -> io::Error {
    match mishap {
        Mishap::Os(number) => io::Error::from_raw_os_error(number),
        Mishap::NoBuffers | Mishap::Canceled => io::ErrorKind::ConnectionAborted.into(),
    }
}

impl Uring {
    /// A driver whose fixed payloads are parts of `fixed`.
    pub(crate) fn new(fixed: Arc<[u8]>) -> io::Result<Self> {
        Self::with_memory(fixed, MEMORY)
    }

    fn with_memory(fixed: Arc<[u8]>, memory: RingMemory) -> io::Result<Self> {
        let ring = Ring::new(fixed, memory)?;
        let (slots, due, pace) = (Vec::new(), Vec::new(), Pace::new());
        Ok(Self { ring, slots, due, arrival: None, pace, sends: 0, now_ns: 0, bulk: false })
    }

    /// A receive is asked for at the end of the turn, behind what is sent until then.
    fn receive_later(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.receiving = Receiving::Due;
        if !slot.listed {
            slot.listed = true;
            self.due.push(index as u32);
        }
    }

    fn ask_for_what_is_due(&mut self) -> io::Result<()> {
        while let Some(index) = self.due.pop() {
            let index = index as usize;
            let slot = &mut self.slots[index];
            slot.listed = false;
            if let (Receiving::Due, Some(socket)) = (slot.receiving, &slot.socket) {
                slot.receiving = if slot.bulk { Receiving::Piece } else { Receiving::Pieces };
                let arming = Arming { multishot: !slot.bulk, wait_first: slot.waiting };
                self.ring.receive(socket, arming, token(Kind::Receive, slot.generation, index))?;
            }
        }
        Ok(())
    }

    /// Throws away what comes next.
    fn discard(&mut self, index: usize, unwanted_bytes: u64) -> io::Result<()> {
        let count = unwanted_bytes.min(DISCARD_MOST_BYTES) as u32;
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let token = token(Kind::Discard, slot.generation, index);
        self.ring.discard(socket, count, !slot.nonempty, token)?;
        slot.receiving = Receiving::Discard;
        slot.pieces = 0;
        Ok(())
    }

    /// Bodies are long here: the receive that gives every piece is ended, and from then on they come one by one.
    fn expect_long_bodies(&mut self, index: usize) -> io::Result<()> {
        let slot = &mut self.slots[index];
        slot.bulk = true;
        self.bulk = true;
        if slot.receiving != Receiving::Pieces {
            return Ok(());
        }
        let of = |kind| token(kind, slot.generation, index);
        self.ring.cancel(of(Kind::Receive), of(Kind::Cancel))
    }

    fn send_fixed(&mut self, index: usize, range: Range<usize>) -> io::Result<usize> {
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let told = std::mem::take(&mut slot.sent_untold);
        let rest = range.start + told..range.end;
        if rest.is_empty() {
            return Ok(told);
        }
        let of = |kind| token(kind, slot.generation, index);
        if told == 0 && slot.quiet_bytes + rest.len() <= QUIET_MOST_BYTES {
            slot.quiet_bytes += rest.len();
            let length = rest.len();
            self.ring.send_fixed(socket, rest, false, of(Kind::SendQuietly))?;
            self.sends += 1;
            if self.sends == SENDS_MAX {
                self.sends = 0;
                self.ring.submit()?;
            }
            return Ok(length);
        }
        slot.sending = true;
        slot.wants_writable = true;
        self.ring.send_fixed(socket, rest, true, of(Kind::SendFixed))?;
        Ok(told)
    }

    fn send_copy(&mut self, index: usize, bytes: &[u8]) -> io::Result<usize> {
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let length = bytes.len().min(COPY_MOST_BYTES);
        slot.sending = true;
        slot.wants_writable = length < bytes.len();
        self.ring.send_copy(socket, &bytes[..length], token(Kind::SendCopy, slot.generation, index))?;
        Ok(length)
    }

    /// What a completion means for the slot that it belongs to; nothing if that has a new socket since.
    #[inline]
    fn event(&mut self, completion: Completion) -> Option<Event> {
        let (kind, generation, index) = parts(completion.token);
        let slot = &self.slots[index];
        if slot.socket.is_none() || slot.generation != generation {
            return None;
        }
        match kind {
            Kind::Receive => self.received(index, completion),
            Kind::Discard => self.discarded(index, completion),
            Kind::Connect => Some(self.opened(index, completion.result.err())),
            Kind::SendQuietly => self.send_failed(index, completion.result.err()),
            Kind::SendFixed | Kind::SendCopy => self.sent(index, kind, completion.result),
            Kind::Cancel => None,
        }
    }

    #[inline]
    fn received(&mut self, index: usize, completion: Completion) -> Option<Event> {
        match completion.result {
            Ok(0) => {
                let slot = &mut self.slots[index];
                slot.receiving = Receiving::Never;
                // A send that failed has taken the reason with it, and may tell of it only later.
                let dead = slot.sending && slot.life() == Life::Dead;
                let mishap = slot.mishap.or(dead.then_some(Mishap::Canceled));
                let arrival = mishap.map_or(Arrival::Bytes, Arrival::Broken);
                Some(self.readable(index, arrival, false))
            }
            Ok(_) => {
                if !completion.more {
                    self.slots[index].nonempty = completion.nonempty;
                    self.receive_later(index);
                }
                let closing = self.ring.upcoming() == Some((completion.token, Ok(0)));
                Some(self.readable(index, Arrival::Bytes, closing))
            }
            Err(mishap) => self.receive_failed(index, mishap),
        }
    }

    fn receive_failed(&mut self, index: usize, mishap: Mishap) -> Option<Event> {
        match mishap {
            Mishap::NoBuffers => {
                self.ring.release_buffers();
                self.receive_later(index);
                None
            }
            // From one way to receive to the other.
            Mishap::Canceled => {
                self.receive_later(index);
                None
            }
            Mishap::Os(_) => {
                self.slots[index].receiving = Receiving::Never;
                Some(self.readable(index, Arrival::Broken(mishap), false))
            }
        }
    }

    fn discarded(&mut self, index: usize, completion: Completion) -> Option<Event> {
        self.receive_later(index);
        match completion.result {
            Err(mishap) => self.receive_failed(index, mishap),
            Ok(0) => self.received(index, completion),
            Ok(count) => {
                let slot = &mut self.slots[index];
                slot.nonempty = completion.nonempty;
                let closing = completion.nonempty && slot.life() != Life::Open;
                Some(self.readable(index, Arrival::Discarded(count.into()), closing))
            }
        }
    }

    #[inline]
    fn readable(&mut self, index: usize, arrival: Arrival, closing: bool) -> Event {
        self.arrival = Some((index, arrival));
        let slot = &mut self.slots[index];
        slot.quiet_bytes = 0;
        slot.heard_ns = self.now_ns;
        if std::mem::take(&mut slot.waiting) {
            self.pace.ended();
        }
        Event { slot: index, readable: true, writable: false, closing }
    }

    /// A response is incomplete and the rest is not there. A reset that came together with the piece before would
    /// go unnoticed: the kernel reports both as one, and then sees only that there are no more bytes.
    fn broken_unseen(&mut self, index: usize) -> io::Result<Received<'_>> {
        let slot = &self.slots[index];
        if slot.receiving == Receiving::Pieces
            && let Some(socket) = &slot.socket
        {
            socket.connected()?;
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn opened(&mut self, index: usize, mishap: Option<Mishap>) -> Event {
        let slot = &mut self.slots[index];
        slot.connecting = false;
        slot.mishap = mishap;
        if mishap.is_none() {
            self.receive_later(index);
        }
        Event { slot: index, readable: false, writable: true, closing: false }
    }

    fn sent(&mut self, index: usize, kind: Kind, result: Result<u32, Mishap>) -> Option<Event> {
        let slot = &mut self.slots[index];
        slot.sending = false;
        match result {
            Err(mishap) => return self.send_failed(index, Some(mishap)),
            Ok(count) if kind == Kind::SendFixed => slot.sent_untold += count as usize,
            Ok(_) => {}
        }
        let writable = std::mem::take(&mut slot.wants_writable);
        writable.then_some(Event { slot: index, readable: false, writable, closing: false })
    }

    /// Nothing more can be sent. What the peer said before is still to come, and after it the end of the connection,
    /// which a receive under way will tell. One that stays armed may have missed it, and is asked for anew.
    fn send_failed(&mut self, index: usize, mishap: Option<Mishap>) -> Option<Event> {
        // One that was sent in part has met the end of the connection on the way.
        let mishap = mishap.unwrap_or(Mishap::Canceled);
        let slot = &mut self.slots[index];
        slot.mishap = Some(mishap);
        let of = |kind| token(kind, slot.generation, index);
        let heard = match slot.receiving {
            Receiving::Never => false,
            Receiving::Pieces => self.ring.cancel(of(Kind::Receive), of(Kind::Cancel)).is_ok(),
            Receiving::Due | Receiving::Piece | Receiving::Discard => true,
        };
        if heard {
            return None;
        }
        let event = self.readable(index, Arrival::Broken(mishap), false);
        Some(Event { writable: true, ..event })
    }
}

impl Driver for Uring {
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        let socket = Connection::prepare(route)?;
        let entry = &mut self.slots[slot];
        let generation = (entry.generation + 1) % GENERATIONS;
        self.ring.connect(&socket, route, token(Kind::Connect, generation, slot))?;
        entry.fill(socket, generation, self.bulk);
        Ok(())
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        self.slots[slot].mishap.map_or(Ok(()), |mishap| Err(error(mishap)))
    }

    #[inline]
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let entry = &mut self.slots[slot];
        match entry.mishap {
            Some(mishap) if entry.receiving == Receiving::Never => return Err(error(mishap)),
            // The receive that is under way tells of the end.
            Some(_) => return Ok(0),
            None => {}
        }
        if entry.sending {
            entry.wants_writable = true;
            return Ok(0);
        }
        if !entry.waiting {
            // What was heard last ended the answer to what was sent before.
            if entry.heard_ns > entry.sent_ns {
                self.pace.answered_after(entry.heard_ns - entry.sent_ns);
            }
            entry.waiting = true;
            entry.sent_ns = self.now_ns;
            self.pace.sent();
        }
        match payload {
            Payload::Fixed(range) => self.send_fixed(slot, range),
            Payload::Passing(bytes) => self.send_copy(slot, bytes),
        }
    }

    #[inline]
    fn receive(&mut self, slot: usize, unwanted_bytes: u64) -> io::Result<Received<'_>> {
        let entry = &mut self.slots[slot];
        let discards = entry.socket.as_ref().is_some_and(Connection::discards);
        let long = unwanted_bytes >= DISCARD_LEAST_BYTES && discards;
        let arrived = self.arrival.take_if(|(index, _)| *index == slot).map(|(_, arrival)| arrival);
        let piecewise = entry.receiving == Receiving::Due;
        match arrived {
            None if long && piecewise && entry.bulk => {
                self.discard(slot, unwanted_bytes)?;
                Err(io::ErrorKind::WouldBlock.into())
            }
            None => self.broken_unseen(slot),
            Some(Arrival::Broken(mishap)) => Err(error(mishap)),
            Some(Arrival::Discarded(count)) => Ok(Received::Discarded { count, more: true }),
            Some(Arrival::Bytes) => {
                if long && !entry.bulk {
                    self.expect_long_bodies(slot)?;
                } else if entry.bulk && piecewise {
                    entry.pieces += 1;
                    entry.bulk = entry.pieces < PIECES_MAX;
                    self.bulk = entry.bulk;
                }
                Ok(Received::Bytes { bytes: self.ring.bytes(), more: true })
            }
        }
    }

    fn close(&mut self, slot: usize) {
        let Some(entry) = self.slots.get_mut(slot) else { return };
        let Some(socket) = entry.socket.take() else { return };
        let of = |kind| token(kind, entry.generation, slot);
        let receiving = match entry.receiving {
            Receiving::Never | Receiving::Due => None,
            Receiving::Pieces | Receiving::Piece => Some(Kind::Receive),
            Receiving::Discard => Some(Kind::Discard),
        };
        let sending = entry.sending.then_some([Kind::SendFixed, Kind::SendCopy]).into_iter().flatten();
        if std::mem::take(&mut entry.waiting) {
            self.pace.ended();
        }
        let connecting = entry.connecting.then_some(Kind::Connect);
        for kind in receiving.into_iter().chain(sending).chain(connecting) {
            if self.ring.cancel(of(kind), of(Kind::Cancel)).is_err() {
                // The socket stays open until the ring is gone; there is nothing else to do about it.
            }
        }
        self.ring.retire(socket);
    }

    #[inline]
    fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.arrival = None;
        self.ask_for_what_is_due()?;
        self.sends = 0;
        let gathering = self.pace.gathering(self.now_ns);
        self.ring.wait(longest, gathering)?;
        self.now_ns = RealClock.now().as_nanos();
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            let completion = self.ring.next_completion()?;
            if let Some(event) = self.event(completion) {
                return Some(event);
            }
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        for slot in 0..self.slots.len() {
            self.close(slot);
        }
    }
}

#[cfg(test)]
mod tests;
