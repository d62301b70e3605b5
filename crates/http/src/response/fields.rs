//! The three header fields that frame a response: `Connection`, `Content-Length` and `Transfer-Encoding`. Other fields are
//! ignored after a look at the length of their name.

use httparse::Header;

/// The framing fields of one head, before the rules of precedence are applied.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fields {
    pub(super) length: Length,
    pub(crate) coding: Coding,
    pub(super) says_close: bool,
    pub(super) says_keep_alive: bool,
}

/// The combined `Content-Length` fields of a head.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    #[default]
    Absent,
    Bytes(u64),
    Invalid,
}

/// The combined `Transfer-Encoding` fields of a head: only the last coding frames the body. Chunked has no parameters, and is
/// an error with any, wherever it stands (RFC 9112 section 7.1).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    #[default]
    Absent,
    ChunkedLast,
    OtherLast,
    Invalid,
}

impl Fields {
    pub(crate) fn read(&mut self, header: &Header<'_>) {
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            10 if named("connection") => self.read_connection(header.value),
            14 if named("content-length") => self.length = self.length.and(header.value),
            17 if named("transfer-encoding") => self.coding = self.coding.and(header.value),
            _ => {}
        }
    }

    fn read_connection(&mut self, value: &[u8]) {
        self.says_close |= asks_to_close(value);
        self.says_keep_alive |= elements(value).any(|option| option.eq_ignore_ascii_case(b"keep-alive"));
    }
}

impl Length {
    /// Repeated lengths are accepted if they are equal (RFC 9112 section 6.3, item 5).
    pub(crate) fn and(self, value: &[u8]) -> Self {
        elements(value).fold(self, |length, element| match (length, decimal(element)) {
            (Self::Absent, Some(bytes)) => Self::Bytes(bytes),
            (Self::Bytes(before), Some(bytes)) if before == bytes => length,
            _ => Self::Invalid,
        })
    }
}

impl Coding {
    /// Empty list elements are ignored (RFC 9110 section 5.6.1.2), so the last coding of `chunked,` is chunked.
    fn and(self, value: &[u8]) -> Self {
        let last = elements(value).rfind(|element| !element.is_empty());
        match (last, self) {
            (_, Self::Invalid) => Self::Invalid,
            _ if elements(value).any(is_chunked_with_parameters) => Self::Invalid,
            (Some(coding), _) if coding.eq_ignore_ascii_case(b"chunked") => Self::ChunkedLast,
            (None, Self::ChunkedLast) => Self::ChunkedLast,
            _ => Self::OtherLast,
        }
    }
}

fn is_chunked_with_parameters(element: &[u8]) -> bool {
    let name = element.split(|byte| *byte == b';').next().unwrap_or_default();
    name.len() < element.len() && name.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// True if the value of a `Connection` field contains the option `close` (RFC 9112 section 9.6).
pub fn asks_to_close(value: &[u8]) -> bool {
    elements(value).any(|option| option.eq_ignore_ascii_case(b"close"))
}

/// The elements of a comma-separated value, trimmed; CR and LF of a folded line count as white space.
fn elements(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// Parses digits only; the standard parser would also accept a sign.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, byte| {
        let digit = char::from(*byte).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
