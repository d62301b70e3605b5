//! The epoll driver: edge-triggered, each socket registered once, writes tried at once.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_sys::{Connection, Poll, Route};

use super::{Driver, Event, Payload, Received};

/// Bytes received in one call. Larger would push the worker's own memory out of the second-level cache.
const BUFFER_BYTES: usize = 64 * 1024;

/// Where bodies are long, so much is received before anything is known of the next one: its head, and little of what
/// would be copied for nothing.
const HEAD_BYTES: usize = 2 * 1024;
/// After so many short responses bodies are not taken to be long any more.
const SHORT_MOST: u8 = 16;

/// From so many bytes that nobody wants to see, throwing them away costs less than copying them.
const DISCARD_LEAST_BYTES: u64 = 8 * 1024;
/// The most bytes thrown away in one call, so that one connection does not hold up the others.
const DISCARD_MOST_BYTES: u64 = 1024 * 1024;

pub(crate) struct Epoll {
    poll: Poll,
    fixed: Arc<[u8]>,
    sockets: Vec<Slot>,
    /// How many more short responses it takes until bodies are not taken to be long any more.
    long: u8,
    buffer: Box<[u8]>,
}

/// A socket and how many there were in its slot before: an event that was on its way when the slot
/// was closed carries the number of the old one.
#[derive(Debug, Default)]
struct Slot {
    socket: Option<Connection>,
    generation: u32,
}

fn token(slot: usize, generation: u32) -> u64 {
    (u64::from(generation) << 32) | slot as u64
}

impl Epoll {
    /// A driver whose fixed payloads are parts of `fixed`.
    pub(crate) fn new(fixed: Arc<[u8]>) -> io::Result<Self> {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Ok(Self { poll: Poll::new()?, fixed, sockets: Vec::new(), long: 0, buffer })
    }

    fn socket(&self, slot: usize) -> io::Result<&Connection> {
        let socket = self.sockets.get(slot).and_then(|slot| slot.socket.as_ref());
        socket.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Driver for Epoll {
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()> {
        if self.sockets.len() <= slot {
            self.sockets.resize_with(slot + 1, Slot::default);
        }
        let socket = Connection::open(route)?;
        let entry = &mut self.sockets[slot];
        entry.generation = entry.generation.wrapping_add(1);
        self.poll.watch(&socket, token(slot, entry.generation))?;
        entry.socket = Some(socket);
        Ok(())
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        self.socket(slot)?.connected()
    }

    #[inline]
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        let bytes = match payload {
            Payload::Fixed(range) => &self.fixed[range],
            Payload::Passing(bytes) => bytes,
        };
        match self.socket(slot)?.send(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            result => result,
        }
    }

    #[inline]
    fn receive(&mut self, slot: usize, unwanted_bytes: u64) -> io::Result<Received<'_>> {
        let socket = self.sockets.get(slot).and_then(|slot| slot.socket.as_ref());
        let socket = socket.ok_or(io::ErrorKind::NotConnected)?;
        if unwanted_bytes >= DISCARD_LEAST_BYTES && socket.discards() {
            let wanted = unwanted_bytes.min(DISCARD_MOST_BYTES) as usize;
            let count = socket.discard(wanted)?;
            self.long = SHORT_MOST;
            if count > 0 {
                return Ok(Received::Discarded { count: count as u64, more: count == wanted });
            }
            return Ok(Received::Bytes { bytes: &mut [], more: false });
        }
        let most = if self.long > 0 { HEAD_BYTES } else { BUFFER_BYTES };
        let count = socket.receive(&mut self.buffer[..most])?;
        self.long = self.long.saturating_sub(u8::from(count < most));
        // A stream socket that filled less than the buffer is empty (epoll(7)), so asking again can be saved.
        Ok(Received::Bytes { bytes: &mut self.buffer[..count], more: count == most })
    }

    fn close(&mut self, slot: usize) {
        if let Some(slot) = self.sockets.get_mut(slot) {
            slot.socket = None;
        }
    }

    #[inline]
    fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.poll.wait(longest)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            let ready = self.poll.next_ready()?;
            let slot = (ready.token & u64::from(u32::MAX)) as usize;
            let entry = &self.sockets[slot];
            if entry.socket.is_some() && token(slot, entry.generation) == ready.token {
                let readiness = ready.readiness;
                return Some(Event {
                    slot,
                    readable: readiness.readable,
                    writable: readiness.writable,
                    closing: readiness.closing,
                });
            }
        }
    }
}
