//! The interface between a worker and the system: connect, send, receive, wait.
//!
//! A worker knows its connections by slots, small numbers of its own choice. Both drivers pass the same tests.

use std::io;
use std::ops::Range;
use std::time::Duration;

use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};

pub(crate) mod epoll;
pub(crate) mod uring;

/// A slot that became ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) slot: usize,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has closed. Read up to the end of the stream, because no other event announces it.
    pub(crate) closing: bool,
}

/// Bytes to send.
#[derive(Debug, Clone)]
pub(crate) enum Payload<'a> {
    /// A part of the step's fixed bytes, which the driver got when it was created.
    Fixed(Range<usize>),
    /// Bytes that are valid only during the call.
    Borrowed(&'a [u8]),
}

/// The result of a receive. `more` says whether the socket may hold more bytes.
#[derive(Debug)]
pub(crate) enum Received<'a> {
    /// Received bytes; empty if the peer has closed. The caller may change them in place.
    Bytes { bytes: &'a mut [u8], more: bool },
    /// This many bytes arrived and were discarded without being copied.
    Discarded { count: u64, more: bool },
}

/// Moves bytes for one worker.
pub(crate) trait Driver {
    /// Begins to connect. The slot becomes writable when the attempt has succeeded or failed.
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()>;
    /// Returns `Ok` if the attempt to connect succeeded, otherwise its error.
    fn connected(&self, slot: usize) -> io::Result<()>;
    /// Sends as many bytes as the socket accepts now, possibly none, and returns their number. The slot becomes writable when
    /// the socket accepts more.
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize>;
    /// Sends the last bytes of a slot that is about to be closed, as many as the socket accepts at once.
    fn send_last(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        self.send(slot, payload)
    }
    /// Receives bytes that have arrived. The driver may discard the next `discardable_bytes` of them.
    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>>;
    /// Closes the slot. Events of its old socket are dropped.
    fn close(&mut self, slot: usize);
    /// Waits for events, at most `longest`; returns the instant at which the wait ended.
    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant>;
    /// Returns the next event of the last wait.
    fn next_event(&mut self) -> Option<Event>;
}
