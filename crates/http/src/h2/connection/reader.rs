//! Takes the stream of bytes apart into frames, however it was cut.
//!
//! DATA is counted as it passes; every other frame is read where it lies when it arrived whole, and
//! gathered first when it did not.

use super::Connection;
use super::body::DataFrame;
use crate::h2::broken::Broken;
use crate::h2::event::Event;
use crate::h2::frame::{self, FrameHeader, HEADER_BYTES};
use crate::h2::memory::Memory;

/// Frames in a row that carry nothing: empty DATA, PING, SETTINGS, unknown types and the like.
const IDLE_FRAMES_LIMIT: u16 = 10_000;

/// Where the outcomes of reading go.
#[derive(Debug)]
pub(super) struct Sink<'a, E> {
    pub(super) memory: &'a mut Memory,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) events: &'a mut E,
}

/// How far the current frame is read.
#[derive(Debug)]
pub(super) struct Reader {
    phase: Phase,
    header: [u8; HEADER_BYTES],
    header_len: u8,
    /// The header block that CONTINUATION goes on with.
    pub(super) open_block: Option<OpenBlock>,
    /// The bytes of that block so far.
    pub(super) block: Vec<u8>,
    /// The current frame's payload so far, unless it arrived whole.
    stash: Vec<u8>,
    idle_frames: u16,
}

/// A header block whose end has not come.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Header,
    /// The byte of a DATA frame that says how long its padding is.
    PadLength(FrameHeader),
    Data(DataFrame),
    /// Any other frame that means something.
    Payload(FrameHeader),
    /// A frame that means nothing here.
    Skip {
        left: u32,
    },
}

impl Reader {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Header,
            header: [0; HEADER_BYTES],
            header_len: 0,
            open_block: None,
            block: Vec::new(),
            stash: Vec::new(),
            idle_frames: 0,
        }
    }

    pub(super) fn return_buffers(&mut self, memory: &mut Memory) {
        memory.return_buffer(std::mem::take(&mut self.stash));
        memory.return_buffer(std::mem::take(&mut self.block));
    }

    /// A frame came that brings no response further.
    pub(super) fn count_idle(&mut self) -> Result<(), Broken> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_LIMIT { Err(Broken::Flood) } else { Ok(()) }
    }

    /// A frame came that brings a response further.
    pub(super) const fn count_progress(&mut self) {
        self.idle_frames = 0;
    }

    /// Takes bytes for the header of the next frame.
    fn read_header(&mut self, input: &mut &[u8]) -> Option<FrameHeader> {
        if self.header_len == 0
            && let Some((header, rest)) = input.split_first_chunk::<HEADER_BYTES>()
        {
            *input = rest;
            return Some(FrameHeader::parse(header));
        }
        let have = usize::from(self.header_len);
        let (taken, rest) = input.split_at(input.len().min(HEADER_BYTES - have));
        *input = rest;
        self.header[have..have + taken.len()].copy_from_slice(taken);
        self.header_len += taken.len() as u8;
        if usize::from(self.header_len) < HEADER_BYTES {
            return None;
        }
        self.header_len = 0;
        Some(FrameHeader::parse(&self.header))
    }
}

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
        if header.len > frame::PAYLOAD_LIMIT_BYTES {
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
