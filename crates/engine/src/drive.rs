//! The seam between the worker and the system: opening, sending, receiving, waiting.

use std::io;
use std::ops::Range;
use std::time::Duration;

use plimsoll_sys::Route;

pub(crate) mod choice;
pub(crate) mod epoll;
pub(crate) mod uring;

/// A connection that became ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) slot: usize,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has closed: read until the end comes, for no other event will tell of it.
    pub(crate) closing: bool,
}

/// What is to be sent.
#[derive(Debug, Clone)]
pub(crate) enum Payload<'a> {
    /// A part of the step's fixed bytes, which the driver was given when it was made.
    Fixed(Range<usize>),
    /// Bytes that are there only during the call.
    Passing(&'a [u8]),
}

/// What came, and whether more may be there already.
#[derive(Debug)]
pub(crate) enum Received<'a> {
    /// Bytes, none if the peer closed. They may be changed where they lie.
    Bytes { bytes: &'a mut [u8], more: bool },
    /// This many bytes came and were thrown away unseen.
    Discarded { count: u64, more: bool },
}

/// Moves bytes for a worker. Connections are known by their slot, a small number of the worker's choosing.
pub(crate) trait Driver {
    /// Begins to connect; the slot becomes writable when that has ended.
    fn open(&mut self, slot: usize, route: &Route) -> io::Result<()>;
    /// How the connecting ended.
    fn connected(&self, slot: usize) -> io::Result<()>;
    /// Sends what the system takes now, which may be nothing; the slot becomes writable when it takes more.
    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize>;
    /// Receives what is there. Of that, the next `unwanted_bytes` need not be seen.
    fn receive(&mut self, slot: usize, unwanted_bytes: u64) -> io::Result<Received<'_>>;
    /// Closes the slot; events of its old socket are not seen any more.
    fn close(&mut self, slot: usize);
    /// Waits for events, at most this long.
    fn wait(&mut self, longest: Duration) -> io::Result<()>;
    /// The next event of the last wait.
    fn next_event(&mut self) -> Option<Event>;
}
