//! The request encoder: one request in, its header block out.

use super::hpack;
use crate::request::{EncodeError, USER_AGENT, check_header, is_token, is_visible};

/// Fields that HTTP/1 needs for its connections and HTTP/2 does without (RFC 9113 section 8.2.2).
/// People set them out of habit; nothing is lost with them.
const DROPPED: [&str; 3] = ["connection", "keep-alive", "proxy-connection"];
/// Fields that would change what the request means, and cannot in HTTP/2.
const REFUSED: [&str; 3] = ["transfer-encoding", "upgrade", "http2-settings"];
/// The pseudo-fields of a request (RFC 9113 section 8.3.1).
const PSEUDO: [&str; 4] = [":method", ":scheme", ":authority", ":path"];

/// Everything the head of one request says, borrowed from the plan.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method, a token such as `GET`; case matters.
    pub method: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The authority: `name`, `name:port` or `[v6]:port`.
    pub authority: &'a str,
    /// Path and query, percent-encoded: `/a?b=c`.
    pub path: &'a str,
    /// The user's headers, sent in this order.
    pub headers: &'a [(String, String)],
    /// The body's length in bytes; 0 for no body, `None` when it is not known yet.
    pub body_bytes: Option<u64>,
}

impl RequestHead<'_> {
    /// Renders the header block: the pseudo-fields, `user-agent`, the user's headers in lower case,
    /// `content-length`.
    ///
    /// What Plimsoll adds gives way to what the user set; the user's `Host` becomes the authority.
    /// `content-length` is added when there is a body of a known length, and for methods that
    /// promise one. `Connection`, `Keep-Alive` and `Proxy-Connection` are left out.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] names the first part that cannot be sent as it is.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut block = Vec::with_capacity(256);
        let authority = self.value_of("host").unwrap_or(self.authority);
        push_field(&mut block, ":method", self.method)?;
        push_field(&mut block, ":scheme", self.scheme)?;
        push_field(&mut block, ":authority", authority)?;
        push_field(&mut block, ":path", self.path)?;
        if self.value_of("user-agent").is_none() {
            push_field(&mut block, "user-agent", USER_AGENT)?;
        }
        for (name, value) in self.headers {
            check_header(name, value)?;
            if !is_one_of(name, &DROPPED) && !name.eq_ignore_ascii_case("host") {
                push_field(&mut block, name, value)?;
            }
        }
        if let Some(length) = self.length_to_add() {
            push_field(&mut block, "content-length", &length.to_string())?;
        }
        Ok(block)
    }

    fn value_of(&self, wanted: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        named.next().map(|(_, value)| value.trim_ascii())
    }

    /// A POST, PUT or PATCH without a body says so (RFC 9110 section 8.6).
    fn length_to_add(&self) -> Option<u64> {
        let promises_body = matches!(self.method, "POST" | "PUT" | "PATCH");
        let wanted = |bytes: &u64| *bytes > 0 || promises_body;
        self.body_bytes.filter(wanted).filter(|_| self.value_of("content-length").is_none())
    }
}

/// Appends one field to a header block, for values that are rendered while the load runs; what
/// [`RequestHead::encode`] makes is a row of these. Pseudo-fields (`:path` and the like) come first.
///
/// The name is written in lower case and the value without space around it. Allocates nothing when
/// `out` has room.
///
/// # Errors
///
/// [`EncodeError`] when the field cannot be sent; `out` is then as it was.
pub fn push_field(out: &mut Vec<u8>, name: &str, value: &str) -> Result<(), EncodeError> {
    if name.starts_with(':') {
        check_pseudo(name, value)?;
        hpack::push(out, name.as_bytes(), value.as_bytes());
        return Ok(());
    }
    check_header(name, value)?;
    let value = value.trim_ascii();
    let te = name.eq_ignore_ascii_case("te") && !value.eq_ignore_ascii_case("trailers");
    if te || is_one_of(name, &DROPPED) || is_one_of(name, &REFUSED) {
        let name = name.to_owned();
        return Err(EncodeError::ConnectionHeader { name });
    }
    let mut lower = [0; 64];
    match lower.get_mut(..name.len()) {
        Some(lower) => {
            lower.copy_from_slice(name.as_bytes());
            lower.make_ascii_lowercase();
            hpack::push(out, lower, value.as_bytes());
        }
        // Longer names are rare enough to pay for a copy.
        None => hpack::push(out, name.to_ascii_lowercase().as_bytes(), value.as_bytes()),
    }
    Ok(())
}

fn check_pseudo(name: &str, value: &str) -> Result<(), EncodeError> {
    let value_owned = || value.to_owned();
    match name {
        ":method" if !is_token(value) => Err(EncodeError::Method { method: value_owned() }),
        ":authority" if !is_visible(value) => Err(EncodeError::Host { host: value_owned() }),
        ":path" if !is_visible(value) => Err(EncodeError::Target { target: value_owned() }),
        ":scheme" if !is_token(value) => Err(EncodeError::Scheme { scheme: value_owned() }),
        _ if PSEUDO.contains(&name) => Ok(()),
        _ => Err(EncodeError::HeaderName { name: name.to_owned() }),
    }
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}
