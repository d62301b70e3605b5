//! HTTP/2 errors: of the connection, of one response, of a header block.

use std::fmt;

use thiserror::Error;

/// A violation of HTTP/2 by the server. The bytes after it on the connection cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Broken {
    #[error(
        "the server's first frame is not SETTINGS: expected HTTP/2; check that the target speaks \
         HTTP/2 on this port, over TLS or with prior knowledge as asked"
    )]
    Preface,
    #[error(
        "frame of a size that its type cannot have: expected the sizes of RFC 9113, section 6; check what sends it on the target or a proxy before it"
    )]
    FrameSize,
    #[error(
        "header block cannot be decompressed ({0}); check what encodes headers on the target or a proxy before it"
    )]
    Compression(#[from] HpackError),
    /// More DATA than the windows allow, or a window beyond 2^31 - 1 bytes (RFC 9113 sections 5.2 and 6.9.1).
    #[error(
        "flow-control window overrun or overflowed: expected at most what was granted; check the server's flow control"
    )]
    FlowControl,
    /// A window update with an increment of 0, which is not a flow-control error (RFC 9113 section 6.9).
    #[error(
        "flow-control window widened by nothing: expected an increment of 1 or more; check the server's flow control"
    )]
    Increment,
    #[error(
        "setting out of its range: expected the ranges of RFC 9113, section 6.5.2; check the server's HTTP/2 settings"
    )]
    Settings,
    /// A frame on a stream that its type does not allow: stream 0, or one never opened (RFC 9113 sections 5.1 and 6).
    #[error(
        "frame on a stream it cannot be on: expected connection frames on stream 0 and others on streams that a request opened; check the server or a proxy before it"
    )]
    Stream,
    #[error(
        "padding as long as its frame: expected it to leave room for itself; check the server or a proxy before it"
    )]
    Padding,
    /// A header block interrupted by another frame, or CONTINUATION without an open block (RFC 9113 section 6.10).
    #[error(
        "CONTINUATION out of place: expected it directly after the header block it continues; check the server or a proxy before it"
    )]
    Continuation,
    #[error("PUSH_PROMISE although push is switched off: expected none; check the server's HTTP/2 settings")]
    Push,
    #[error("header block over 64 KiB: expected less; make the target send fewer or shorter headers")]
    HeadTooLarge,
    #[error(
        "thousands of frames in a row that carry nothing: expected responses; check the server or a proxy before it"
    )]
    Flood,
}

impl Broken {
    /// The code to send in GOAWAY.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::FrameSize => ErrorCode::FRAME_SIZE_ERROR,
            Self::Compression(_) => ErrorCode::COMPRESSION_ERROR,
            Self::FlowControl => ErrorCode::FLOW_CONTROL_ERROR,
            Self::HeadTooLarge | Self::Flood => ErrorCode::ENHANCE_YOUR_CALM,
            Self::Preface
            | Self::Increment
            | Self::Settings
            | Self::Stream
            | Self::Padding
            | Self::Continuation
            | Self::Push => ErrorCode::PROTOCOL_ERROR,
        }
    }
}

/// A response that violates HTTP on its own stream only (RFC 9113 section 8.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A header field or a status that HTTP/2 does not allow (RFC 9113 sections 8.2 and 8.3).
    #[error(
        "malformed response head: expected one :status of 100 to 999 but 101, then fields in lower \
         case without connection-specific ones; check what sets headers on the target or a proxy \
         before it"
    )]
    Head,
    #[error(
        "content-length is not the body's length: expected them to agree; check what sets this \
         header on the target or a proxy before it"
    )]
    Length,
    /// A body before the head, an interim response that ends the stream, too many interim responses, or trailers that do not
    /// end the stream (RFC 9113 section 8.1).
    #[error(
        "malformed response: expected a head, a body and possibly trailers in this order; check \
         the target or a proxy before it"
    )]
    Order,
}

/// A header block that cannot be decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HpackError {
    #[error("it ends within a field")]
    Cut,
    /// An integer of more than five further bytes or beyond 32 bits (RFC 7541 section 5.1).
    #[error("an integer is too large")]
    Integer,
    /// An index that is in no table: 0, or one beyond the static table, because the dynamic one is empty (RFC 7541 section 2.3.3).
    #[error("an index points nowhere: expected one of the static table")]
    Index,
    /// A table size above the announced 0, or after a field (RFC 7541 section 4.2).
    #[error("a table size is out of place: expected 0 before the first field")]
    TableSize,
    /// A Huffman string that contains the end-of-string code, or has invalid padding (RFC 7541 section 5.2).
    #[error("a Huffman string is not valid")]
    Huffman,
}

/// Why a stream was reset or a connection closed, as RST_STREAM and GOAWAY carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// No error: a graceful end.
    pub const NO_ERROR: Self = Self(0x0);
    /// A protocol violation that no other code names.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The flow-control limits were violated.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// A frame with an invalid size.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The request was not processed at all and may be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is no longer needed.
    pub const CANCEL: Self = Self(0x8);
    /// A header block that cannot be decompressed.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The peer causes excessive work.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);

    /// The code's name in the RFC; `UNKNOWN` if the RFC does not define it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0x0 => "NO_ERROR",
            0x1 => "PROTOCOL_ERROR",
            0x2 => "INTERNAL_ERROR",
            0x3 => "FLOW_CONTROL_ERROR",
            0x4 => "SETTINGS_TIMEOUT",
            0x5 => "STREAM_CLOSED",
            0x6 => "FRAME_SIZE_ERROR",
            0x7 => "REFUSED_STREAM",
            0x8 => "CANCEL",
            0x9 => "COMPRESSION_ERROR",
            0xa => "CONNECT_ERROR",
            0xb => "ENHANCE_YOUR_CALM",
            0xc => "INADEQUATE_SECURITY",
            0xd => "HTTP_1_1_REQUIRED",
            _ => "UNKNOWN",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#x})", self.name(), self.0)
    }
}
