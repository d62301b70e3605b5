//! Frame headers, and the frames that are written directly (RFC 9113 sections 4.1 and 6).

use super::error::ErrorCode;

pub(super) const HEADER_BYTES: usize = 9;
/// Maximum payload in bytes that the server may send. The client never raises this default: larger frames would save nothing
/// and let one stream delay the others.
pub(super) const MAX_PAYLOAD_BYTES: u32 = 16_384;

pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const PRIORITY: u8 = 0x2;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PUSH_PROMISE: u8 = 0x5;
pub(super) const PING: u8 = 0x6;
pub(super) const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;

/// Flag of SETTINGS and PING.
pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITIZED: u8 = 0x20;

#[derive(Debug, Clone, Copy)]
pub(super) struct FrameHeader {
    pub(super) len: u32,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl FrameHeader {
    pub(super) const fn parse(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes;
        Self {
            len: u32::from_be_bytes([0, a, b, c]),
            kind,
            flags,
            // The first bit is reserved and must be ignored.
            stream: u32::from_be_bytes([s0 & 0x7f, s1, s2, s3]),
        }
    }

    pub(super) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The first four bytes of a payload as a number; the caller has checked its length.
pub(super) fn first_u32(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Writes a frame's header; `len` is below 2^24 for every frame written here.
pub(super) fn push_header(out: &mut Vec<u8>, len: usize, kind: u8, flags: u8, stream: u32) {
    let [.., a, b, c] = len.to_be_bytes();
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, s0, s1, s2, s3]);
}

pub(super) fn push_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    push_header(out, settings.len() * 6, SETTINGS, 0, 0);
    for (identifier, value) in settings {
        out.extend_from_slice(&identifier.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Allows the peer to send `increment` more bytes on one stream or, for stream 0, on the connection.
pub(super) fn push_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    push_header(out, 4, WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&increment.to_be_bytes());
}

/// Writes RST_STREAM, which ends a stream.
pub(super) fn push_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    push_header(out, 4, RST_STREAM, 0, stream);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Writes GOAWAY, which ends the connection. The last stream id is 0, because the server opened none.
pub(super) fn push_goaway(out: &mut Vec<u8>, code: ErrorCode) {
    push_header(out, 8, GOAWAY, 0, 0);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&code.0.to_be_bytes());
}
