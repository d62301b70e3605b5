//! Parses requests: a head once it is complete, and a body, which is read to its end and dropped.

use std::mem::MaybeUninit;

use httparse::{Header, Status};
use plimsoll_http::Chunked;

use crate::response::Framing;
use crate::route::{Action, Refusal, route};

/// Maximum length of a head in bytes. A longer one is refused with 431.
pub(crate) const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum number of fields. A head with more is refused with 431.
const MAX_FIELDS: usize = 128;

/// A request whose head is parsed. Its body is read afterwards, in pieces of any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub(crate) action: Action,
    pub(crate) framing: Framing,
    pub(crate) body: Body,
    pub(crate) expects_continue: bool,
}

impl Request {
    /// Parses the head at the start of the input; returns the request and the head's length, or `None` if it is incomplete.
    ///
    /// # Errors
    /// When the head is not a request of HTTP/1.0 or HTTP/1.1, is too long, or does not define where its body ends.
    pub fn parse(input: &[u8]) -> Result<Option<(Self, usize)>, Refusal> {
        let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; MAX_FIELDS];
        let mut head = httparse::Request::new(&mut []);
        let head_bytes = match head.parse_with_uninit_headers(input, &mut fields) {
            Ok(Status::Complete(bytes)) if bytes <= MAX_HEAD_BYTES => bytes,
            Ok(Status::Partial) if input.len() <= MAX_HEAD_BYTES => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::LongHead),
            Err(_) => return Err(Refusal::Malformed),
        };
        Ok(Some((Self::from_head(&head)?, head_bytes)))
    }

    /// True once the body is read to its end.
    pub fn is_read(&self) -> bool {
        self.body.is_read()
    }

    /// Skips the available part of the body; returns its length.
    ///
    /// # Errors
    /// When the body is announced as chunked and is not.
    pub fn skip_body(&mut self, input: &[u8]) -> Result<usize, Refusal> {
        self.body.skip(input)
    }

    fn from_head(head: &httparse::Request<'_, '_>) -> Result<Self, Refusal> {
        let mut fields = Fields::default();
        for field in &*head.headers {
            fields.observe(field)?;
        }
        let action = route(head.path.unwrap_or(""));
        let old_protocol = head.version == Some(0);
        let persistent = if old_protocol { fields.keep_alive } else { true };
        let framing = Framing {
            head_only: head.method == Some("HEAD"),
            old_protocol,
            keep_alive: persistent && !fields.close && action != Action::Close,
        };
        let expects_continue = fields.expects_continue && !old_protocol;
        Ok(Self { action, framing, body: fields.body()?, expects_continue })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// This many bytes are still to come.
    Sized(u64),
    Chunked(Chunked),
}

impl Body {
    pub(crate) fn is_read(&self) -> bool {
        match self {
            Self::Sized(left) => *left == 0,
            Self::Chunked(chunked) => chunked.is_done(),
        }
    }

    /// Skips the available part of the body; returns its length.
    pub(crate) fn skip(&mut self, input: &[u8]) -> Result<usize, Refusal> {
        match self {
            Self::Sized(left) => {
                let bytes = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= bytes as u64;
                Ok(bytes)
            }
            Self::Chunked(chunked) => chunked.advance(input, &mut 0).map_err(|_| Refusal::Malformed),
        }
    }
}

/// The fields that define the length of a message and what follows it.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
}

