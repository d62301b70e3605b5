//! Why one response cannot be counted, although its connection goes on.

use thiserror::Error;

/// A response that breaks HTTP's rules on its own stream (RFC 9113 section 8.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A header field or a status that HTTP/2 does not allow (RFC 9113 sections 8.2 and 8.3).
    #[error(
        "malformed response head: expected one :status of 100 to 999 but 101, then fields in lower \
         case without connection-specific ones; check what sets headers on the target or a proxy \
         before it"
    )]
    Head,
    /// A `Content-Length` that is no number, contradicts another, or is not the body's length.
    #[error(
        "content-length is not the body's length: expected them to agree; check what sets this \
         header on the target or a proxy before it"
    )]
    Length,
    /// A body before the head, an interim response at the end, interim responses without end, or
    /// trailers before the end (RFC 9113 section 8.1).
    #[error(
        "malformed response: expected a head, a body and possibly trailers in this order; check \
         the target or a proxy before it"
    )]
    Order,
}

impl Malformed {
    /// A short, stable name for counts and machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Length => "length",
            Self::Order => "order",
        }
    }
}
