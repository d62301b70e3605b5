//! One connection as its owner sees it: requests out, bytes in, events out.

use std::collections::VecDeque;

use super::error::{Broken, ErrorCode};
use super::event::Event;
use super::frame;
use super::memory::Memory;
use super::peer::{self, Peer};
use super::streams::{Stream, Streams};
use super::upload::{self, Allowance, Waiting};
use super::window::{self, ReceiveWindow};
use crate::Expect;
use reader::{Reader, Sink};

mod body;
mod control;
mod frames;
mod head;
mod reader;
#[cfg(test)]
mod tests;

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
    streams_max: u32,
    window_bytes: u32,
    next_id: u32,
    peer: Peer,
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

// Ten thousand connections hold ten thousand of them.
const _: () = assert!(size_of::<Connection>() <= 256);

impl Connection {
    /// A connection of at most `streams_max` requests at a time (1 at least, 65,536 at most).
    #[must_use]
    pub fn new(streams_max: u32) -> Self {
        Self::with_window(streams_max, WINDOW_BYTES)
    }

    /// As [`Connection::new`], with windows of `window_bytes` for each stream and for all together:
    /// how much the server may send ahead of what was read. The connection's window is never below
    /// the protocol's default of 65,535 bytes, and no window above 2^31 - 1.
    #[must_use]
    pub fn with_window(streams_max: u32, window_bytes: u32) -> Self {
        let streams_max = streams_max.clamp(1, MAX_STREAMS);
        let window_bytes = window_bytes.min(window::MAX_BYTES);
        Self {
            streams: Streams::new(streams_max),
            streams_max,
            window_bytes,
            next_id: 1,
            peer: Peer::new(),
            receive_window: ReceiveWindow::new(connection_window(window_bytes)),
            send_left: window::DEFAULT_BYTES as i32,
            waiting: VecDeque::new(),
            reader: Reader::new(),
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
        self.peer = Peer::new();
        self.receive_window = ReceiveWindow::new(connection_window(self.window_bytes));
        self.send_left = window::DEFAULT_BYTES as i32;
        self.reader = Reader::new();
        self.going_away = None;
        self.broken = None;
        out.extend_from_slice(PREFACE);
        let window = (peer::INITIAL_WINDOW_SIZE, self.window_bytes);
        frame::push_settings(out, &[(peer::HEADER_TABLE_SIZE, 0), (peer::ENABLE_PUSH, 0), window]);
        let widened = connection_window(self.window_bytes) - window::DEFAULT_BYTES;
        if widened > 0 {
            frame::push_window_update(out, 0, widened);
        }
    }

    /// How many more requests may be opened now: by the caller's own limit, the server's, and what
    /// is left of the ids; none after GOAWAY or when the connection broke.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        if self.going_away.is_some() || self.broken.is_some() {
            return 0;
        }
        let ids_left = (LAST_ID + 2).saturating_sub(self.next_id) / 2;
        let streams_max = self.streams_max.min(self.peer.streams_max);
        streams_max.saturating_sub(self.streams.count()).min(ids_left)
    }

    /// Why the connection takes no further requests, once it does not: what GOAWAY said, or no
    /// error when all ids are used. Open requests may still be answered.
    #[must_use]
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
            receive: ReceiveWindow::new(self.window_bytes),
            // The peer's window is at most 2^31 - 1.
            send_left: i32::try_from(self.peer.window_bytes).unwrap_or(i32::MAX),
            expect: request.expect,
            observe: request.observe,
            ..Streams::opened(self.next_id, request.tag)
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

    /// Takes bytes as they came from the socket, cut anywhere. Appends what must be sent to `out` and
    /// passes events to `events` in their order.
    ///
    /// # Errors
    ///
    /// [`Broken`] when the server broke HTTP/2, and again in each call until the next
    /// [`Connection::open`]; GOAWAY then stands in `out`, and [`Connection::finish`] names the open
    /// requests.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        memory: &mut Memory,
        out: &mut Vec<u8>,
        events: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let outcome = self.read(bytes, &mut Sink { memory, out, events });
        if let Err(broken) = outcome {
            self.broken = Some(broken);
            frame::push_goaway(out, broken.code());
        }
        outcome
    }

    /// The connection ended, on either side: reports each open request as cut, in the order in which
    /// they began, and gives buffers back.
    pub fn finish(&mut self, memory: &mut Memory, events: &mut impl FnMut(Event<'_>)) {
        for id in self.streams.ids_above(0) {
            if let Some(stream) = self.close(id, memory) {
                events(Event::Cut { tag: stream.tag, begun: stream.begun });
            }
        }
        self.reader.return_buffers(memory);
        self.going_away = self.going_away.or(Some(ErrorCode::NO_ERROR));
    }

    /// Writes HEADERS, and CONTINUATION for what is beyond the server's longest frame.
    fn push_head(&mut self, stream: &Stream, request: &Request<'_>, out: &mut Vec<u8>) {
        // The one answer to a shrunk table is a table of size 0 (RFC 7541 section 4.2).
        let prefix: &[u8] = if std::mem::take(&mut self.peer.table_shrank) { &[0x20] } else { &[] };
        let limit = self.peer.frame_bytes as usize;
        let (first, mut rest) = request.block.split_at(request.block.len().min(limit - prefix.len()));
        let end_stream = if request.body.is_empty() { frame::END_STREAM } else { 0 };
        let end = |rest: &[u8]| if rest.is_empty() { frame::END_HEADERS } else { 0 };
        let len = prefix.len() + first.len();
        frame::push_header(out, len, frame::HEADERS, end_stream | end(rest), stream.id);
        out.extend_from_slice(prefix);
        out.extend_from_slice(first);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(limit));
            rest = after;
            frame::push_header(out, piece.len(), frame::CONTINUATION, end(rest), stream.id);
            out.extend_from_slice(piece);
        }
    }

    fn push_body(&mut self, stream: &mut Stream, body: &[u8], memory: &mut Memory, out: &mut Vec<u8>) {
        let frame_bytes = self.peer.frame_bytes;
        let mut allowance = Allowance { send_left: &mut self.send_left, frame_bytes };
        let sent = upload::push_body(stream, body, &mut allowance, out);
        if !stream.sent {
            let mut rest = memory.take_buffer();
            rest.extend_from_slice(&body[sent..]);
            self.waiting.push_back(Waiting { stream: stream.id, body: rest, sent: 0 });
        }
    }

    /// Sends of the waiting bodies what the windows allow by now.
    fn push_waiting(&mut self, memory: &mut Memory, out: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(waiting) = self.waiting.get_mut(at)
            && self.send_left > 0
        {
            let frame_bytes = self.peer.frame_bytes;
            let mut allowance = Allowance { send_left: &mut self.send_left, frame_bytes };
            let Some(stream) = self.streams.find(waiting.stream) else {
                self.drop_waiting(at, memory);
                continue;
            };
            waiting.sent += upload::push_body(stream, &waiting.body[waiting.sent..], &mut allowance, out);
            if stream.sent {
                self.drop_waiting(at, memory);
            } else {
                at += 1;
            }
        }
    }

    fn drop_waiting(&mut self, at: usize, memory: &mut Memory) {
        if let Some(waiting) = self.waiting.remove(at) {
            memory.return_buffer(waiting.body);
        }
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
