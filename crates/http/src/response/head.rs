//! Finds the end of a response head, and parses what it says about the message.
//!
//! A head is parsed only once it is complete. An error in its first part is therefore reported when the head is complete,
//! exactly as if it had arrived in one piece; only bytes that cannot begin HTTP/1 are refused at once.

use std::mem::MaybeUninit;

use super::fields::{Coding, Fields, Length};
use super::malformed::Malformed;

/// Maximum length of a head in bytes, empty line included.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum number of header fields of one head.
pub(crate) const MAX_FIELDS: usize = 256;
/// The beginning of every head, whatever its minor version.
const START: &[u8] = b"HTTP/1.";

/// The property of the request that changes how its response is framed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// The response has the body that its head declares.
    #[default]
    Body,
    /// The request was HEAD: the response ends with its head, whatever length that declares.
    NoBody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) keep_alive: bool,
    pub(super) framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

impl Head {
    /// True for 1xx: the final response is still to come.
    pub(super) const fn is_interim(&self) -> bool {
        self.status < 200
    }
}

/// Parses the head at the beginning of `input`; returns it and its length in bytes, or `None` if it is incomplete.
pub(super) fn scan(input: &[u8], expect: Expect) -> Result<Option<(Head, usize)>, Malformed> {
    let window = &input[..input.len().min(MAX_HEAD_BYTES)];
    if !window.starts_with(START) {
        return check_incomplete(window).map(|()| None);
    }
    let mut headers = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let mut parser = httparse::ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    match parser.parse_response_with_uninit_headers(&mut parsed, window, &mut headers) {
        Ok(httparse::Status::Complete(len)) => Ok(Some((interpret(&parsed, expect)?, len))),
        unread => match terminator(window, 0) {
            None => check_incomplete(window).map(|()| None),
            Some(_) if unread == Err(httparse::Error::TooManyHeaders) => Err(Malformed::TooManyFields),
            Some(_) => Err(Malformed::Head),
        },
    }
}

/// Refuses an incomplete head that can never become valid: not HTTP/1, or already too long.
pub(super) fn check_incomplete(bytes: &[u8]) -> Result<(), Malformed> {
    let len = bytes.len().min(START.len());
    if bytes[..len] != START[..len] {
        Err(Malformed::Head)
    } else if bytes.len() >= MAX_HEAD_BYTES {
        Err(Malformed::HeadTooLarge)
    } else {
        Ok(())
    }
}

/// Returns where the head ends: after an empty line; line ends may be bare LF (RFC 9112 section 2.2). The search for the line
/// before it starts at `from`.
pub(super) fn terminator(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'\n', &bytes[from..]).find_map(|at| {
        let next = from + at + 1;
        match &bytes[next..] {
            [b'\n', ..] => Some(next + 1),
            [b'\r', b'\n', ..] => Some(next + 2),
            _ => None,
        }
    })
}

fn interpret(parsed: &httparse::Response<'_, '_>, expect: Expect) -> Result<Head, Malformed> {
    let status = parsed.code.unwrap_or(0);
    match status {
        ..=99 => return Err(Malformed::Head),
        101 => return Err(Malformed::Upgrade),
        _ => {}
    }
    let mut fields = Fields::default();
    parsed.headers.iter().for_each(|header| fields.read(header));
    let framing = framing(status, expect, &fields)?;
    let persists = if parsed.version == Some(1) {
        !fields.says_close
    } else {
        fields.says_keep_alive && !fields.says_close && fields.coding == Coding::Absent
    };
    Ok(Head { status, keep_alive: persists && framing != Framing::UntilClose, framing })
}

/// Applies RFC 9112 section 6.3, in its order. HTTP/1.0 has no transfer codings: a response that sends them is still framed by
/// them, but its connection is not used again (section 6.1).
fn framing(status: u16, expect: Expect, fields: &Fields) -> Result<Framing, Malformed> {
    if expect == Expect::NoBody || matches!(status, 100..=199 | 204 | 304) {
        return Ok(Framing::Length(0));
    }
    match (fields.coding, fields.length) {
        (Coding::ChunkedLast, _) => Ok(Framing::Chunked),
        (Coding::Invalid, _) => Err(Malformed::Framing),
        (Coding::OtherLast, _) | (Coding::Absent, Length::Absent) => Ok(Framing::UntilClose),
        (Coding::Absent, Length::Bytes(bytes)) => Ok(Framing::Length(bytes)),
        (Coding::Absent, Length::Invalid) => Err(Malformed::Framing),
    }
}
