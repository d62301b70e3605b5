//! The epoll driver: edge-triggered; each socket is registered once; a send is tried at once, without waiting for an event.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_sys::{Poll, Readiness, Route, Socket};
use plimsoll_units::{Clock, Instant};

use super::{Driver, Event, Payload, Received};

/// Maximum number of bytes received in one call. More would evict the worker's own memory from the second-level cache.
const BUFFER_BYTES: usize = 64 * 1024;

/// Maximum number of bytes received at the beginning of a response while bodies are long: the head and little of the body,
/// because the rest of the body need not be copied.
const HEAD_BYTES: usize = 2 * 1024;
/// After this many short responses in a row, bodies no longer count as long.
const MAX_SHORT: u8 = 16;

/// From this many bytes on, discarding costs less than copying.
const MIN_DISCARD_BYTES: u64 = 8 * 1024;
/// Maximum number of bytes discarded in one call.
const MAX_DISCARD_BYTES: u64 = 1024 * 1024;

/// Bytes received from one connection in one turn; only the last call may exceed it. A peer that sends without end must not
/// delay the other connections and the deadlines.
const MAX_TURN_BYTES: usize = 1024 * 1024;

pub(crate) struct Epoll {
    poll: Poll,
    fixed: Arc<[u8]>,
    sockets: Vec<Slot>,
    /// The event returned last, with its token. `left_bytes` is what may still be received for it in this turn.
    current: Option<(u64, Event)>,
    left_bytes: usize,
    /// Events whose sockets may hold more bytes. With edge triggering the system does not report them again.
    unread: VecDeque<(u64, Event)>,
    /// How many of these were queued before the last wait. The others wait for the next turn.
    unread_due: usize,
    /// Number of further short responses until bodies no longer count as long.
    long: u8,
    buffer: Box<[u8]>,
}

/// A socket with its generation. An event of an earlier socket of the slot carries an older generation.
#[derive(Debug, Default)]
struct Slot {
    socket: Option<Socket>,
    generation: u32,
    /// True if its event is in `unread`.
    unread: bool,
}

fn token(slot: usize, generation: u32) -> u64 {
    (u64::from(generation) << 32) | slot as u64
}

impl Epoll {
    /// Creates a driver whose fixed payloads are parts of `fixed`.
    pub(crate) fn new(fixed: Arc<[u8]>) -> io::Result<Self> {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Ok(Self {
            poll: Poll::new()?,
            fixed,
            sockets: Vec::new(),
            current: None,
            left_bytes: 0,
            unread: VecDeque::new(),
            unread_due: 0,
            long: 0,
            buffer,
        })
    }

    fn socket(&self, slot: usize) -> io::Result<&Socket> {
        let socket = self.sockets.get(slot).and_then(|slot| slot.socket.as_ref());
        socket.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Returns the slot of a token; `None` if the slot has a newer socket or none.
    #[inline]
    fn slot_of(&self, token: u64) -> Option<usize> {
        let slot = (token & u64::from(u32::MAX)) as usize;
        let entry = self.sockets.get(slot)?;
        (entry.socket.is_some() && self::token(slot, entry.generation) == token).then_some(slot)
    }

    /// Makes `event` the current one and returns it.
    #[inline]
    fn begin_event(&mut self, token: u64, event: Event) -> Event {
        self.current = Some((token, event));
        self.left_bytes = MAX_TURN_BYTES;
        event
    }

    /// True if the slot has received its share of this turn. Its event is then returned again in the next turn.
    #[inline]
    fn has_had_its_turn(&mut self, slot: usize) -> bool {
        if self.left_bytes > 0 {
            return false;
        }
        let Some((token, event)) = self.current.take_if(|(_, event)| event.slot == slot) else {
            return false;
        };
        if let Some(entry) = self.sockets.get_mut(slot)
            && !std::mem::replace(&mut entry.unread, true)
        {
            self.unread.push_back((token, Event { writable: false, ..event }));
        }
        true
    }

    /// Returns the next event that had not received all its bytes before the last wait.
    fn next_unread(&mut self) -> Option<(u64, Event)> {
        while self.unread_due > 0 {
            self.unread_due -= 1;
            let (token, event) = self.unread.pop_front()?;
            if let Some(slot) = self.slot_of(token) {
                self.sockets[slot].unread = false;
                return Some((token, event));
            }
        }
        None
    }

    /// Returns the next event that the system reported.
    #[inline]
    fn next_ready(&mut self) -> Option<(u64, Event)> {
        while let Some(ready) = self.poll.next_ready() {
            if let Some(slot) = self.slot_of(ready.token) {
                let Readiness { readable, writable, closing } = ready.readiness;
                return Some((ready.token, Event { slot, readable, writable, closing }));
            }
        }
        None
    }
}

impl Driver for Epoll {
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()> {
        if self.sockets.len() <= slot {
            self.sockets.resize_with(slot + 1, Slot::default);
        }
        let socket = Socket::open(route)?;
        let entry = &mut self.sockets[slot];
        entry.generation = entry.generation.wrapping_add(1);
        self.poll.watch(&socket, token(slot, entry.generation))?;
        entry.socket = Some(socket);
        entry.unread = false;
        Ok(())
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        self.socket(slot)?.connected()
    }

    #[inline]
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let bytes = match payload {
            Payload::Fixed(range) => &self.fixed[range],
            Payload::Borrowed(bytes) => bytes,
        };
        match self.socket(slot)?.send(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            result => result,
        }
    }

    #[inline]
    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>> {
        if self.has_had_its_turn(slot) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let socket = self.sockets.get(slot).and_then(|slot| slot.socket.as_ref());
        let socket = socket.ok_or(io::ErrorKind::NotConnected)?;
        if discardable_bytes >= MIN_DISCARD_BYTES && socket.discards() {
            let most = discardable_bytes.min(MAX_DISCARD_BYTES) as usize;
            let count = socket.discard(most)?;
            self.long = MAX_SHORT;
            self.left_bytes = self.left_bytes.saturating_sub(count);
            if count > 0 {
                return Ok(Received::Discarded { count: count as u64, more: count == most });
            }
            return Ok(Received::Bytes { bytes: &mut [], more: false });
        }
        let most = if self.long > 0 { HEAD_BYTES } else { BUFFER_BYTES };
        let count = socket.receive(&mut self.buffer[..most])?;
        self.left_bytes = self.left_bytes.saturating_sub(count);
        self.long = self.long.saturating_sub(u8::from(count < most));
        // A stream socket that returned fewer bytes than requested is empty (epoll(7)), so no second call is needed.
        Ok(Received::Bytes { bytes: &mut self.buffer[..count], more: count == most })
    }

    fn close(&mut self, slot: usize) {
        if let Some(slot) = self.sockets.get_mut(slot) {
            slot.socket = None;
        }
    }

    #[inline]
    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        self.unread_due = self.unread.len();
        self.poll.wait(if self.unread_due > 0 { Duration::ZERO } else { longest })?;
        Ok(clock.now())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        let (token, event) = self.next_ready().or_else(|| self.next_unread())?;
        Some(self.begin_event(token, event))
    }
}
