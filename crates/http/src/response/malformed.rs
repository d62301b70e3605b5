//! Why a response cannot be read.

use thiserror::Error;

/// A response that breaks HTTP/1.1. Nothing after it on the connection can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Not a status line and header fields, a status below 100, an upgrade that was not requested, or
    /// interim responses without end.
    #[error(
        "malformed response head: expected an HTTP/1.0 or HTTP/1.1 status line and header fields; \
         check that the target speaks plain HTTP/1.1 on this port"
    )]
    Head,
    #[error(
        "response head too large: expected at most 64 KiB and 256 header fields; \
         make the target send fewer or shorter headers"
    )]
    HeadTooLarge,
    /// A `Content-Length` that is no number, too large for one, or contradicts another.
    #[error(
        "malformed response framing: expected one Content-Length in decimal digits; \
         check what sets this header on the target or on a proxy before it"
    )]
    Framing,
    #[error(
        "malformed chunked body: expected a hexadecimal size and CRLF around every chunk; \
         check what writes the body on the target or on a proxy before it"
    )]
    Chunk,
}
