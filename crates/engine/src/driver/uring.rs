//! The io_uring driver: multishot receives, silent sends, one system call a turn.
//!
//! During a turn sends and receives are only queued; the system call that waits for the next turn submits all of them. A
//! connection with short responses has one multishot receive, which delivers each piece in a buffer of the ring. A connection
//! with long bodies receives piece by piece, so that one operation can discard the rest of a body in the kernel.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_sys::{
    Completion, OpError, RecvMode, Ring, RingMemory, Route, Socket, SocketState, out_of_descriptors,
};
use plimsoll_units::{Clock, Instant, best_effort};

use super::{Driver, Event, Payload, Received};

mod pace;
mod slot;
mod token;

use pace::Pace;
use slot::{Receiving, Sending, Slot};
use token::{GENERATIONS, Kind, parts, token};

/// Receive buffers for the responses of one turn. Their memory is touched only when they are used.
const MEMORY: RingMemory = RingMemory { buffers: 1024, buffer_bytes: 4096 + 320 };

/// From this many bytes on, discarding costs less than receiving.
const MIN_DISCARD_BYTES: u64 = 8 * 1024;
/// Maximum number of bytes that one operation discards, so that long bodies are counted while they arrive.
const MAX_DISCARD_BYTES: u64 = 1024 * 1024;
/// After this many pieces without a long body, a connection counts as one with short bodies again.
const MAX_SHORT_PIECES: u8 = 16;

/// Maximum number of bytes of silent sends between two receives. It is below the size of any socket's send buffer, so that no
/// send is left incomplete and overtaken by a later one.
const MAX_SILENT_BYTES: usize = 16 * 1024;
/// Maximum number of sends that one system call submits. The kernel executes them one after the other, some microseconds each,
/// while the worker counts all of them as sent: a longer batch would show as latency.
const MAX_SENDS: u32 = 32;
/// Maximum number of bytes that one send copies.
const MAX_COPY_BYTES: usize = 64 * 1024;

/// Why no operation has to be cancelled before its socket is closed.
const STAYS_OPEN: &str = "the socket stays open until the ring is dropped";

pub(crate) struct Uring {
    ring: Ring,
    slots: Vec<Slot>,
    /// Slots whose receive is armed at the end of the turn.
    due: Vec<u32>,
    /// Slots to check for a reset once all completions are handled. A slot may be listed twice.
    unchecked: Vec<u32>,
    /// The content of the last event, until it is received.
    arrival: Option<(usize, Arrival)>,
    pace: Pace,
    /// Sends queued since the last submit.
    sends: u32,
    /// When the turn began.
    now_ns: u64,
    /// True if the connection received from last had long bodies; new connections start with this value.
    bulk: bool,
}

#[derive(Debug, Clone, Copy)]
enum Arrival {
    /// The bytes of the ring's last completion; empty at the end of the stream.
    Bytes,
    Discarded(u64),
    Broken(OpError),
}

fn not_connected() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

