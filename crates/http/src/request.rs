//! Encodes requests: the user's description of a request, and the rules that both versions of HTTP share.
//!
//! A request is described once, by [`Request`]. Its path, the values of its headers and its body are [`Part`]s:
//! constant, or rendered for each request. [`Request::encode`] decides which headers are added, which the user's headers
//! replace, and which are dropped or refused. It writes the head as HTTP/1.1 text or as an HTTP/2 header block.
//!
//! The user's text is sent unchanged, except that CR, LF and NUL in a header are refused: with them, one setting could
//! write another header or a second request.

use encoded::{HeadWriter, Segment};

mod encoded;
mod error;
mod part;
#[cfg(test)]
mod tests;

pub use encoded::{EncodedRequest, Version};
pub use error::{EncodeError, HeadField};
pub use part::{InvalidByte, Part};

/// The default `User-Agent`.
pub const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// Fields of HTTP/1 connections that HTTP/2 does not use (RFC 9113 section 8.2.2). Users often set them out of habit, and
/// dropping them changes nothing.
const DROPPED: [&str; 3] = ["connection", "keep-alive", "proxy-connection"];
/// Fields that change the meaning of a request and do not exist in HTTP/2.
const REFUSED: [&str; 3] = ["transfer-encoding", "upgrade", "http2-settings"];

/// A request as the user describes it.
#[derive(Debug, Clone)]
pub struct Request<'a, P> {
    /// The method, a token such as `GET`; case matters.
    pub method: &'a str,
    /// True if the scheme is `https`; only HTTP/2 sends the scheme.
    pub secure: bool,
    /// Host and port of the URL: `name`, `name:port` or `[v6]:port`.
    pub authority: String,
    /// Path and query, percent-encoded: `/a?b=c`.
    pub path: P,
    /// The user's headers, sent in this order.
    pub headers: Vec<(&'a str, P)>,
    /// The body; empty for none.
    pub body: P,
    /// The `User-Agent` unless the headers name one; `None` to send none.
    pub user_agent: Option<&'a str>,
}

impl<P: Part> Request<'_, P> {
    /// Encodes the request: host, `User-Agent`, the user's headers, `Content-Length`.
    ///
    /// The user's headers replace the ones that Plimsoll adds. `Content-Length` is added if there is a body, and for
    /// POST, PUT and PATCH, unless the user's headers frame the body.
    ///
    /// Over HTTP/2 the user's first `Host` becomes the authority, `Connection`, `Keep-Alive` and
    /// `Proxy-Connection` are dropped, and other fields of an HTTP/1.1 connection are refused.
    ///
    /// # Errors
    /// The first part of the request that cannot be sent.
    pub fn encode(self, version: Version) -> Result<EncodedRequest<P>, EncodeError<P::Misfit>> {
        self.check(version)?;
        let length = self.length_to_add();
        let agent = self.user_agent.filter(|_| !self.has("user-agent"));
        let Self { method, secure, authority, path, mut headers, body, .. } = self;
        let mut head = match version {
            Version::Http1 => {
                let mut head = HeadWriter::http1(method, path);
                if !headers.iter().any(|(name, _)| is_host(name)) {
                    head.push_field("Host", Segment::Bytes(authority.into()));
                }
                head
            }
            Version::Http2 => {
                let own = headers.iter().position(|(name, _)| is_host(name));
                let own = own.map(|at| Segment::Part(headers.remove(at).1));
                headers.retain(|(name, _)| !is_host(name) && !is_one_of(name, &DROPPED));
                let authority = own.unwrap_or(Segment::Bytes(authority.into()));
                HeadWriter::http2(method, if secure { "https" } else { "http" }, authority, path)
            }
        };
        if let Some(agent) = agent {
            head.push_field("User-Agent", Segment::Bytes(agent.into()));
        }
        for (name, value) in headers {
            head.push_field(name, Segment::Part(value));
        }
        if let Some(length) = length {
            head.push_field("Content-Length", length);
        }
        Ok(head.end(body))
    }

    /// A POST, PUT or PATCH without a body has `Content-Length: 0` (RFC 9110 section 8.6). A length next to the user's own
    /// `Transfer-Encoding` would frame one message in two ways.
    fn length_to_add(&self) -> Option<Segment<P>> {
        if self.has("content-length") || self.has("transfer-encoding") {
            return None;
        }
        match self.body.constant() {
            None => Some(Segment::BodyLength),
            Some([]) if !matches!(self.method, "POST" | "PUT" | "PATCH") => None,
            Some(body) => Some(Segment::Bytes(body.len().to_string().into())),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn check(&self, version: Version) -> Result<(), EncodeError<P::Misfit>> {
        if !is_token(self.method) {
            return Err(EncodeError::Method { method: self.method.to_owned() });
        }
        if self.method == "CONNECT" {
            return Err(EncodeError::Connect);
        }
        if self.authority.is_empty() || !self.authority.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(EncodeError::Host { host: self.authority.clone() });
        }
        check_visible(HeadField::Path, &self.path)?;
        self.headers.iter().try_for_each(|(name, value)| check_header(version, name, value))
    }
}

fn check_header<P: Part>(version: Version, name: &str, value: &P) -> Result<(), EncodeError<P::Misfit>> {
    if !is_token(name) {
        return Err(EncodeError::HeaderName { name: name.to_owned() });
    }
    if version == Version::Http2 {
        if is_host(name) {
            return check_visible(HeadField::Host, value);
        }
        // The only `TE` value that HTTP/2 allows is `trailers`.
        let trailers =
            value.constant().is_some_and(|text| text.trim_ascii().eq_ignore_ascii_case(b"trailers"));
        if is_one_of(name, &REFUSED) || (name.eq_ignore_ascii_case("te") && !trailers) {
            return Err(EncodeError::ConnectionHeader { name: name.to_owned() });
        }
    }
    let allowed = |byte| !matches!(byte, b'\r' | b'\n' | 0);
    value
        .check(allowed)
        .map_err(|source| EncodeError::Value { field: HeadField::Header(name.to_owned()), source })
}

/// Checks that a value is visible ASCII and not empty.
fn check_visible<P: Part>(field: HeadField, value: &P) -> Result<(), EncodeError<P::Misfit>> {
    if value.constant().is_some_and(<[u8]>::is_empty) {
        return Err(EncodeError::Empty { field });
    }
    value.check(|byte| byte.is_ascii_graphic()).map_err(|source| EncodeError::Value { field, source })
}

/// True for a token (RFC 9110 section 5.6.2).
fn is_token(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(allowed)
}

fn is_host(name: &str) -> bool {
    name.eq_ignore_ascii_case("host")
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}
