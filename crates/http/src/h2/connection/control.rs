//! The frames other than DATA: where each may stand, how long it may be, what it changes.

use super::Connection;
use super::reader::Sink;
use crate::h2::error::{Broken, ErrorCode};
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::window;

impl Connection {
    /// A stream that a request opened, now or before: other streams are the server's own, which
    /// push alone would open, or not open yet.
    pub(super) const fn check_opened(&self, stream: u32) -> Result<(), Broken> {
        if stream % 2 == 1 && stream < self.next_id { Ok(()) } else { Err(Broken::Stream) }
    }

    /// A frame other than DATA begins: may it be there, and of this length?
    pub(super) fn begin_payload(&mut self, header: FrameHeader) -> Result<(), Broken> {
        match header.kind {
            frame::HEADERS | frame::RST_STREAM | frame::CONTINUATION => self.check_opened(header.stream)?,
            frame::WINDOW_UPDATE if header.stream != 0 => self.check_opened(header.stream)?,
            frame::PRIORITY if header.stream == 0 => return Err(Broken::Stream),
            frame::SETTINGS | frame::PING | frame::GOAWAY if header.stream != 0 => {
                return Err(Broken::Stream);
            }
            frame::PUSH_PROMISE => return Err(Broken::Push),
            _ => {}
        }
        let fits = match header.kind {
            frame::PRIORITY => header.len == 5,
            frame::RST_STREAM | frame::WINDOW_UPDATE => header.len == 4,
            frame::PING => header.len == 8,
            frame::GOAWAY => header.len >= 8,
            frame::SETTINGS if header.has(frame::ACK) => header.len == 0,
            frame::SETTINGS => header.len.is_multiple_of(6),
            _ => true,
        };
        if !fits {
            return Err(Broken::FrameSize);
        }
        if header.kind == frame::HEADERS
            && let Some(stream) = self.streams.find(header.stream)
        {
            stream.begun = true;
        }
        Ok(())
    }

    /// A frame is complete.
    pub(super) fn read_frame<E: FnMut(Event<'_>)>(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        match header.kind {
            frame::HEADERS => self.read_headers(header, payload, sink),
            frame::CONTINUATION => self.read_continuation(header, payload, sink),
            frame::WINDOW_UPDATE => self.read_window_update(header.stream, payload, sink),
            frame::RST_STREAM => self.read_reset(header.stream, payload, sink),
            frame::SETTINGS if !header.has(frame::ACK) => self.read_settings(payload, sink),
            frame::PING if !header.has(frame::ACK) => {
                frame::push_ping_ack(sink.out, payload);
                self.reader.count_idle()
            }
            frame::GOAWAY => self.read_goaway(payload, sink),
            // PRIORITY and acknowledgements.
            _ => self.reader.count_idle(),
        }
    }

    fn read_window_update<E: FnMut(Event<'_>)>(
        &mut self,
        id: u32,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let increment = frame::first_u32(payload) & window::MAX_BYTES;
        if increment == 0 {
            return Err(Broken::FlowControl);
        }
        if id == 0 {
            window::widen(&mut self.send_left, increment)?;
        } else if let Some(stream) = self.streams.find(id) {
            window::widen(&mut stream.send_left, increment)?;
        }
        self.push_waiting(sink.memory, sink.out);
        Ok(())
    }

    fn read_settings<E: FnMut(Event<'_>)>(
        &mut self,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let before = self.peer.window_bytes;
        self.peer.apply(payload)?;
        let after = self.peer.window_bytes;
        if before != after {
            for stream in self.streams.iter_mut() {
                window::shift(&mut stream.send_left, before, after)?;
            }
        }
        frame::push_settings_ack(sink.out);
        self.push_waiting(sink.memory, sink.out);
        self.reader.count_idle()
    }

    /// REFUSED_STREAM says that the server did not process the request. It counts as that only if
    /// nothing of a response came before.
    fn read_reset<E: FnMut(Event<'_>)>(
        &mut self,
        id: u32,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let Some(stream) = self.close(id, sink.memory) else {
            return self.reader.count_idle();
        };
        let code = ErrorCode(frame::first_u32(payload));
        let tag = stream.tag;
        (sink.events)(if code == ErrorCode::REFUSED_STREAM && !stream.begun {
            Event::Refused { tag }
        } else {
            Event::Reset { tag, code }
        });
        Ok(())
    }

    /// Streams above the last one that the server names were not processed (RFC 9113 section 6.8).
    fn read_goaway<E: FnMut(Event<'_>)>(
        &mut self,
        payload: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let last = frame::first_u32(payload) & window::MAX_BYTES;
        self.going_away = Some(ErrorCode(frame::first_u32(&payload[4..])));
        for id in self.streams.ids_above(last) {
            if let Some(stream) = self.close(id, sink.memory) {
                (sink.events)(Event::Refused { tag: stream.tag });
            }
        }
        self.reader.count_idle()
    }
}
