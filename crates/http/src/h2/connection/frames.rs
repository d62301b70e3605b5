//! Takes the stream of bytes apart into frames, however it was cut.
//!
//! DATA is counted as it passes. Every other frame is read in place if it arrived whole, and gathered
//! first if it did not.

use super::Connection;
use super::reader::{OpenBlock, Phase, Sink};
use crate::h2::error::Broken;
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader};

impl Connection {
    pub(super) fn read<E: FnMut(Event<'_>)>(
        &mut self,
        input: &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<(), Broken> {
        let mut rest = input;
        while self.read_on(&mut rest, sink)? {}
        Ok(())
    }

    /// Takes one step; false when it needs bytes that have not come.
    fn read_on<E: FnMut(Event<'_>)>(
        &mut self,
        rest: &mut &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<bool, Broken> {
        match self.reader.phase {
            Phase::Header => {
                let Some(header) = self.reader.read_header(rest) else {
                    return Ok(false);
                };
                self.reader.phase = self.begin_frame(header, sink)?;
            }
            Phase::PadLength(header) => {
                let Some((padding, after)) = rest.split_first() else {
                    return Ok(false);
                };
                *rest = after;
                self.reader.phase = Phase::Data(self.begin_body(header, Some(*padding), sink)?);
            }
            Phase::Data(mut data) => {
                self.read_data(&mut data, rest, sink);
                if !data.is_read() {
                    self.reader.phase = Phase::Data(data);
                    return Ok(false);
                }
                self.reader.phase = Phase::Header;
                self.end_data(data, sink);
            }
            Phase::Payload(header) => return self.read_payload(header, rest, sink),
            Phase::Skip { left } => {
                let skipped = rest.len().min(left as usize);
                *rest = &rest[skipped..];
                let left = left - skipped as u32;
                self.reader.phase = if left == 0 { Phase::Header } else { Phase::Skip { left } };
                return Ok(left == 0);
            }
        }
        Ok(true)
    }

    /// A frame's header is complete.
    fn begin_frame<E: FnMut(Event<'_>)>(
        &mut self,
        header: FrameHeader,
        sink: &mut Sink<'_, E>,
    ) -> Result<Phase, Broken> {
        if !self.peer.known && (header.kind != frame::SETTINGS || header.has(frame::ACK)) {
            return Err(Broken::Preface);
        }
        if header.len > frame::MAX_PAYLOAD_BYTES {
            return Err(Broken::FrameSize);
        }
        let continues = |open: OpenBlock| header.kind == frame::CONTINUATION && header.stream == open.stream;
        if !self.reader.open_block.map_or(header.kind != frame::CONTINUATION, continues) {
            return Err(Broken::Continuation);
        }
        match header.kind {
            frame::DATA => {
                self.begin_data(header)?;
                if header.has(frame::PADDED) {
                    return Ok(Phase::PadLength(header));
                }
                Ok(Phase::Data(self.begin_body(header, None, sink)?))
            }
            frame::HEADERS..=frame::CONTINUATION => {
                self.begin_payload(header)?;
                Ok(Phase::Payload(header))
            }
            _ => {
                self.reader.count_idle()?;
                Ok(Phase::Skip { left: header.len })
            }
        }
    }

    /// Reads a payload where it lies, or gathers its pieces first.
    fn read_payload<E: FnMut(Event<'_>)>(
        &mut self,
        header: FrameHeader,
        rest: &mut &[u8],
        sink: &mut Sink<'_, E>,
    ) -> Result<bool, Broken> {
        let missing = header.len as usize - self.reader.stash.len();
        let (taken, after) = rest.split_at(rest.len().min(missing));
        *rest = after;
        if taken.len() == missing && self.reader.stash.is_empty() {
            self.reader.phase = Phase::Header;
            self.read_frame(header, taken, sink)?;
            return Ok(true);
        }
        if self.reader.stash.capacity() == 0 {
            self.reader.stash = sink.memory.take_buffer();
        }
        self.reader.stash.extend_from_slice(taken);
        if taken.len() < missing {
            return Ok(false);
        }
        self.reader.phase = Phase::Header;
        let payload = std::mem::take(&mut self.reader.stash);
        let outcome = self.read_frame(header, &payload, sink);
        sink.memory.return_buffer(payload);
        outcome.map(|()| true)
    }
}
