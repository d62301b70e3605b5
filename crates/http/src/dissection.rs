//! Splits a whole response, for checks and scripts, into its header fields and its body without framing.
//!
//! [`ResponseParser`](crate::ResponseParser) only counts bytes. Responses that a check or a script inspects are kept as
//! received and parsed a second time here, so that other runs do not pay for it.

use httparse::{Header, Status};

use crate::response::fields::{Coding, Fields};
use crate::response::head::MAX_FIELDS;

/// A header field: its name as the server wrote it, and its value.
pub type Field<'a> = Header<'a>;

/// Passes the fields of a well-formed response's final head and its body to `inspect`. Skips interim (1xx) responses. If the
/// body is incomplete, passes its available part; returns `None` if the head is incomplete.
///
/// `scratch` is memory for a chunked body.
pub fn dissect<R>(
    mut raw: &[u8],
    scratch: &mut Vec<u8>,
    inspect: impl FnOnce(&[Field<'_>], &[u8]) -> R,
) -> Option<R> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut head = httparse::Response::new(&mut fields);
        let mut parser = httparse::ParserConfig::default();
        parser.allow_obsolete_multiline_headers_in_responses(true);
        let Ok(Status::Complete(length)) = parser.parse_response(&mut head, raw) else { return None };
        raw = &raw[length..];
        if head.code.is_some_and(|code| code >= 200) {
            let body = body(head.headers, raw, scratch);
            return Some(match head.headers.iter().any(is_folded) {
                true => inspect_unfolded(head.headers, |fields| inspect(fields, body)),
                false => inspect(head.headers, body),
            });
        }
    }
}

/// True for a value that continues on another line.
fn is_folded(field: &Field<'_>) -> bool {
    field.value.contains(&b'\n')
}

/// Passes the fields with each line end in a value replaced by spaces (RFC 9112, section 5.2).
fn inspect_unfolded<R>(fields: &[Field<'_>], inspect: impl FnOnce(&[Field<'_>]) -> R) -> R {
    let flat = |byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte };
    let values: Vec<Vec<u8>> = fields.iter().map(|field| field.value.iter().map(flat).collect()).collect();
    let fields = fields.iter().zip(&values);
    inspect(&fields.map(|(field, value)| Field { name: field.name, value }).collect::<Vec<_>>())
}

/// Returns the body without framing. The body is chunked only if that is the last coding (RFC 9112 section 6.3); otherwise it
/// extends to the end of the connection and contains no framing.
fn body<'a>(fields: &[Field<'_>], raw: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let mut framing = Fields::default();
    fields.iter().for_each(|field| framing.read(field));
    if framing.coding != Coding::ChunkedLast {
        return raw;
    }
    scratch.clear();
    join_chunks(raw, scratch);
    scratch
}

fn join_chunks(mut raw: &[u8], out: &mut Vec<u8>) {
    loop {
        // httparse accepts at most sixteen digits, but any number of leading zeros is valid (RFC 9112, section 7.1).
        raw = without_zeros(raw);
        let Ok(Status::Complete((start, size))) = httparse::parse_chunk_size(raw) else { return };
        let end = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(start).min(raw.len());
        out.extend_from_slice(&raw[start..end]);
        // Each chunk is followed by a two-byte line end; the last chunk is empty.
        raw = raw.get(end + 2..).unwrap_or_default();
        if size == 0 {
            return;
        }
    }
}

/// Returns a chunk's size line without leading zeros.
fn without_zeros(raw: &[u8]) -> &[u8] {
    let zeros = raw.iter().take_while(|byte| **byte == b'0').count();
    &raw[zeros.saturating_sub(1)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_apart(raw: &[u8]) -> Option<(Vec<String>, Vec<u8>)> {
        dissect(raw, &mut Vec::new(), |fields, body| {
            (fields.iter().map(|field| field.name.to_owned()).collect(), body.to_vec())
        })
    }

    #[test]
    fn a_plain_body_is_shown_as_it_came() {
        let (fields, body) = taken_apart(b"HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 2\r\n\r\nok").unwrap();
        assert_eq!((fields.join(","), body.as_slice()), ("A,Content-Length".to_owned(), b"ok".as_slice()));
    }

    #[test]
    fn chunks_are_joined_and_interim_heads_passed_over() {
        let raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n";
        assert_eq!(taken_apart(raw).unwrap().1, b"abc0123456789");
        let zeros = "0".repeat(30);
        let raw = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{zeros}5\r\nhello\r\n{zeros}\r\n\r\n"
        );
        assert_eq!(taken_apart(raw.as_bytes()).unwrap().1, b"hello");
    }

    #[test]
    fn a_value_that_goes_on_in_another_line_is_shown_in_one() {
        let raw = b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n";
        let values = dissect(raw, &mut Vec::new(), |fields, _| {
            fields.iter().map(|field| String::from_utf8_lossy(field.value).into_owned()).collect::<Vec<_>>()
        });
        assert_eq!(values.unwrap(), ["a   b", "0"]);
    }

    #[test]
    fn a_body_whose_last_coding_is_not_chunked_is_shown_as_it_came() {
        let body = b"3\r\nabc\r\n0\r\n\r\n";
        let shown = |codings: &str| {
            let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {codings}\r\n\r\n");
            taken_apart(&[head.as_bytes(), body].concat()).unwrap().1
        };
        for codings in ["identity", "gzip", "chunked, gzip", "xchunked"] {
            assert_eq!(shown(codings), body, "{codings}");
        }
        for codings in ["chunked", "gzip, Chunked", "gzip, chunked,"] {
            assert_eq!(shown(codings), b"abc", "{codings}");
        }
    }

    #[test]
    fn a_response_cut_off_shows_what_there_is() {
        let raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
        assert_eq!(taken_apart(raw).unwrap().1, b"ab");
        assert_eq!(taken_apart(&raw[..20]), None);
    }
}
