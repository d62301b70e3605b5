//! The state of one connection in the io_uring driver.

use plimsoll_sys::{CopyId, OpError, Socket, SocketState};

/// The pending receive of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Receiving {
    /// None, and none will follow: there is no connection, or it has ended.
    #[default]
    Never,
    /// None yet; one is armed at the end of the turn.
    Due,
    /// A multishot receive, which delivers pieces until it is cancelled.
    Multishot,
    /// A receive of one piece.
    Single,
    /// A receive that discards bytes of a body.
    Discard,
}

/// A pending send of a socket that will report its completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// A part of the fixed bytes.
    Fixed,
    /// This copy of the caller's bytes.
    Copy(CopyId),
}

/// A socket and the operations on it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) socket: Option<Socket>,
    /// Number of earlier sockets of the slot, whose operations may still complete.
    pub(super) generation: u32,
    pub(super) receiving: Receiving,
    /// True if the slot is in the list of due receives.
    pub(super) listed: bool,
    /// True if responses have long bodies, which are discarded rather than received.
    pub(super) bulk: bool,
    /// Number of pieces in a row, while `bulk` is set, that belonged to no long body.
    pub(super) short_pieces: u8,
    pub(super) sending: Option<Sending>,
    /// True if the worker waits for a writable event, which the completion of `sending` triggers.
    pub(super) wants_writable: bool,
    /// Number of sent bytes not yet reported to the worker.
    pub(super) unreported_bytes: usize,
    /// Number of bytes of silent sends since the last receive.
    pub(super) silent_bytes: usize,
    pub(super) connecting: bool,
    /// Why connecting, or a send, failed.
    pub(super) error: Option<OpError>,
    /// True if bytes were sent and nothing was received since.
    pub(super) waiting: bool,
    /// When those bytes were sent, and when bytes were last received, in nanoseconds of the clock.
    pub(super) sent_ns: u64,
    pub(super) received_ns: u64,
    /// True if the socket may hold more bytes than were received.
    pub(super) nonempty: bool,
    /// True if a response is incomplete and the socket has not been checked for a reset since.
    pub(super) unchecked: bool,
}

impl Slot {
    /// Takes a new socket, which begins to connect.
    pub(super) fn fill(&mut self, socket: Socket, generation: u32, bulk: bool) {
        *self = Self {
            socket: Some(socket),
            generation,
            bulk,
            connecting: true,
            listed: self.listed,
            ..Self::default()
        };
    }

    /// Returns the error of a socket that was reset. Reading the error consumes it.
    pub(super) fn take_reset(&mut self) -> Option<OpError> {
        self.unchecked = false;
        let number = self.socket.as_ref()?.connected().err()?.raw_os_error()?;
        Some(OpError::Os(number))
    }

    pub(super) fn state(&self) -> SocketState {
        self.socket.as_ref().map_or(SocketState::Dead, Socket::state)
    }
}