/// True if the error is transient: the socket is intact, and the same operation may succeed next time.
fn is_passing(number: i32) -> bool {
    let kind = io::Error::from_raw_os_error(number).kind();
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn io_error(error: OpError) -> io::Error {
    match error {
        OpError::Os(number) => io::Error::from_raw_os_error(number),
        OpError::NoBuffers | OpError::Canceled => io::ErrorKind::ConnectionAborted.into(),
    }
}

impl Uring {
    /// Creates a driver whose fixed payloads are parts of `fixed`.
    pub(crate) fn new(fixed: Arc<[u8]>) -> io::Result<Self> {
        Self::with_memory(fixed, MEMORY)
    }

    fn with_memory(fixed: Arc<[u8]>, memory: RingMemory) -> io::Result<Self> {
        let ring = Ring::new(fixed, memory)?;
        let (slots, due, unchecked, pace) = (Vec::new(), Vec::new(), Vec::new(), Pace::new());
        Ok(Self { ring, slots, due, unchecked, arrival: None, pace, sends: 0, now_ns: 0, bulk: false })
    }

    /// Arms a receive at the end of the turn, after the sends of the turn.
    fn receive_later(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.receiving = Receiving::Due;
        // A newly armed receive reports a reset itself, after the bytes that the socket still holds.
        slot.unchecked = false;
        if !slot.listed {
            slot.listed = true;
            self.due.push(index as u32);
        }
    }

    fn arm_due_receives(&mut self) -> io::Result<()> {
        while let Some(index) = self.due.pop() {
            let index = index as usize;
            let slot = &mut self.slots[index];
            slot.listed = false;
            if let (Receiving::Due, Some(socket)) = (slot.receiving, &slot.socket) {
                slot.receiving = if slot.bulk { Receiving::Single } else { Receiving::Multishot };
                // On a broken connection, a receive that waits first would not report the end behind bytes still in the socket.
                let wait_first = slot.waiting && slot.error.is_none();
                let mode = RecvMode { multishot: !slot.bulk, wait_first };
                self.ring.receive(socket, mode, token(Kind::Receive, slot.generation, index))?;
            }
        }
        Ok(())
    }

    /// Discards up to `discardable_bytes` of the next bytes.
    fn discard(&mut self, index: usize, discardable_bytes: u64) -> io::Result<()> {
        let count = discardable_bytes.min(MAX_DISCARD_BYTES) as u32;
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let token = token(Kind::Discard, slot.generation, index);
        self.ring.discard(socket, count, !slot.nonempty, token)?;
        slot.receiving = Receiving::Discard;
        slot.short_pieces = 0;
        Ok(())
    }

    /// Switches a connection to long bodies: cancels its multishot receive, so that pieces are received one by one.
    fn expect_long_bodies(&mut self, index: usize) -> io::Result<()> {
        let slot = &mut self.slots[index];
        slot.bulk = true;
        slot.short_pieces = 0;
        self.bulk = true;
        if slot.receiving != Receiving::Multishot {
            return Ok(());
        }
        let token_for = |kind| token(kind, slot.generation, index);
        self.ring.cancel(token_for(Kind::Receive), token_for(Kind::Cancel))
    }

    fn send_fixed(&mut self, index: usize, range: Range<usize>) -> io::Result<usize> {
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let reported = std::mem::take(&mut slot.unreported_bytes);
        let rest = range.start + reported..range.end;
        if rest.is_empty() {
            return Ok(reported);
        }
        let token_for = |kind| token(kind, slot.generation, index);
        if reported == 0 && slot.silent_bytes + rest.len() <= MAX_SILENT_BYTES {
            slot.silent_bytes += rest.len();
            let length = rest.len();
            self.ring.send_fixed(socket, rest, true, token_for(Kind::SilentSend))?;
            self.sends += 1;
            if self.sends == MAX_SENDS {
                self.sends = 0;
                self.ring.submit()?;
            }
            return Ok(length);
        }
        slot.sending = Some(Sending::Fixed);
        slot.wants_writable = true;
        self.ring.send_fixed(socket, rest, false, token_for(Kind::SendFixed))?;
        Ok(reported)
    }

    fn send_copy(&mut self, index: usize, bytes: &[u8]) -> io::Result<usize> {
        let slot = &mut self.slots[index];
        let socket = slot.socket.as_ref().ok_or_else(not_connected)?;
        let length = bytes.len().min(MAX_COPY_BYTES);
        let token = token(Kind::SendCopy, slot.generation, index);
        let copy = self.ring.send_copy(socket, &bytes[..length], token)?;
        slot.sending = Some(Sending::Copy(copy));
        slot.wants_writable = length < bytes.len();
        Ok(length)
    }

    /// Converts a completion to an event of its slot; `None` if there is none, or if the slot has a new socket.
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
            Kind::Connect => Some(self.connect_ended(index, completion.result.err())),
            Kind::SilentSend => self.send_failed(index, completion.result.err()),
            Kind::SendFixed | Kind::SendCopy => self.sent(index, kind, completion.result),
            Kind::Cancel => None,
        }
    }

    #[inline]
    fn received(&mut self, index: usize, completion: Completion) -> Option<Event> {
        match completion.result {
            Ok(0) => Some(self.end_received(index)),
            Ok(_) => {
                if !completion.more {
                    self.slots[index].nonempty = completion.nonempty;
                    self.receive_later(index);
                }
                let closing = self.ring.upcoming() == Some((completion.token, Ok(0)));
                Some(self.readable(index, Arrival::Bytes, closing))
            }
            Err(error) => self.receive_failed(index, error),
        }
    }

    fn end_received(&mut self, index: usize) -> Event {
        let slot = &mut self.slots[index];
        slot.receiving = Receiving::Never;
        // A failed send has consumed the socket's error, and its completion may come only later.
        let dead = slot.sending.is_some() && slot.state() == SocketState::Dead;
        let mut error = slot.error.or(dead.then_some(OpError::Canceled));
        if slot.unchecked {
            error = error.or(slot.take_reset());
        }
        self.readable(index, error.map_or(Arrival::Bytes, Arrival::Broken), false)
    }

    fn receive_failed(&mut self, index: usize, error: OpError) -> Option<Event> {
        match error {
            OpError::NoBuffers => {
                self.ring.release_buffers();
                self.receive_later(index);
                None
            }
            // Cancelled in order to be armed again.
            OpError::Canceled => {
                self.receive_later(index);
                None
            }
            OpError::Os(number) if is_passing(number) => {
                self.receive_later(index);
                None
            }
            OpError::Os(_) => {
                self.slots[index].receiving = Receiving::Never;
                Some(self.readable(index, Arrival::Broken(error), false))
            }
        }
    }

    fn discarded(&mut self, index: usize, completion: Completion) -> Option<Event> {
        self.receive_later(index);
        match completion.result {
            Err(error) => self.receive_failed(index, error),
            Ok(0) => Some(self.end_received(index)),
            Ok(count) => {
                let slot = &mut self.slots[index];
                slot.nonempty = completion.nonempty;
                let closing = completion.nonempty && slot.state() != SocketState::Open;
                Some(self.readable(index, Arrival::Discarded(count.into()), closing))
            }
        }
    }

    #[inline]
    fn readable(&mut self, index: usize, arrival: Arrival, closing: bool) -> Event {
        self.arrival = Some((index, arrival));
        let slot = &mut self.slots[index];
        slot.silent_bytes = 0;
        slot.unchecked = false;
        slot.received_ns = self.now_ns;
        if std::mem::take(&mut slot.waiting) {
            self.pace.ended();
        }
        Event { slot: index, readable: true, writable: false, closing }
    }

    /// Called when a response is incomplete and no more bytes are there. A multishot receive reports a reset that arrives with
    /// the last piece as part of that piece, and afterwards only that no bytes are left, so the socket is checked here. While
    /// other completions are pending, which may hold the rest of the response, the check is deferred.
    fn check_for_reset(&mut self, index: usize) -> io::Result<Received<'_>> {
        let slot = &mut self.slots[index];
        if slot.receiving == Receiving::Multishot {
            if self.ring.upcoming().is_some() {
                slot.unchecked = true;
                self.unchecked.push(index as u32);
            } else if let Some(error) = slot.take_reset()
                && !self.keep_error(index, error)
            {
                return Err(io_error(error));
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Checks the deferred connections for a reset. Returns the next one whose receive will not report it.
    fn next_reset(&mut self) -> Option<Event> {
        while let Some(index) = self.unchecked.pop() {
            let index = index as usize;
            let slot = &mut self.slots[index];
            if slot.unchecked
                && let Some(error) = slot.take_reset()
                && !self.keep_error(index, error)
            {
                return Some(self.readable(index, Arrival::Broken(error), false));
            }
        }
        None
    }

    fn connect_ended(&mut self, index: usize, error: Option<OpError>) -> Event {
        let slot = &mut self.slots[index];
        slot.connecting = false;
        slot.error = error;
        if error.is_none() {
            self.receive_later(index);
        }
        Event { slot: index, readable: false, writable: true, closing: false }
    }

    fn sent(&mut self, index: usize, kind: Kind, result: Result<u32, OpError>) -> Option<Event> {
        let slot = &mut self.slots[index];
        slot.sending = None;
        match result {
            Err(error) => return self.send_failed(index, Some(error)),
            Ok(count) if kind == Kind::SendFixed => slot.unreported_bytes += count as usize,
            Ok(_) => {}
        }
        let writable = std::mem::take(&mut slot.wants_writable);
        writable.then_some(Event { slot: index, readable: false, writable, closing: false })
    }

    /// Handles a failed send: nothing more can be sent, and the receive reports the end of the connection.
    fn send_failed(&mut self, index: usize, error: Option<OpError>) -> Option<Event> {
        // A silent send that completes without an error was partial, because the connection ended.
        let error = error.unwrap_or(OpError::Canceled);
        if self.keep_error(index, error) {
            return None;
        }
        let event = self.readable(index, Arrival::Broken(error), false);
        Some(Event { writable: true, ..event })
    }

    /// Keeps the error of a broken connection until its receive reports the end, because bytes that the peer sent before are
    /// still to come. A multishot receive may have missed the end, so it is cancelled and armed again. Returns false if no
    /// receive will report the end.
    fn keep_error(&mut self, index: usize, error: OpError) -> bool {
        let slot = &mut self.slots[index];
        slot.error = Some(error);
        let token_for = |kind| token(kind, slot.generation, index);
        match slot.receiving {
            Receiving::Never => false,
            Receiving::Multishot => {
                self.ring.cancel(token_for(Kind::Receive), token_for(Kind::Cancel)).is_ok()
            }
            Receiving::Due | Receiving::Single | Receiving::Discard => true,
        }
    }

    /// Creates a socket for a route. Sockets closed in this turn still hold their descriptors, so if no other descriptor is left,
    /// they are released first.
    fn prepare(&mut self, route: &Route) -> io::Result<Socket> {
        match Socket::prepare(route) {
            Err(error) if out_of_descriptors(&error) => {
                self.ring.flush_retired().map_err(|_| error)?;
                Socket::prepare(route)
            }
            prepared => prepared,
        }
    }
}

impl Driver for Uring {
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        let socket = self.prepare(route)?;
        let entry = &mut self.slots[slot];
        let generation = (entry.generation + 1) % GENERATIONS;
        self.ring.connect(&socket, route, token(Kind::Connect, generation, slot))?;
        entry.fill(socket, generation, self.bulk);
        Ok(())
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        self.slots[slot].error.map_or(Ok(()), |error| Err(io_error(error)))
    }

    #[inline]
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let entry = &mut self.slots[slot];
        match entry.error {
            Some(error) if entry.receiving == Receiving::Never => return Err(io_error(error)),
            // The pending receive reports the end.
            Some(_) => return Ok(0),
            None => {}
        }
        if entry.sending.is_some() {
            entry.wants_writable = true;
            return Ok(0);
        }
        if !entry.waiting {
            // The bytes received last completed the response to the last send.
            if entry.received_ns > entry.sent_ns {
                self.pace.answered_after(entry.received_ns - entry.sent_ns);
            }
            entry.waiting = true;
            entry.sent_ns = self.now_ns;
            self.pace.sent();
        }
        match payload {
            Payload::Fixed(range) => self.send_fixed(slot, range),
            Payload::Borrowed(bytes) => self.send_copy(slot, bytes),
        }
    }

    /// Another send may still be queued in the ring. Submitting it first keeps the order; a send queued behind it would be
    /// cancelled together with it when the slot is closed.
    fn send_last(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let Payload::Borrowed(bytes) = payload else { return self.send(slot, payload) };
        self.ring.submit()?;
        self.slots[slot].socket.as_ref().ok_or_else(not_connected)?.send(bytes)
    }

    #[inline]
    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>> {
        let entry = &mut self.slots[slot];
        let discards = entry.socket.as_ref().is_some_and(Socket::discards);
        let long = discardable_bytes >= MIN_DISCARD_BYTES && discards;
        let arrived = self.arrival.take_if(|(index, _)| *index == slot).map(|(_, arrival)| arrival);
        let piecewise = entry.receiving == Receiving::Due;
        match arrived {
            None if long && piecewise && entry.bulk => {
                self.discard(slot, discardable_bytes)?;
                Err(io::ErrorKind::WouldBlock.into())
            }
            None => self.check_for_reset(slot),
            Some(Arrival::Broken(error)) => Err(io_error(error)),
            Some(Arrival::Discarded(count)) => Ok(Received::Discarded { count, more: true }),
            Some(Arrival::Bytes) => {
                if long && !entry.bulk {
                    self.expect_long_bodies(slot)?;
                } else if entry.bulk && piecewise {
                    entry.short_pieces += 1;
                    entry.bulk = entry.short_pieces < MAX_SHORT_PIECES;
                    self.bulk = entry.bulk;
                }
                Ok(Received::Bytes { bytes: self.ring.bytes(), more: true })
            }
        }
    }

    fn close(&mut self, slot: usize) {
        let Some(entry) = self.slots.get_mut(slot) else { return };
        let Some(socket) = entry.socket.take() else { return };
        let token_for = |kind| token(kind, entry.generation, slot);
        let receiving = match entry.receiving {
            Receiving::Never | Receiving::Due => None,
            Receiving::Multishot | Receiving::Single => Some(Kind::Receive),
            Receiving::Discard => Some(Kind::Discard),
        };
        let sending = (entry.sending == Some(Sending::Fixed)).then_some(Kind::SendFixed);
        if std::mem::take(&mut entry.waiting) {
            self.pace.ended();
        }
        let connecting = entry.connecting.then_some(Kind::Connect);
        let not_found = token_for(Kind::Cancel);
        for kind in receiving.into_iter().chain(sending).chain(connecting) {
            best_effort(self.ring.cancel(token_for(kind), not_found), STAYS_OPEN);
        }
        if let Some(Sending::Copy(copy)) = entry.sending {
            best_effort(self.ring.cancel_copy(copy, not_found), STAYS_OPEN);
        }
        self.ring.retire(socket);
    }

    #[inline]
    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        self.arrival = None;
        self.arm_due_receives()?;
        self.sends = 0;
        let policy = self.pace.wait_policy(self.now_ns);
        self.ring.wait(longest, policy)?;
        let now = clock.now();
        self.now_ns = now.as_nanos();
        Ok(now)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            let Some(completion) = self.ring.next_completion() else { return self.next_reset() };
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
