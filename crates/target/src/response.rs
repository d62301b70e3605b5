//! Encodes responses.

use std::fmt::Display;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framing {
    /// True for a HEAD request, whose response has no body.
    pub(crate) head_only: bool,
    /// True for an HTTP/1.0 client: no chunks, and the head must state whether the connection stays open.
    pub(crate) old_protocol: bool,
    pub(crate) keep_alive: bool,
}

/// The interim response for a client that waits before it sends a body.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A response, encoded for the usual client, which speaks HTTP/1.1, reads the body and stays connected. For other clients the
/// head is completed when it is written. Cloning copies no bytes.
#[derive(Clone)]
pub(crate) struct Response {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) head_bytes: usize,
}

impl Response {
    /// A response with a JSON body, which is dropped for 204, 205 and 304, because these cannot have one.
    pub(crate) fn json(status: u16, body: &[u8]) -> Self {
        Self::new(status, "application/json", body)
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body.as_bytes())
    }

    /// A JSON response with an error message. The message must not need escapes.
    pub(crate) fn error(status: u16, message: impl Display) -> Self {
        Self::json(status, format!(r#"{{"error":"{message}"}}"#).as_bytes())
    }

    fn new(status: u16, content_type: &str, body: &[u8]) -> Self {
        match status {
            204 | 304 => return Self::from_parts(status, "", &[]),
            205 => return Self::from_parts(status, "Content-Length: 0\r\n", &[]),
            _ => {}
        }
        let length = body.len();
        let fields = format!("Content-Type: {content_type}\r\nContent-Length: {length}\r\n");
        Self::from_parts(status, &fields, body)
    }

    /// A successful response whose body consists of these chunks, none of them empty.
    pub(crate) fn chunked(chunks: &[&[u8]]) -> Self {
        let mut body = Vec::new();
        for chunk in chunks {
            body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            body.extend_from_slice(chunk);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\n");
        Self::from_parts(200, "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n", &body)
    }

    fn from_parts(status: u16, fields: &str, body: &[u8]) -> Self {
        let mut bytes = format!("HTTP/1.1 {status} {}\r\n{fields}\r\n", reason(status)).into_bytes();
        let head_bytes = bytes.len();
        bytes.extend_from_slice(body);
        Self { bytes: Arc::new(bytes), head_bytes }
    }

    /// True if [`Response::bytes`] can be sent unchanged.
    pub(crate) fn is_usual(framing: Framing) -> bool {
        framing.keep_alive && !framing.old_protocol && !framing.head_only
    }

    /// Writes the head for this client. It states whether the connection stays open if that is not the default.
    pub(crate) fn render_head(&self, framing: Framing, answers: &mut Vec<u8>) {
        const LINE_END_BYTES: usize = 2;
        answers.extend_from_slice(&self.bytes[..self.head_bytes - LINE_END_BYTES]);
        answers.extend_from_slice(match (framing.keep_alive, framing.old_protocol) {
            (false, _) => b"Connection: close\r\n",
            (true, true) => b"Connection: keep-alive\r\n",
            (true, false) => b"",
        });
        answers.extend_from_slice(b"\r\n");
    }
}

/// The usual reason phrase of a status; clients ignore it (RFC 9112, section 4).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unnamed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(response: &Response, framing: Framing) -> String {
        let mut bytes = Vec::new();
        response.render_head(framing, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_usual_answer_is_ready_as_bytes() {
        let text = String::from_utf8(Response::json(200, b"{}").bytes.to_vec()).unwrap();
        assert_eq!(text, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    }

    #[test]
    fn the_head_says_what_becomes_of_the_connection_where_it_is_not_the_default() {
        let response = Response::json(200, b"{}");
        let usual = Framing { head_only: false, old_protocol: false, keep_alive: true };
        assert!(!head(&response, usual).contains("Connection"));
        let last = Framing { keep_alive: false, ..usual };
        assert!(head(&response, last).ends_with("\r\nConnection: close\r\n\r\n"));
        let old = Framing { old_protocol: true, ..usual };
        assert!(head(&response, old).ends_with("\r\nConnection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn chunks_carry_their_length_in_hex() {
        let response = Response::chunked(&[b"a", &[b'b'; 16]]);
        assert!(response.bytes.ends_with(b"\r\n\r\n1\r\na\r\n10\r\nbbbbbbbbbbbbbbbb\r\n0\r\n\r\n"));
    }
}
