//! One connection as its owner sees it: requests out, bytes in, events out.

use std::collections::VecDeque;

use super::error::{Broken, ErrorCode};
use super::event::Event;
use super::frame;
use super::memory::Memory;
use super::server_settings::{self, ServerSettings};
use super::streams::{Stream, Streams, VACANT};
use super::window::{self, ReceiveWindow};
use crate::Expect;
use reader::Reader;

mod body;
mod control;
mod head;
mod reader;
mod receiver;
#[cfg(test)]
mod tests;
mod upload;

/// The bytes that a client sends before its first frame (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The windows of streams and connection unless asked otherwise, in bytes: a gigabyte, so that
/// bodies of ordinary size need no update.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// More streams than this are not opened on one connection.
const MAX_STREAMS: u32 = 1 << 16;
/// The last id a client may use.
const LAST_ID: u32 = 0x7fff_ffff;

/// One request to open a stream with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The caller's number, which comes back in the events.
    pub tag: u32,
    /// The header block, see [`crate::Request::encode`].
    pub block: &'a [u8],
    /// The body; empty for none.
    pub body: &'a [u8],
    /// Whether the response has a body.
    pub expect: Expect,
    /// Whether the fields and the body of the response are handed on.
    pub observe: bool,
}

/// The client's side of one HTTP/2 connection.
///
/// An open connection takes some 200 bytes, and 128 for every stream that it may open, whose number
/// is rounded up to a power of two; buffers come from the [`Memory`] of its worker and go back there.
#[derive(Debug)]
pub struct Connection {
    streams: Streams,
    max_streams: u32,
    window_bytes: u32,
    next_id: u32,
    server: ServerSettings,
    /// What the server may still send on the connection.
    receive_window: ReceiveWindow,
    /// What may still be sent to the server on the connection.
    send_left: i32,
    /// Bodies that wait for a window, in the order of their requests.
    waiting: VecDeque<Waiting>,
    reader: Reader,
    going_away: Option<ErrorCode>,
    broken: Option<Broken>,
}

/// What of a body waits for the server to grant more.
#[derive(Debug)]
struct Waiting {
    stream: u32,
    body: Vec<u8>,
    sent: usize,
}

// Ten thousand connections hold ten thousand of them.
const _: () = assert!(size_of::<Connection>() <= 256);

impl Connection {
    /// A connection of at most `max_streams` requests at a time (1 at least, 65,536 at most).
    pub fn new(max_streams: u32) -> Self {
        Self::with_window(max_streams, WINDOW_BYTES)
    }

    /// As [`Connection::new`], with windows of `window_bytes` for each stream and for all together:
    /// how much the server may send ahead of what was read. The connection's window is never below
    /// the protocol's default of 65,535 bytes, and no window above 2^31 - 1.
    pub fn with_window(max_streams: u32, window_bytes: u32) -> Self {
        let max_streams = max_streams.clamp(1, MAX_STREAMS);
        let window_bytes = window_bytes.min(window::MAX_BYTES);
        Self {
            streams: Streams::new(max_streams),
            max_streams,
            window_bytes,
            next_id: 1,
            server: ServerSettings::default(),
            receive_window: ReceiveWindow::new(connection_window(window_bytes)),
            send_left: window::DEFAULT_BYTES as i32,
            waiting: VecDeque::new(),
            reader: Reader::default(),
            going_away: None,
            broken: None,
        }
    }

