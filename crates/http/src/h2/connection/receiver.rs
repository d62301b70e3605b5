//! Splits the byte stream into frames, however the network cut it.
//!
//! DATA is counted as it arrives. Every other frame is read in place if it arrived whole; otherwise its pieces are joined
//! first.

use super::Connection;
use super::reader::{OpenBlock, Phase};
use crate::h2::error::Broken;
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};
use crate::h2::memory::Memory;

/// A connection that receives bytes, with the destinations of replies and events.
pub(super) struct Receiver<'a, E> {
    pub(super) connection: &'a mut Connection,
    pub(super) memory: &'a mut Memory,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) events: &'a mut E,
}

impl Connection {
    /// Reads bytes as they came from the socket, cut anywhere. Appends replies to `out` and passes events to `events` in their
    /// order.
    ///
    /// # Errors
    ///
    /// [`Broken`] when the server violated HTTP/2, and again in each call until the next [`Connection::open`]. `out` then ends
    /// with GOAWAY, and [`Connection::finish`] reports the open requests.
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
        let outcome = Receiver { connection: self, memory, out, events }.read(bytes);
        if let Err(broken) = outcome {
            self.broken = Some(broken);
            frame::push_goaway(out, broken.code());
        }
        outcome
    }
}

impl<E: FnMut(Event<'_>)> Receiver<'_, E> {
    fn read(&mut self, input: &[u8]) -> Result<(), Broken> {
        let mut rest = input;
        while self.read_on(&mut rest)? {}
        Ok(())
    }

    /// Takes one step; returns false when it needs more bytes.
    fn read_on(&mut self, rest: &mut &[u8]) -> Result<bool, Broken> {
        match self.connection.reader.phase {
            Phase::Header => {
                let Some(header) = self.connection.reader.read_header(rest) else {
                    return Ok(false);
                };
                self.connection.reader.phase = self.begin_frame(header)?;
            }
            Phase::PadLength(header) => {
                let Some((padding, after)) = rest.split_first() else {
                    return Ok(false);
                };
                *rest = after;
                self.connection.reader.phase = Phase::Data(self.begin_body(header, Some(*padding))?);
            }
            Phase::Data(mut data) => {
                self.read_data(&mut data, rest);
                if data.body_left > 0 || data.padding_left > 0 {
                    self.connection.reader.phase = Phase::Data(data);
                    return Ok(false);
                }
                self.connection.reader.phase = Phase::Header;
                self.end_data(data);
            }
            Phase::Payload(header) => return self.read_payload(header, rest),
            Phase::Skip { left } => {
                let skipped = rest.len().min(left as usize);
                *rest = &rest[skipped..];
                let left = left - skipped as u32;
                self.connection.reader.phase = if left == 0 { Phase::Header } else { Phase::Skip { left } };
                return Ok(left == 0);
            }
        }
        Ok(true)
    }

    fn begin_frame(&mut self, header: FrameHeader) -> Result<Phase, Broken> {
        if !self.connection.server.known && (header.kind != frame::SETTINGS || header.has(frame::ACK)) {
            return Err(Broken::Preface);
        }
        if header.len > frame::MAX_PAYLOAD_BYTES {
            return Err(Broken::FrameSize);
        }
        let continues = |open: OpenBlock| header.kind == frame::CONTINUATION && header.stream == open.stream;
        let open = self.connection.reader.open_block;
        if !open.map_or(header.kind != frame::CONTINUATION, continues) {
            return Err(Broken::Continuation);
        }
        match header.kind {
            frame::DATA => {
                self.connection.begin_data(header)?;
                if header.has(frame::PADDED) {
                    return Ok(Phase::PadLength(header));
                }
                Ok(Phase::Data(self.begin_body(header, None)?))
            }
            frame::HEADERS..=frame::CONTINUATION => {
                self.connection.begin_payload(header)?;
                Ok(Phase::Payload(header))
            }
            _ => {
                self.connection.reader.count_idle()?;
                Ok(Phase::Skip { left: header.len })
            }
        }
    }

    /// Reads a payload in place, or joins its pieces first. Returns false when it needs more bytes.
    fn read_payload(&mut self, header: FrameHeader, rest: &mut &[u8]) -> Result<bool, Broken> {
        let reader = &mut self.connection.reader;
        let missing = header.len as usize - reader.stash.len();
        let (taken, after) = rest.split_at(rest.len().min(missing));
        *rest = after;
        if taken.len() == missing && reader.stash.is_empty() {
            reader.phase = Phase::Header;
            self.read_frame(header, taken)?;
            return Ok(true);
        }
        if reader.stash.capacity() == 0 {
            reader.stash = self.memory.spares.take();
        }
        reader.stash.extend_from_slice(taken);
        if taken.len() < missing {
            return Ok(false);
        }
        reader.phase = Phase::Header;
        let payload = std::mem::take(&mut reader.stash);
        let outcome = self.read_frame(header, &payload);
        self.memory.spares.put(payload);
        outcome.map(|()| true)
    }
}
