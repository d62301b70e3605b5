//! The seam between the worker and the system: opening, sending, receiving, waiting.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) mod epoll;

/// A connection that became ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) slot: usize,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has closed: read until the end comes, for no other event will tell of it.
    pub(crate) closing: bool,
}

/// Bytes that came, and whether more may be there already.
#[derive(Debug)]
pub(crate) struct Received<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) more: bool,
}

/// Moves bytes for a worker. Connections are known by their slot, a small number of the worker's choosing.
pub(crate) trait Driver {
    /// Begins to connect; the slot becomes writable when that has ended.
    fn open(&mut self, slot: usize, address: SocketAddr) -> io::Result<()>;
    /// How the connecting ended.
    fn connected(&self, slot: usize) -> io::Result<()>;
    /// Sends what the system takes now, which may be nothing.
    fn send(&mut self, slot: usize, bytes: &[u8]) -> io::Result<usize>;
    /// Receives what is there; no bytes at all mean that the peer closed.
    fn receive(&mut self, slot: usize) -> io::Result<Received<'_>>;
    /// Closes the slot; events of its old socket are not seen any more.
    fn close(&mut self, slot: usize);
    /// Waits for events, at most this long.
    fn wait(&mut self, longest: Duration) -> io::Result<()>;
    /// The next event of the last wait.
    fn next_event(&mut self) -> Option<Event>;
}
