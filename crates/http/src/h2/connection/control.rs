//! All frames except DATA: on which streams each is allowed, its valid lengths, its effects.

use super::Connection;
use super::receiver::Receiver;
use crate::h2::error::{Broken, ErrorCode};
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::window;

impl Connection {
    /// Checks that a request opened this stream, now or earlier. Other streams are the server's own, which only push would open,
    /// or not open yet.
    pub(super) const fn check_opened(&self, stream: u32) -> Result<(), Broken> {
        if stream % 2 == 1 && stream < self.next_id { Ok(()) } else { Err(Broken::Stream) }
    }

    /// Checks the stream and the length of a frame other than DATA at its beginning.
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
}

impl<E: FnMut(Event<'_>)> Receiver<'_, E> {
    pub(super) fn read_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Broken> {
        match header.kind {
            frame::HEADERS => self.read_headers(header, payload),
            frame::CONTINUATION => self.read_continuation(header, payload),
            frame::WINDOW_UPDATE => self.read_window_update(header.stream, payload),
            frame::RST_STREAM => self.read_reset(header.stream, payload),
            frame::SETTINGS if !header.has(frame::ACK) => self.read_settings(payload),
            frame::PING if !header.has(frame::ACK) => {
                frame::push_header(self.out, payload.len(), frame::PING, frame::ACK, 0);
                self.out.extend_from_slice(payload);
                self.connection.reader.count_idle()
            }
            frame::GOAWAY => self.read_goaway(payload),
            // PRIORITY and acknowledgements.
            _ => self.connection.reader.count_idle(),
        }
    }

    fn read_window_update(&mut self, id: u32, payload: &[u8]) -> Result<(), Broken> {
        let increment = frame::first_u32(payload) & window::MAX_BYTES;
        if increment == 0 {
            return Err(Broken::Increment);
        }
        if id == 0 {
            window::widen(&mut self.connection.send_left, increment)?;
        } else if let Some(stream) = self.connection.streams.find(id) {
            window::widen(&mut stream.send_left, increment)?;
        }
        self.connection.push_waiting(self.memory, self.out);
        Ok(())
    }

    fn read_settings(&mut self, payload: &[u8]) -> Result<(), Broken> {
        let before = self.connection.server.window_bytes;
        self.connection.server.apply(payload)?;
        let after = self.connection.server.window_bytes;
        if before != after {
            for stream in self.connection.streams.iter_mut() {
                window::shift(&mut stream.send_left, before, after)?;
            }
        }
        frame::push_header(self.out, 0, frame::SETTINGS, frame::ACK, 0);
        self.connection.push_waiting(self.memory, self.out);
        self.connection.reader.count_idle()
    }

    /// Handles RST_STREAM. REFUSED_STREAM means that the server did not process the request; it counts as a refusal only if
    /// no part of a response came before.
    fn read_reset(&mut self, id: u32, payload: &[u8]) -> Result<(), Broken> {
        let Some(stream) = self.connection.close(id, self.memory) else {
            return self.connection.reader.count_idle();
        };
        let code = ErrorCode(frame::first_u32(payload));
        let tag = stream.tag;
        (self.events)(if code == ErrorCode::REFUSED_STREAM && !stream.begun {
            Event::Refused { tag }
        } else {
            Event::Reset { tag, code }
        });
        Ok(())
    }

    /// Handles GOAWAY: the server did not process the streams above the last one that it names (RFC 9113 section 6.8).
    fn read_goaway(&mut self, payload: &[u8]) -> Result<(), Broken> {
        let last = frame::first_u32(payload) & window::MAX_BYTES;
        self.connection.going_away = Some(ErrorCode(frame::first_u32(&payload[4..])));
        for id in self.connection.streams.ids_above(last) {
            if let Some(stream) = self.connection.close(id, self.memory) {
                (self.events)(Event::Refused { tag: stream.tag });
            }
        }
        self.connection.reader.count_idle()
    }
}