impl Fields {
    /// Reads a field. The length of its name alone rules out most fields.
    fn observe(&mut self, field: &Header<'_>) -> Result<(), Refusal> {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        match field.name.len() {
            10 if is("connection") => self.observe_connection(field.value),
            14 if is("content-length") => self.observe_length(field.value)?,
            17 if is("transfer-encoding") => self.observe_coding(field.value)?,
            6 if is("expect") => self.expects_continue = field.value.eq_ignore_ascii_case(b"100-continue"),
            _ => {}
        }
        Ok(())
    }

    fn observe_connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',') {
            let option = option.trim_ascii();
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Refuses two different lengths, because two readers could disagree on where the next request begins.
    fn observe_length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let length = digits.and_then(|text| text.parse().ok()).ok_or(Refusal::Malformed)?;
        match self.length.replace(length) {
            Some(other) if other != length => Err(Refusal::Malformed),
            _ => Ok(()),
        }
    }

    fn observe_coding(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(Refusal::TransferCoding);
        }
        self.chunked = true;
        Ok(())
    }

    fn body(&self) -> Result<Body, Refusal> {
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(Refusal::Malformed),
            (true, None) => Ok(Body::Chunked(Chunked::default())),
            (false, length) => Ok(Body::Sized(length.unwrap_or(0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Request {
        let (request, bytes) = Request::parse(head.as_bytes()).unwrap().unwrap();
        assert_eq!(bytes, head.len());
        request
    }

    fn refusal(head: &str) -> Refusal {
        Request::parse(head.as_bytes()).unwrap_err()
    }

    #[test]
    fn connections_stay_by_default_in_http_1_1_and_on_request_in_http_1_0() {
        let check =
            |head: &str, keep_alive| assert_eq!(parsed(head).framing.keep_alive, keep_alive, "{head}");
        check("GET /healthz HTTP/1.1\r\n\r\n", true);
        check("GET /healthz HTTP/1.1\r\nConnection: Close\r\n\r\n", false);
        check("GET /healthz HTTP/1.1\r\nConnection: te, close\r\n\r\n", false);
        check("GET /close HTTP/1.1\r\n\r\n", false);
        check("GET /healthz HTTP/1.0\r\n\r\n", false);
        check("GET /healthz HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n", true);
    }

    #[test]
    fn a_body_is_announced_by_length_or_by_chunks() {
        let body = |fields: &str| parsed(&format!("POST / HTTP/1.1\r\n{fields}\r\n")).body;
        assert_eq!(body(""), Body::Sized(0));
        assert_eq!(body("Content-Length: 12\r\n"), Body::Sized(12));
        assert_eq!(body("Content-Length: 12\r\ncontent-length: 12\r\n"), Body::Sized(12));
        assert_eq!(body("Transfer-Encoding: Chunked\r\n"), Body::Chunked(Chunked::default()));
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let check = |fields: &str, expected| {
            assert_eq!(refusal(&format!("POST / HTTP/1.1\r\n{fields}\r\n")), expected, "{fields}");
        };
        check("Content-Length: 1\r\nContent-Length: 2\r\n", Refusal::Malformed);
        check("Content-Length: +1\r\n", Refusal::Malformed);
        check("Content-Length: \r\n", Refusal::Malformed);
        check("Content-Length: 99999999999999999999\r\n", Refusal::Malformed);
        check("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", Refusal::Malformed);
        check("Transfer-Encoding: gzip\r\n", Refusal::TransferCoding);
        check("no colon\r\n", Refusal::Malformed);
        check(&"a: b\r\n".repeat(MAX_FIELDS + 1), Refusal::LongHead);
    }

    #[test]
    fn a_head_that_is_not_whole_is_waited_for_up_to_a_limit() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        for cut in 0..head.len() {
            assert_eq!(Request::parse(&head.as_bytes()[..cut]), Ok(None), "cut at {cut}");
        }
        let long = format!("GET / HTTP/1.1\r\nCookie: {}", "x".repeat(MAX_HEAD_BYTES));
        assert_eq!(refusal(&long), Refusal::LongHead);
        assert_eq!(refusal(&format!("{long}\r\n\r\n")), Refusal::LongHead);
    }

    #[test]
    fn a_body_ends_where_it_says_however_it_is_cut_and_what_follows_is_left() {
        let chunks = b"5;name=value\r\nhello\r\n1\r\n!\r\n0\r\nDigest: none\r\n\r\n";
        for (body, text) in [(Body::Sized(3), &b"abc"[..]), (Body::Chunked(Chunked::default()), chunks)] {
            for cut in 0..text.len() {
                let mut rest = body;
                assert_eq!((rest.skip(&text[..cut]), rest.is_read()), (Ok(cut), false), "cut at {cut}");
                let after = [&text[cut..], b"GET"].concat();
                assert_eq!((rest.skip(&after), rest.is_read()), (Ok(text.len() - cut), true), "cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_not_chunked_is_refused() {
        assert_eq!(Body::Chunked(Chunked::default()).skip(b"zz\r\n"), Err(Refusal::Malformed));
    }
}
