//! Sends requests: the head at once, the body as far as the windows allow, and the rest when they widen.

use super::{Connection, Request, Waiting};
use crate::h2::frame;
use crate::h2::memory::Memory;
use crate::h2::streams::Stream;

impl Connection {
    /// Writes HEADERS, and CONTINUATION if the block exceeds the server's frame size.
    pub(super) fn push_head(&mut self, stream: &Stream, request: &Request<'_>, out: &mut Vec<u8>) {
        // A shrunk table is acknowledged by a table size of 0 (RFC 7541 section 4.2).
        let prefix: &[u8] = if std::mem::take(&mut self.server.table_shrank) { &[0x20] } else { &[] };
        let limit = self.server.frame_bytes as usize;
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

    /// Writes as much of a body as the windows allow, and keeps the rest.
    pub(super) fn push_body(
        &mut self,
        stream: &mut Stream,
        body: &[u8],
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) {
        let sent = push_data(stream, body, &mut self.send_left, self.server.frame_bytes, out);
        if !stream.sent {
            let mut rest = memory.spares.take();
            rest.extend_from_slice(&body[sent..]);
            self.waiting.push_back(Waiting { stream: stream.id, body: rest, sent: 0 });
        }
    }

    /// Sends as much of the waiting bodies as the windows allow now.
    pub(super) fn push_waiting(&mut self, memory: &mut Memory, out: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(Waiting { stream, body, sent }) = self.waiting.get_mut(at)
            && self.send_left > 0
        {
            let Some(stream) = self.streams.find(*stream) else {
                self.drop_waiting(at, memory);
                continue;
            };
            *sent += push_data(stream, &body[*sent..], &mut self.send_left, self.server.frame_bytes, out);
            if stream.sent {
                self.drop_waiting(at, memory);
            } else {
                at += 1;
            }
        }
    }

    pub(super) fn drop_waiting(&mut self, at: usize, memory: &mut Memory) {
        if let Some(waiting) = self.waiting.remove(at) {
            memory.spares.put(waiting.body);
        }
    }
}

/// Writes DATA frames of at most `frame_bytes`, as far as the windows of stream and connection (`send_left`) allow; the last frame
/// ends the stream. Returns the number of body bytes written.
fn push_data(
    stream: &mut Stream,
    body: &[u8],
    send_left: &mut i32,
    frame_bytes: u32,
    out: &mut Vec<u8>,
) -> usize {
    let mut sent = 0;
    while sent < body.len() {
        let window = u32::try_from(stream.send_left.min(*send_left)).unwrap_or(0);
        let piece = &body[sent..body.len().min(sent + window.min(frame_bytes) as usize)];
        if piece.is_empty() {
            break;
        }
        sent += piece.len();
        let end = if sent == body.len() { frame::END_STREAM } else { 0 };
        frame::push_header(out, piece.len(), frame::DATA, end, stream.id);
        out.extend_from_slice(piece);
        // A piece is no longer than the windows, which are `i32`.
        let taken = piece.len() as i32;
        stream.send_left -= taken;
        *send_left -= taken;
    }
    stream.sent = sent == body.len();
    sent
}
