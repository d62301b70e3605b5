//! What the driver knows of one connection.

use plimsoll_sys::{Connection, Life, Mishap};

/// The receive that is under way on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Receiving {
    /// None, and none is to be: there is no connection yet, or no longer.
    #[default]
    Never,
    /// None until the end of the turn, when one is asked for.
    Due,
    /// One that gives every piece until it is cancelled.
    Pieces,
    /// One that gives one piece.
    Piece,
    /// One that throws away what comes of a body.
    Discard,
}

/// A socket and what is under way on it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) socket: Option<Connection>,
    /// How many sockets there were in the slot before: what was under way on them still completes.
    pub(super) generation: u32,
    pub(super) receiving: Receiving,
    /// It stands in the list of those that a receive is due for.
    pub(super) listed: bool,
    /// Its responses have long bodies, which are to be thrown away rather than received.
    pub(super) bulk: bool,
    /// Pieces in a row that came while it was taken to have long bodies, and belonged to none.
    pub(super) pieces: u8,
    /// A send is under way whose end will be told.
    pub(super) sending: bool,
    /// The worker waits for that end.
    pub(super) wants_writable: bool,
    /// Bytes that were sent since the worker last heard of any.
    pub(super) sent_untold: usize,
    /// Bytes that were sent without being told of since something was received.
    pub(super) quiet_bytes: usize,
    /// It is being connected.
    pub(super) connecting: bool,
    /// Why the connecting, or a send, failed.
    pub(super) mishap: Option<Mishap>,
    /// Something was sent that nothing was received for yet.
    pub(super) waiting: bool,
    /// When that began, and when something was received last, in the clock's nanoseconds.
    pub(super) sent_ns: u64,
    pub(super) heard_ns: u64,
    /// More may be there than was received.
    pub(super) nonempty: bool,
}

impl Slot {
    /// A new socket, on which nothing has happened yet.
    pub(super) fn fill(&mut self, socket: Connection, generation: u32, bulk: bool) {
        *self = Self {
            socket: Some(socket),
            generation,
            bulk,
            connecting: true,
            listed: self.listed,
            ..Self::default()
        };
    }

    pub(super) fn life(&self) -> Life {
        self.socket.as_ref().map_or(Life::Dead, Connection::life)
    }
}
