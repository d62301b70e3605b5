//! DATA frames (RFC 9113 section 6.1): flow control, the body's length, and the response's end.

use super::Connection;
use super::reader::DataFrame;
use super::receiver::Receiver;
use crate::Response;
use crate::h2::error::{Broken, ErrorCode, Malformed};
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::streams::Stream;

impl Connection {
    /// Charges the windows before the payload arrives, so that the result does not depend on how frames are split.
    pub(super) fn begin_data(&mut self, header: FrameHeader) -> Result<(), Broken> {
        self.check_opened(header.stream)?;
        if header.has(frame::PADDED) && header.len == 0 {
            return Err(Broken::FrameSize);
        }
        self.receive_window.charge(header.len)?;
        if let Some(stream) = self.streams.find(header.stream) {
            stream.begun = true;
            stream.receive.charge(header.len)?;
        }
        Ok(())
    }

    fn response(&self, stream: &Stream) -> Response {
        let keep_alive = self.going_away().is_none();
        Response { status: stream.status, keep_alive, body_bytes: stream.body_bytes }
    }
}

impl<E: FnMut(Event<'_>)> Receiver<'_, E> {
    /// Begins the body of a DATA frame once its length is known. `padding` is the frame's padding length, if it has one.
    pub(super) fn begin_body(
        &mut self,
        header: FrameHeader,
        padding: Option<u8>,
    ) -> Result<DataFrame, Broken> {
        let padding_left = padding.map_or(0, u32::from);
        let padding_bytes = padding_left + u32::from(padding.is_some());
        let body_left = header.len.checked_sub(padding_bytes).ok_or(Broken::Padding)?;
        let end_stream = header.has(frame::END_STREAM);
        if body_left == 0 && !end_stream {
            self.connection.reader.count_idle()?;
        } else {
            self.connection.reader.count_progress();
        }
        let observe = self.count_body(header.stream, body_left);
        Ok(DataFrame { stream: header.stream, body_left, padding_left, len: header.len, end_stream, observe })
    }

    fn count_body(&mut self, id: u32, bytes: u32) -> bool {
        let Some(stream) = self.connection.streams.find(id) else {
            return false;
        };
        stream.body_bytes += u64::from(bytes);
        let malformed = if stream.status == 0 {
            Malformed::Order
        } else if stream.declared.is_some_and(|declared| stream.body_bytes > declared) {
            Malformed::Length
        } else {
            return stream.observe;
        };
        self.refuse(id, malformed);
        false
    }

    /// Reads the available bytes of a frame.
    pub(super) fn read_data(&mut self, data: &mut DataFrame, rest: &mut &[u8]) {
        let (body, after) = rest.split_at(rest.len().min(data.body_left as usize));
        let padding = after.len().min(data.padding_left as usize);
        *rest = &after[padding..];
        // Both are at most the remaining lengths, which are `u32`.
        data.body_left -= body.len() as u32;
        data.padding_left -= padding as u32;
        if data.observe
            && !body.is_empty()
            && let Some(stream) = self.connection.streams.find(data.stream)
        {
            (self.events)(Event::Body { tag: stream.tag, bytes: body });
        }
    }

    /// Ends a frame: grants its bytes again, and completes its stream if it is the last frame.
    pub(super) fn end_data(&mut self, data: DataFrame) {
        let size = super::connection_window(self.connection.window_bytes);
        if let Some(increment) = self.connection.receive_window.release(data.len, size) {
            frame::push_window_update(self.out, 0, increment);
        }
        if data.end_stream {
            self.complete(data.stream);
        } else if let Some(stream) = self.connection.streams.find(data.stream)
            && let Some(increment) = stream.receive.release(data.len, self.connection.window_bytes)
        {
            frame::push_window_update(self.out, data.stream, increment);
        }
    }

    /// Handles the server's end of a stream.
    pub(super) fn complete(&mut self, id: u32) {
        let Some(stream) = self.connection.close(id, self.memory) else {
            return;
        };
        let fits = stream.declared.is_none_or(|declared| declared == stream.body_bytes);
        // If the response ends before the request is fully sent, the stream has to be reset on this side too (RFC 9113
        // section 8.1).
        if !stream.sent || !fits {
            let code = if fits { ErrorCode::CANCEL } else { ErrorCode::PROTOCOL_ERROR };
            frame::push_reset(self.out, id, code);
        }
        (self.events)(if fits {
            Event::Answered { tag: stream.tag, response: self.connection.response(&stream) }
        } else {
            Event::Malformed { tag: stream.tag, malformed: Malformed::Length }
        });
    }

    /// Resets a stream whose response is malformed (RFC 9113 section 8.1.1).
    pub(super) fn refuse(&mut self, id: u32, malformed: Malformed) {
        if let Some(stream) = self.connection.abandon(id, ErrorCode::PROTOCOL_ERROR, self.memory, self.out) {
            (self.events)(Event::Malformed { tag: stream.tag, malformed });
        }
    }
}
