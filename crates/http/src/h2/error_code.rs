//! The error codes of RFC 9113 section 7.

use std::fmt;

/// Why a stream was reset or a connection closed, as RST_STREAM and GOAWAY carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// No error: a graceful end.
    pub const NO_ERROR: Self = Self(0x0);
    /// The protocol was broken in a way that no other code names.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The flow-control limits were broken.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// A frame of a size it cannot have.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The request was not processed at all and may be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is no longer needed.
    pub const CANCEL: Self = Self(0x8);
    /// A header block that cannot be decompressed.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The peer makes work without end.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);

    /// The code's name in the RFC; `UNKNOWN` for one that it does not define.
    #[must_use]
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
