//! Frames of HTTP/2 as a server reads and writes them (RFC 9113, section 4.1).

use super::peer::Spoken;
use plimsoll_testkit::Random;

/// Types of frames.
pub(super) mod kind {
    pub(in super::super) const DATA: u8 = 0;
    pub(in super::super) const HEADERS: u8 = 1;
    pub(in super::super) const RST_STREAM: u8 = 3;
    pub(in super::super) const SETTINGS: u8 = 4;
    pub(in super::super) const PUSH_PROMISE: u8 = 5;
    pub(in super::super) const PING: u8 = 6;
    pub(in super::super) const GOAWAY: u8 = 7;
    pub(in super::super) const WINDOW_UPDATE: u8 = 8;
    pub(in super::super) const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(super) mod flag {
    pub(in super::super) const ACK: u8 = 1;
    pub(in super::super) const END_STREAM: u8 = 1;
    pub(in super::super) const END_HEADERS: u8 = 4;
    pub(in super::super) const PADDED: u8 = 8;
}

const HEAD_BYTES: usize = 9;

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    flags: u8,
    pub(super) id: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    pub(super) fn new(kind: u8, flags: u8, id: u32, payload: Vec<u8>) -> Self {
        Self { kind, flags, id, payload }
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([self.kind, self.flags]);
        bytes.extend(self.id.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    pub(super) fn spoken(&self) -> Spoken {
        Spoken { bytes: self.bytes(), ..Spoken::default() }
    }

    /// The number that RST_STREAM and WINDOW_UPDATE consist of.
    pub(super) fn number(&self) -> u32 {
        u32::from_be_bytes(self.payload[..].try_into().expect("four bytes")) & (u32::MAX >> 1)
    }

    /// The names and values of SETTINGS.
    pub(super) fn settings(&self) -> Vec<(u16, u32)> {
        let entry = |bytes: &[u8]| {
            let (name, value) = bytes.split_at(2);
            Some((u16::from_be_bytes(name.try_into().ok()?), u32::from_be_bytes(value.try_into().ok()?)))
        };
        self.payload.chunks(6).map(|bytes| entry(bytes).expect("six bytes")).collect()
    }

    /// A header block in one frame or several, padded at times.
    pub(super) fn headers(id: u32, block: &[u8], ends: bool, random: &mut Random) -> Vec<u8> {
        let cut =
            if random.permille(100) { random.within(0..block.len() as u64) as usize } else { block.len() };
        let (first, rest) = block.split_at(cut);
        let flags =
            if ends { flag::END_STREAM } else { 0 } | if rest.is_empty() { flag::END_HEADERS } else { 0 };
        let mut bytes =
            Self::new(kind::HEADERS, flags, id, first.to_vec()).padded(usize::MAX, random).bytes();
        if !rest.is_empty() {
            bytes.extend(Self::new(kind::CONTINUATION, flag::END_HEADERS, id, rest.to_vec()).bytes());
        }
        bytes
    }

    /// So many bytes of a body.
    pub(super) fn body_frame(id: u32, count: usize, ends: bool, random: &mut Random) -> Self {
        Self::body_frame_within(id, count, usize::MAX, ends, random)
    }

    /// So many bytes of a body, in a frame whose payload has at most `room` bytes.
    pub(super) fn body_frame_within(
        id: u32,
        count: usize,
        room: usize,
        ends: bool,
        random: &mut Random,
    ) -> Self {
        let flags = if ends { flag::END_STREAM } else { 0 };
        Self::new(kind::DATA, flags, id, vec![b'x'; count]).padded(room, random)
    }

    fn padded(self, room: usize, random: &mut Random) -> Self {
        let padding = if random.permille(100) { random.within(0..256) as u8 } else { return self };
        if self.payload.len() + 1 + usize::from(padding) > room {
            return self;
        }
        let payload = [&[padding], &self.payload[..], &vec![0; usize::from(padding)]].concat();
        Self { flags: self.flags | flag::PADDED, payload, ..self }
    }
}

/// What a client sent, as frames.
#[derive(Debug, Default)]
pub(super) struct ClientFrames(Vec<u8>);

impl ClientFrames {
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Takes these bytes if all of them are there; panics if others are.
    pub(super) fn take_prefix(&mut self, prefix: &[u8]) -> bool {
        let count = prefix.len().min(self.0.len());
        assert_eq!(self.0[..count], prefix[..count], "the client's preface");
        let whole = count == prefix.len();
        if whole {
            self.0.drain(..count);
        }
        whole
    }

    /// The next frame, if all of it is there.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let head: [u8; HEAD_BYTES] = self.0.get(..HEAD_BYTES)?.try_into().ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let payload = self.0.get(HEAD_BYTES..HEAD_BYTES + length)?.to_vec();
        self.0.drain(..HEAD_BYTES + length);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], id, payload })
    }
}
