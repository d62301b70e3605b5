//! What a caller learns from the bytes of a connection.

use super::error::{ErrorCode, Malformed};
use crate::Response;

/// Something that happened to the request that its caller numbered `tag`.
///
/// Each request ends with exactly one event other than `Field` and `Body`, unless it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A header field of the final response, of an observed request.
    Field {
        tag: u32,
        /// The name, in lower case.
        name: &'a [u8],
        value: &'a [u8],
    },
    /// A piece of the body, of an observed request; where pieces are cut means nothing.
    Body {
        tag: u32,
        /// Never empty.
        bytes: &'a [u8],
    },
    Answered {
        tag: u32,
        /// The response; `keep_alive` says whether the connection takes further requests.
        response: Response,
    },
    /// The response breaks HTTP's rules; the stream was reset, the connection goes on.
    Malformed {
        tag: u32,
        malformed: Malformed,
    },
    Reset {
        tag: u32,
        code: ErrorCode,
    },
    /// The server did not process the request and says so: it may be sent again (RFC 9113 section
    /// 8.7), after GOAWAY on another connection.
    Refused {
        tag: u32,
    },
    /// The connection ended before the response was complete.
    Cut {
        tag: u32,
        /// Whether any frame of the response had begun to arrive.
        begun: bool,
    },
}
