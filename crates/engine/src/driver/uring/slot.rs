//! What the driver knows of one connection.

use plimsoll_sys::{CopyId, OpError, Socket, SocketState};

/// The receive that is under way on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Receiving {
    /// None, and none is to come: there is no connection, or it has ended.
    #[default]
    Never,
    /// None; one is armed at the end of the turn.
    Due,
    /// A multishot receive, which gives every piece until it is cancelled.
    Multishot,
    /// A receive of one piece.
    Single,
    /// A receive that discards bytes of a body.
    Discard,
}

/// A send that is under way on a socket and will complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// Of a part of the fixed bytes.
    Fixed,
    /// Of this copy.
    Copy(CopyId),
}

/// A socket and the operations on it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) socket: Option<Socket>,
    /// Number of sockets that the slot had before: operations on those still complete.
    pub(super) generation: u32,
    pub(super) receiving: Receiving,
    /// The slot is in the list of those whose receive is due.
    pub(super) listed: bool,
    /// Responses have long bodies, which are better discarded than received.
    pub(super) bulk: bool,
    /// Pieces in a row that belonged to no long body while `bulk` was set.
    pub(super) short_pieces: u8,
    pub(super) sending: Option<Sending>,
    /// The worker waits for the completion of that send.
    pub(super) wants_writable: bool,
    /// Bytes sent that the worker does not know of yet.
    pub(super) unreported_bytes: usize,
    /// Bytes of silent sends since the last receive.
    pub(super) silent_bytes: usize,
    pub(super) connecting: bool,
    /// Why connecting, or a send, failed.
    pub(super) error: Option<OpError>,
    /// Something was sent, and nothing was received since.
    pub(super) waiting: bool,
    /// When that was sent, and when something was last received, in nanoseconds of the clock.
    pub(super) sent_ns: u64,
    pub(super) received_ns: u64,
    /// The socket may hold more than was received.
    pub(super) nonempty: bool,
    /// A response is incomplete, and it is not known whether the connection was reset since.
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

    /// The error of a socket that was reset. Asking for it consumes it.
    pub(super) fn take_reset(&mut self) -> Option<OpError> {
        self.unchecked = false;
        let number = self.socket.as_ref()?.connected().err()?.raw_os_error()?;
        Some(OpError::Os(number))
    }

    pub(super) fn state(&self) -> SocketState {
        self.socket.as_ref().map_or(SocketState::Dead, Socket::state)
    }
}
