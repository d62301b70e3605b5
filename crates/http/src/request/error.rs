//! Why a request cannot be encoded.

use std::fmt;

use thiserror::Error;

/// A field of a request's head whose value the user chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadField {
    /// The user's `Host` header as HTTP/2's `:authority`.
    Host,
    Path,
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

/// Why a request cannot be encoded; `M` is the error type of [`Part::check`](super::Part::check).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError<M> {
    #[error("method {method:?} is not valid: use a token of letters such as GET or POST")]
    Method { method: String },
    /// The bytes after the answer to CONNECT are not HTTP (RFC 9110 section 9.3.6).
    #[error(
        "method CONNECT asks a proxy for a tunnel, which carries no requests to count: use another method"
    )]
    Connect,
    #[error("host {host:?} is not valid: use visible ASCII only, an international name in its xn-- form")]
    Host { host: String },
    #[error("header name {name:?} is not valid: use a token such as X-Request-Id, without spaces")]
    HeaderName { name: String },
    #[error("{field} is empty")]
    Empty { field: HeadField },
    /// A value would end its line early, or contains a byte that its field does not allow.
    #[error("{field}: {source}; {}", .field.advice())]
    Value { field: HeadField, source: M },
    #[error("header {name} has no place in HTTP/2: leave it out, or ask for HTTP/1.1")]
    ConnectionHeader { name: String },
}
