//! The read state of a connection: the current frame, and the open header block.

use crate::h2::error::Broken;
use crate::h2::frame::{FrameHeader, HEADER_BYTES};

/// Maximum number of frames in a row without content: empty DATA, PING, SETTINGS, unknown types and the like.
const MAX_IDLE_FRAMES: u16 = 10_000;

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) phase: Phase,
    header: [u8; HEADER_BYTES],
    header_len: u8,
    /// The header block that CONTINUATION continues.
    pub(super) open_block: Option<OpenBlock>,
    /// The bytes received of that block.
    pub(super) block: Vec<u8>,
    /// The bytes received of the current frame's payload, unless it arrived whole.
    pub(super) stash: Vec<u8>,
    idle_frames: u16,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DataFrame {
    pub(super) stream: u32,
    pub(super) body_left: u32,
    pub(super) padding_left: u32,
    /// Length of the payload including its padding, as flow control counts it.
    pub(super) len: u32,
    pub(super) end_stream: bool,
    pub(super) observe: bool,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) enum Phase {
    #[default]
    Header,
    /// A DATA frame whose padding length is the next byte.
    PadLength(FrameHeader),
    Data(DataFrame),
    /// Any other frame of a known type.
    Payload(FrameHeader),
    /// A frame of an unknown type.
    Skip {
        left: u32,
    },
}

impl Reader {
    /// Counts a frame that contributes nothing to a response.
    pub(super) fn count_idle(&mut self) -> Result<(), Broken> {
        self.idle_frames += 1;
        if self.idle_frames > MAX_IDLE_FRAMES { Err(Broken::Flood) } else { Ok(()) }
    }

    /// Resets the count after a frame that contributes to a response.
    pub(super) const fn count_progress(&mut self) {
        self.idle_frames = 0;
    }

    pub(super) fn read_header(&mut self, input: &mut &[u8]) -> Option<FrameHeader> {
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
