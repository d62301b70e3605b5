//! Why a request cannot be encoded.

use std::fmt;

use thiserror::Error;

/// A field of a request's head whose value the user chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadField {
    /// The user's `Host` header as HTTP/2's `:authority`.
    Host,
    /// Path and query.
    Path,
    /// A header of this name.
    Header(String),
}

impl HeadField {
    fn advice(&self) -> &'static str {
        match self {
            Self::Host => "use visible ASCII only, an international name in its xn-- form",
            Self::Path => "percent-encode everything but visible ASCII",
            Self::Header(_) => "remove CR, LF and NUL from it",
        }
    }
}

impl fmt::Display for HeadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Path => f.write_str("the path"),
            Self::Header(name) => write!(f, "header {name}"),
        }
    }
}

/// Why a request cannot be encoded; `M` is what a part reports, see [`Part::check`](super::Part::check).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError<M> {
    #[error("method {method:?} is not valid: use a token of letters such as GET or POST")]
    Method { method: String },
    /// The host is empty or holds a space, a control character or one beyond ASCII.
    #[error("host {host:?} is not valid: use visible ASCII only, an international name in its xn-- form")]
    Host { host: String },
    /// A header's name is empty or holds a character that no token may hold.
    #[error("header name {name:?} is not valid: use a token such as X-Request-Id, without spaces")]
    HeaderName { name: String },
    #[error("{field} is empty")]
    Empty { field: HeadField },
    /// A value would end its line early, or holds what its field may not hold.
    #[error("{field}: {source}; {}", .field.advice())]
    Value {
        field: HeadField,
        /// The byte that is not allowed, and its origin.
        source: M,
    },
    /// A header that belongs to an HTTP/1.1 connection, and would change what an HTTP/2 request means.
    #[error("header {name} has no place in HTTP/2: leave it out, or ask for HTTP/1.1")]
    ConnectionHeader { name: String },
}