    /// Begins a new connection, forgetting the last one: writes the preface, the settings and what
    /// widens the connection's window. Requests may follow at once.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        self.streams.clear();
        self.waiting.clear();
        self.next_id = 1;
        self.server = ServerSettings::default();
        self.receive_window = ReceiveWindow::new(connection_window(self.window_bytes));
        self.send_left = window::DEFAULT_BYTES as i32;
        self.reader = Reader::default();
        self.going_away = None;
        self.broken = None;
        out.extend_from_slice(PREFACE);
        let window = (server_settings::INITIAL_WINDOW_SIZE, self.window_bytes);
        let settings = [(server_settings::HEADER_TABLE_SIZE, 0), (server_settings::ENABLE_PUSH, 0), window];
        frame::push_settings(out, &settings);
        let widened = connection_window(self.window_bytes) - window::DEFAULT_BYTES;
        if widened > 0 {
            frame::push_window_update(out, 0, widened);
        }
    }

    /// How many more requests may be opened now: by the caller's own limit, the server's, and what
    /// is left of the ids; none after GOAWAY or when the connection broke.
    pub fn capacity(&self) -> u32 {
        if self.going_away.is_some() || self.broken.is_some() {
            return 0;
        }
        let ids_left = (LAST_ID + 2).saturating_sub(self.next_id) / 2;
        let max_streams = self.max_streams.min(self.server.max_streams);
        max_streams.saturating_sub(self.streams.count()).min(ids_left)
    }

    /// How many requests the server allows at a time; `u32::MAX` if it sets no limit.
    pub fn server_streams(&self) -> u32 {
        self.server.max_streams
    }

    /// Why the connection takes no further requests, once it does not: what GOAWAY said, or no
    /// error when all ids are used. Open requests may still be answered.
    pub fn going_away(&self) -> Option<ErrorCode> {
        self.going_away.or((self.next_id > LAST_ID).then_some(ErrorCode::NO_ERROR))
    }

    /// Sends a request: its head, and of its body what the windows allow; the rest is copied, and
    /// sent when they widen. False, and nothing is sent, when there is no [`Connection::capacity`].
    #[must_use]
    pub fn request(&mut self, request: &Request<'_>, memory: &mut Memory, out: &mut Vec<u8>) -> bool {
        if self.capacity() == 0 {
            return false;
        }
        let mut stream = Stream {
            id: self.next_id,
            tag: request.tag,
            receive: ReceiveWindow::new(self.window_bytes),
            // The peer's window is at most 2^31 - 1.
            send_left: i32::try_from(self.server.window_bytes).unwrap_or(i32::MAX),
            expect: request.expect,
            observe: request.observe,
            ..VACANT
        };
        self.next_id += 2;
        self.push_head(&stream, request, out);
        self.push_body(&mut stream, request.body, memory, out);
        self.streams.insert(stream);
        true
    }

    /// Gives a request up: it has no further events. The rest of its response is skipped.
    /// False when no such request is open.
    pub fn cancel(&mut self, tag: u32, memory: &mut Memory, out: &mut Vec<u8>) -> bool {
        let Some(id) = self.streams.id_of(tag) else {
            return false;
        };
        self.abandon(id, ErrorCode::CANCEL, memory, out);
        true
    }

    /// The connection ended, on either side: reports each open request as cut, in the order in which
    /// they began, and gives buffers back.
    pub fn finish(&mut self, memory: &mut Memory, events: &mut impl FnMut(Event<'_>)) {
        for id in self.streams.ids_above(0) {
            if let Some(stream) = self.close(id, memory) {
                events(Event::Cut { tag: stream.tag, begun: stream.begun });
            }
        }
        memory.spares.put(std::mem::take(&mut self.reader.stash));
        memory.spares.put(std::mem::take(&mut self.reader.block));
        self.going_away = self.going_away.or(Some(ErrorCode::NO_ERROR));
    }

    /// Takes a stream out of the table, with the rest of its body.
    fn close(&mut self, id: u32, memory: &mut Memory) -> Option<Stream> {
        let stream = self.streams.remove(id)?;
        if !stream.sent
            && let Some(at) = self.waiting.iter().position(|waiting| waiting.stream == id)
        {
            self.drop_waiting(at, memory);
        }
        Some(stream)
    }

    /// Resets a stream and forgets it.
    fn abandon(
        &mut self,
        id: u32,
        code: ErrorCode,
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) -> Option<Stream> {
        let stream = self.close(id, memory)?;
        frame::push_reset(out, id, code);
        Some(stream)
    }
}

fn connection_window(window_bytes: u32) -> u32 {
    window_bytes.max(window::DEFAULT_BYTES)
}
