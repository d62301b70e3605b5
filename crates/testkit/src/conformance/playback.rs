//! What the connections of a case's server share: how the case is sent, and what is noted of the client.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use parking_lot::Mutex;

use super::case::Case;

/// The status of the responses that are not part of the case. No case has it.
pub const CONTROL_STATUS: u16 = 599;
/// Requests beyond this are not answered, so that a load generator does not load.
const MAX_REQUESTS: u64 = 200;

/// How often the case is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Play {
    /// To the first request; all others get [`CONTROL_STATUS`].
    Once,
    /// To each request.
    Always,
}

/// In which pieces the bytes of a case are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    Whole,
    /// Each byte by itself; of long cases the first bytes only.
    Bytes,
}

/// With [`Pieces::Bytes`], so many bytes are sent one by one, the rest in blocks.
const SINGLE_BYTES: usize = 4096;
const BLOCK_BYTES: usize = 1000;

/// What the server saw of its client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerView {
    pub connections: u64,
    pub requests: u64,
    /// A request came on a connection that had carried the case to its end, although the server kept it open.
    pub reused: bool,
    /// RST_STREAM, GOAWAY and acknowledged PING frames on connections that carried the case.
    pub sent: Vec<String>,
}

/// What the connections of a server share.
pub(super) struct Shared {
    pub(super) case: Case,
    pieces: Pieces,
    play: Play,
    view: Mutex<ServerView>,
}

impl Shared {
    pub(super) fn new(case: Case, pieces: Pieces, play: Play) -> Self {
        Self { case, pieces, play, view: Mutex::default() }
    }

    pub(super) fn view(&self) -> ServerView {
        self.view.lock().clone()
    }

    pub(super) fn begin_connection(&self) {
        self.view.lock().connections += 1;
    }

    /// Counts a request; says whether the case is played to it, or nothing if it is not to be answered at all.
    pub(super) fn begin_request(&self) -> Option<bool> {
        let mut view = self.view.lock();
        view.requests += 1;
        (view.requests <= MAX_REQUESTS).then_some(self.play == Play::Always || view.requests == 1)
    }

    /// A request came on a connection that has carried the case.
    pub(super) fn note_reuse(&self) {
        self.view.lock().reused |= !self.case.closes;
    }

    pub(super) fn note_sent(&self, frame: String) {
        let mut view = self.view.lock();
        if !view.sent.contains(&frame) {
            view.sent.push(frame);
        }
    }

    /// Sends bytes of the case in its pieces.
    pub(super) fn send(&self, mut stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
        if self.pieces == Pieces::Whole {
            return stream.write_all(bytes);
        }
        let (single, rest) = bytes.split_at(bytes.len().min(SINGLE_BYTES));
        single.chunks(1).chain(rest.chunks(BLOCK_BYTES)).try_for_each(|piece| stream.write_all(piece))
    }
}

/// Ends the server's side and reads what the client still sends, so that nothing is lost to a reset.
pub(super) fn close(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}
