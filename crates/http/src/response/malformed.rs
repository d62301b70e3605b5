//! Why a response cannot be read.

use thiserror::Error;

/// A response that violates HTTP/1.1. The bytes after it on the connection cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Not a status line and header fields, or a status below 100.
    #[error(
        "malformed response head: expected an HTTP/1.0 or HTTP/1.1 status line and header fields; \
         check that the target speaks plain HTTP/1.1 on this port"
    )]
    Head,
    #[error(
        "response head too large: expected at most 64 KiB; \
         make the target send fewer or shorter headers"
    )]
    HeadTooLarge,
    #[error("too many header fields: expected at most 256; make the target send fewer")]
    TooManyFields,
    /// Too many interim (1xx) responses before the final one.
    #[error(
        "more than 16 interim responses before the final one: expected few; \
         check what sends 1xx responses on the target or on a proxy before it"
    )]
    InterimFlood,
    /// 101 is valid only as the answer to an `Upgrade` field (RFC 9110 section 15.2.2).
    #[error(
        "status 101 although no upgrade was requested: expected a final response; \
         check that the path is not one for WebSocket or another protocol"
    )]
    Upgrade,
    /// A `Content-Length` that is not a number, is too large, or contradicts another; or chunked with parameters.
    #[error(
        "malformed response framing: expected one Content-Length in decimal digits, or chunked without parameters; \
         check what sets this header on the target or on a proxy before it"
    )]
    Framing,
    #[error(
        "malformed chunked body: expected a hexadecimal size and CRLF around every chunk; \
         check what writes the body on the target or on a proxy before it"
    )]
    Chunk,
}
