//! An HTTP/2 connection: takes requests and received bytes, returns bytes to send and events.

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
/// Default size in bytes of the windows of streams and connection: a gigabyte, so that bodies of ordinary size need no window
/// update.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// Maximum number of concurrent streams on one connection.
const MAX_STREAMS: u32 = 1 << 16;
/// The highest stream id that a client may use.
const LAST_ID: u32 = 0x7fff_ffff;

/// A request to open a stream with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The caller's number for the request, repeated in its events.
    pub tag: u32,
    /// The header block, see [`crate::Request::encode`].
    pub block: &'a [u8],
    /// The body; empty for none.
    pub body: &'a [u8],
    /// Whether the response may have a body.
    pub expect: Expect,
    /// True if the fields and the body of the response are reported as events.
    pub observe: bool,
}

/// The client's side of one HTTP/2 connection.
///
/// An open connection takes some 200 bytes, and 128 for every stream that it may open, whose number is rounded up to a power
/// of two; buffers come from the [`Memory`] of its worker and are returned to it.
#[derive(Debug)]
pub struct Connection {
    streams: Streams,
    max_streams: u32,
    window_bytes: u32,
    next_id: u32,
    server: ServerSettings,
    /// The window for bytes from the server on the connection.
    receive_window: ReceiveWindow,
    /// Number of bytes that may still be sent on the connection.
    send_left: i32,
    /// Bodies that wait for a send window, in the order of their requests.
    waiting: VecDeque<Waiting>,
    reader: Reader,
    going_away: Option<ErrorCode>,
    broken: Option<Broken>,
}

/// A body of which a part waits for a send window.
#[derive(Debug)]
struct Waiting {
    stream: u32,
    body: Vec<u8>,
    sent: usize,
}

// A load of ten thousand connections holds this structure ten thousand times.
const _: () = assert!(size_of::<Connection>() <= 256);

impl Connection {
    /// Creates a connection with at most `max_streams` concurrent requests, clamped to 1 to 65,536.
    pub fn new(max_streams: u32) -> Self {
        Self::with_window(max_streams, WINDOW_BYTES)
    }

    /// Like [`Connection::new`], with a receive window of `window_bytes` for each stream and for the connection: the server may
    /// send that much before it is read. The connection's window is at least the protocol's default of 65,535 bytes, and no
    /// window is above 2^31 - 1.
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

    /// Begins a new connection and forgets the last one: writes the preface, the settings and the update that widens the
    /// connection's window. Requests may follow at once.
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

    /// Number of further requests that may be opened now, limited by the caller, the server and the remaining ids; 0 after GOAWAY
    /// or when the connection failed.
    pub fn capacity(&self) -> u32 {
        if self.going_away.is_some() || self.broken.is_some() {
            return 0;
        }
        let ids_left = (LAST_ID + 2).saturating_sub(self.next_id) / 2;
        let max_streams = self.max_streams.min(self.server.max_streams);
        max_streams.saturating_sub(self.streams.count()).min(ids_left)
    }

    /// The server's limit on concurrent requests; `u32::MAX` if it sets none.
    pub fn server_streams(&self) -> u32 {
        self.server.max_streams
    }

    /// Why the connection takes no further requests: the code of GOAWAY, or `NO_ERROR` if all ids are used or the connection
    /// ended; `None` while it takes requests. Open requests may still be answered.
    pub fn going_away(&self) -> Option<ErrorCode> {
        self.going_away.or((self.next_id > LAST_ID).then_some(ErrorCode::NO_ERROR))
    }

    /// Sends a request: its head, and as much of its body as the windows allow. The rest of the body is copied, and sent when the
    /// windows widen. Returns false and sends nothing if there is no [`Connection::capacity`].
    #[must_use]
    pub fn request(&mut self, request: &Request<'_>, memory: &mut Memory, out: &mut Vec<u8>) -> bool {
        if self.capacity() == 0 {
            return false;
        }
        let mut stream = Stream {
            id: self.next_id,
            tag: request.tag,
            receive: ReceiveWindow::new(self.window_bytes),
            // The server's window is at most 2^31 - 1.
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

    /// Cancels a request: it has no further events, and the rest of its response is skipped. Returns false if no such request
    /// is open.
    pub fn cancel(&mut self, tag: u32, memory: &mut Memory, out: &mut Vec<u8>) -> bool {
        let Some(id) = self.streams.id_of(tag) else {
            return false;
        };
        self.abandon(id, ErrorCode::CANCEL, memory, out);
        true
    }

    /// The connection ended, on either side: reports each open request as cut, in the order of their beginning, and returns the
    /// buffers.
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

    /// Removes a stream from the table, and the unsent rest of its body.
    fn close(&mut self, id: u32, memory: &mut Memory) -> Option<Stream> {
        let stream = self.streams.remove(id)?;
        if !stream.sent
            && let Some(at) = self.waiting.iter().position(|waiting| waiting.stream == id)
        {
            self.drop_waiting(at, memory);
        }
        Some(stream)
    }

    /// Resets a stream and removes it.
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
