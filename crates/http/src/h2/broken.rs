//! Why a connection cannot go on.

use thiserror::Error;

use super::error_code::ErrorCode;
use super::hpack::HpackError;

/// A server that broke HTTP/2. Nothing after it on the connection can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Broken {
    /// The first frame is not SETTINGS (RFC 9113 section 3.4).
    #[error(
        "the server's first frame is not SETTINGS: expected HTTP/2; check that the target speaks \
         HTTP/2 on this port, over TLS or with prior knowledge as asked"
    )]
    Preface,
    /// A frame over 16 KiB, or of another size than its type has (RFC 9113 sections 4.2 and 6).
    #[error(
        "frame of a size that its type cannot have: expected the sizes of RFC 9113, section 6; check what sends it on the target or a proxy before it"
    )]
    FrameSize,
    /// A header block that cannot be decompressed (RFC 9113 section 4.3, RFC 7541).
    #[error(
        "header block cannot be decompressed ({0}); check what encodes headers on the target or a proxy before it"
    )]
    Compression(#[from] HpackError),
    /// More DATA than the windows allow, or a window beyond 2^31 - 1 bytes or widened by nothing
    /// (RFC 9113 sections 5.2 and 6.9).
    #[error(
        "flow-control window overrun, overflowed or widened by nothing: expected at most what was granted; check the server's flow control"
    )]
    FlowControl,
    /// A setting with a value it cannot have (RFC 9113 section 6.5.2).
    #[error(
        "setting out of its range: expected the ranges of RFC 9113, section 6.5.2; check the server's HTTP/2 settings"
    )]
    Settings,
    /// A frame on a stream where its type cannot be: stream 0, or one never opened (RFC 9113
    /// sections 5.1 and 6).
    #[error(
        "frame on a stream it cannot be on: expected connection frames on stream 0 and others on streams that a request opened; check the server or a proxy before it"
    )]
    Stream,
    /// Padding as long as its frame or longer (RFC 9113 section 6.1).
    #[error(
        "padding as long as its frame: expected it to leave room for itself; check the server or a proxy before it"
    )]
    Padding,
    /// A header block interrupted by another frame, or continued where none was open (RFC 9113
    /// section 6.10).
    #[error(
        "CONTINUATION out of place: expected it directly after the header block it continues; check the server or a proxy before it"
    )]
    Continuation,
    /// PUSH_PROMISE although push is off (RFC 9113 section 8.4).
    #[error("PUSH_PROMISE although push is switched off: expected none; check the server's HTTP/2 settings")]
    Push,
    /// A header block over 64 KiB (RFC 9113 section 10.5.1).
    #[error("header block over 64 KiB: expected less; make the target send fewer or shorter headers")]
    HeadTooLarge,
    /// Frames without end that carry nothing (RFC 9113 section 10.5).
    #[error(
        "thousands of frames in a row that carry nothing: expected responses; check the server or a proxy before it"
    )]
    Flood,
}

impl Broken {
    /// A short, stable name for counts and machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preface => "preface",
            Self::FrameSize => "frame_size",
            Self::Compression(_) => "compression",
            Self::FlowControl => "flow_control",
            Self::Settings => "settings",
            Self::Stream => "stream",
            Self::Padding => "padding",
            Self::Continuation => "continuation",
            Self::Push => "push",
            Self::HeadTooLarge => "head_too_large",
            Self::Flood => "flood",
        }
    }

    /// The code that GOAWAY carries to the server.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::FrameSize => ErrorCode::FRAME_SIZE_ERROR,
            Self::Compression(_) => ErrorCode::COMPRESSION_ERROR,
            Self::FlowControl => ErrorCode::FLOW_CONTROL_ERROR,
            Self::HeadTooLarge | Self::Flood => ErrorCode::ENHANCE_YOUR_CALM,
            Self::Preface
            | Self::Settings
            | Self::Stream
            | Self::Padding
            | Self::Continuation
            | Self::Push => ErrorCode::PROTOCOL_ERROR,
        }
    }
}
