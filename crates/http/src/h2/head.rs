//! The head of a response: checks its fields by RFC 9113 sections 8.2 and 8.3, and extracts what frames the response.

use super::error::Malformed;
use crate::Expect;
use crate::response::fields::Length;

/// Fields that belong to an HTTP/1 connection (RFC 9113 section 8.2.2).
const CONNECTION_FIELDS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// The status and the declared length of a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) status: u16,
    length: Length,
}

impl Head {
    pub(super) const fn is_interim(self) -> bool {
        self.status < 200
    }

    /// The required length of the body, if known. A response that has no body by definition may still declare a length (RFC
    /// 9110 section 8.6).
    pub(super) const fn declared(self, expect: Expect) -> Option<u64> {
        match (expect, self.status, self.length) {
            (Expect::NoBody, ..) | (_, 204 | 304, _) => Some(0),
            (_, _, Length::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct HeadReader {
    status: u16,
    length: Length,
    regular_seen: bool,
    malformed: bool,
}

impl HeadReader {
    /// Reads the next field; returns true for a regular field of a final head that is valid so far.
    pub(super) fn read(&mut self, name: &[u8], value: &[u8]) -> bool {
        if name.starts_with(b":") {
            self.read_pseudo(name, value);
            return false;
        }
        self.regular_seen = true;
        let of_connection = matches!(name.len(), 7 | 10 | 16 | 17) && CONNECTION_FIELDS.contains(&name);
        self.malformed |= !is_name(name) || !is_value(value) || of_connection;
        if name == b"content-length" {
            self.length = self.length.and(value);
        }
        !self.malformed && self.status >= 200
    }

    /// Returns the head, at the end of a block that must be one.
    pub(super) fn head(&self) -> Result<Head, Malformed> {
        // 101 would change the protocol, which HTTP/2 cannot (RFC 9113 section 8.6).
        if self.malformed || self.status < 100 || self.status == 101 {
            return Err(Malformed::Head);
        }
        match self.length {
            Length::Invalid => Err(Malformed::Length),
            length => Ok(Head { status: self.status, length }),
        }
    }

    /// Checks the end of a block that must be trailers, which have no pseudo-field.
    pub(super) const fn trailers(&self) -> Result<(), Malformed> {
        if self.malformed || self.status != 0 { Err(Malformed::Head) } else { Ok(()) }
    }

    /// Reads `:status`, the only pseudo-field of a response, which comes once and before all regular fields.
    fn read_pseudo(&mut self, name: &[u8], value: &[u8]) {
        let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = *value else {
            self.malformed = true;
            return;
        };
        self.malformed |= name != b":status" || self.status != 0 || self.regular_seen;
        let digit = |byte: u8| u16::from(byte - b'0');
        self.status = digit(a) * 100 + digit(b) * 10 + digit(c);
    }
}

/// True for a valid name (RFC 9113 section 8.2.1). Only pseudo-fields contain a colon.
fn is_name(name: &[u8]) -> bool {
    let allowed = |byte: &u8| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase() && *byte != b':';
    !name.is_empty() && name.iter().all(allowed)
}

/// True for a valid value (RFC 9113 section 8.2.1): no line end, no NUL, no surrounding white space.
fn is_value(value: &[u8]) -> bool {
    let space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bounded = !space(value.first()) && !space(value.last());
    bounded && !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}
