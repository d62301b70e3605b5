//! The events of a connection, which the received bytes cause.

use super::error::{ErrorCode, Malformed};
use crate::Response;

/// An event of the request that the caller numbered `tag`.
///
/// Each request ends with exactly one event other than `Field` and `Body`, unless it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A header field of the final response; only for observed requests.
    Field {
        tag: u32,
        /// The name, in lower case.
        name: &'a [u8],
        value: &'a [u8],
    },
    /// A piece of the body; only for observed requests. The boundaries of pieces have no meaning.
    Body {
        tag: u32,
        /// Never empty.
        bytes: &'a [u8],
    },
    Answered {
        tag: u32,
        /// The complete response; `keep_alive` says whether the connection takes further requests.
        response: Response,
    },
    /// The response violates HTTP; the stream was reset, and the connection stays open.
    Malformed {
        tag: u32,
        malformed: Malformed,
    },
    Reset {
        tag: u32,
        code: ErrorCode,
    },
    /// The server reported that it did not process the request. It may be sent again (RFC 9113 section 8.7), after GOAWAY on
    /// another connection.
    Refused {
        tag: u32,
    },
    /// The connection ended before the response was complete.
    Cut {
        tag: u32,
        /// True if any frame of the response had begun to arrive.
        begun: bool,
    },
}
