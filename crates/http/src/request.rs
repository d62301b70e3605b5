//! The request encoder: one request in, its bytes on the wire out.
//!
//! What the user typed goes out as typed, as long as it cannot end a line early: a CR, LF or NUL
//! in a header would let one setting write another header or a second request.

use thiserror::Error;

#[cfg(test)]
mod tests;

/// The agent that is named when the user names none.
pub const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// Everything one request says, borrowed from the plan.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method, a token such as `GET`; case matters.
    pub method: &'a str,
    /// The authority as the `Host` header carries it: `name`, `name:port` or `[v6]:port`.
    pub host: &'a str,
    /// Path and query, percent-encoded: `/a?b=c`.
    pub target: &'a str,
    /// The user's headers, sent in this order.
    pub headers: &'a [(String, String)],
    /// The body; empty for none.
    pub body: &'a [u8],
}

/// Why a request cannot be put on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The method is empty or holds a character that no token may hold.
    #[error("method {method:?} is not valid: use a token of letters such as GET or POST")]
    Method {
        /// The method as given.
        method: String,
    },
    /// The host is empty or holds a space, a control or a character beyond ASCII.
    #[error(
        "host {host:?} is not valid in a Host header: use visible ASCII only, an international \
         name in its xn-- form"
    )]
    Host {
        /// The host as given.
        host: String,
    },
    /// The target is empty or holds a space, a control or a character beyond ASCII.
    #[error("request target {target:?} is not valid: percent-encode everything but visible ASCII")]
    Target {
        /// The target as given.
        target: String,
    },
    /// A header's name is empty or holds a character that no token may hold.
    #[error("header name {name:?} is not valid: use a token such as X-Request-Id, without spaces")]
    HeaderName {
        /// The name as given.
        name: String,
    },
    /// A header's value would end its line early. The value may be a secret and is not repeated.
    #[error("value of header {name} holds {byte:?} at byte {at}: remove CR, LF and NUL from it")]
    HeaderValue {
        /// The name of the header.
        name: String,
        /// The character that is not allowed.
        byte: char,
        /// Where it stands in the value, counted in bytes from 0.
        at: usize,
    },
    /// The scheme of an HTTP/2 request is empty or holds a character that none may hold.
    #[error("scheme {scheme:?} is not valid: use http or https")]
    Scheme {
        /// The scheme as given.
        scheme: String,
    },
    /// A header that belongs to an HTTP/1.1 connection and has no place in HTTP/2.
    #[error("header {name} has no place in HTTP/2: leave it out, or ask for HTTP/1.1")]
    ConnectionHeader {
        /// The name of the header.
        name: String,
    },
}

impl RequestHead<'_> {
    /// Renders the complete request: `Host`, `User-Agent`, the user's headers, `Content-Length`.
    ///
    /// What Plimsoll adds gives way to what the user set. `Content-Length` is added when there is
    /// a body, and for methods that promise one, unless the user framed the body in another way.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] names the first part that cannot be sent as it is.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        self.check()?;
        let mut bytes = Vec::with_capacity(256 + self.body.len());
        push(&mut bytes, &[self.method, " ", self.target, " HTTP/1.1\r\n"]);
        if !self.has("host") {
            push(&mut bytes, &["Host: ", self.host, "\r\n"]);
        }
        if !self.has("user-agent") {
            push(&mut bytes, &["User-Agent: ", USER_AGENT, "\r\n"]);
        }
        for (name, value) in self.headers {
            push(&mut bytes, &[name, ": ", value, "\r\n"]);
        }
        if self.needs_length() {
            let length = self.body.len().to_string();
            push(&mut bytes, &["Content-Length: ", &length, "\r\n"]);
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(self.body);
        Ok(bytes)
    }

    fn check(&self) -> Result<(), EncodeError> {
        if !is_token(self.method) {
            let method = self.method.to_owned();
            return Err(EncodeError::Method { method });
        }
        if !is_visible(self.host) {
            let host = self.host.to_owned();
            return Err(EncodeError::Host { host });
        }
        if !is_visible(self.target) {
            let target = self.target.to_owned();
            return Err(EncodeError::Target { target });
        }
        self.headers.iter().try_for_each(|(name, value)| check_header(name, value))
    }

    fn has(&self, wanted: &str) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    }

    /// A POST, PUT or PATCH without a body says so (RFC 9110 section 8.6). A length beside the
    /// user's own `Transfer-Encoding` would make two framings of one message.
    fn needs_length(&self) -> bool {
        let promises_body = matches!(self.method, "POST" | "PUT" | "PATCH");
        let framed = self.has("content-length") || self.has("transfer-encoding");
        (promises_body || !self.body.is_empty()) && !framed
    }
}

fn push(bytes: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
    }
}

pub(crate) fn check_header(name: &str, value: &str) -> Result<(), EncodeError> {
    if !is_token(name) {
        let name = name.to_owned();
        return Err(EncodeError::HeaderName { name });
    }
    match value.bytes().position(|b| matches!(b, b'\r' | b'\n' | 0)) {
        None => Ok(()),
        Some(at) => Err(EncodeError::HeaderValue {
            name: name.to_owned(),
            byte: char::from(value.as_bytes()[at]),
            at,
        }),
    }
}

/// A token of RFC 9110 section 5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(allowed)
}

pub(crate) fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}
