//! What is sent over each version of HTTP, and what is refused before it can be.

use std::convert::Infallible;

use super::*;
use crate::h2::hpack::Decoder;

type Constant = Request<'static, &'static [u8]>;

fn request(method: &'static str, headers: &[(&'static str, &'static str)], body: &'static str) -> Constant {
    Request {
        method,
        secure: false,
        authority: "a.test:8080".to_owned(),
        path: b"/a?b=c",
        headers: headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect(),
        body: body.as_bytes(),
        user_agent: Some("me/1"),
    }
}

fn get(headers: &[(&'static str, &'static str)]) -> Constant {
    request("GET", headers, "")
}

/// A request as it is sent, its head as text in both versions.
fn sent(request: Constant, version: Version) -> String {
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let encoded = request.encode(version).unwrap();
    let head_bytes = encoded.render(&mut (), &mut scratch, &mut out);
    if let Some((constant, length)) = encoded.constant() {
        assert_eq!((constant, length), (out.clone(), head_bytes), "a constant request is rendered to itself");
    }
    let (head, body) = out.split_at(head_bytes);
    let head = match version {
        Version::Http1 => String::from_utf8(head.to_vec()).unwrap().replace("\r\n", "\n"),
        Version::Http2 => decoded(head),
    };
    head + std::str::from_utf8(body).unwrap()
}

fn decoded(block: &[u8]) -> String {
    let mut lines = String::new();
    let line = |name: &[u8], value: &[u8]| {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        lines += &format!("{}: {}\n", text(name), text(value));
    };
    Decoder::default().decode(block, line).unwrap();
    lines + "\n"
}

/// The lines of the user's headers and of those that were added, the same in both versions.
fn fields(request: Constant) -> Vec<String> {
    let lines = |version, skipped: usize| {
        let text = sent(request.clone(), version).to_lowercase();
        let head = text.split("\n\n").next().unwrap().to_owned();
        head.lines().skip(skipped).map(str::to_owned).collect::<Vec<_>>()
    };
    let (http1, http2) = (lines(Version::Http1, 2), lines(Version::Http2, 4));
    assert_eq!(http1, http2);
    http1
}

fn refused(request: Constant, version: Version) -> EncodeError<InvalidByte> {
    request.encode(version).unwrap_err()
}

#[test]
fn a_request_is_text_or_a_header_block() {
    let post = || request("POST", &[("B", "2"), ("A", "1"), ("B", "3")], "hello");
    assert_eq!(
        sent(post(), Version::Http1),
        "POST /a?b=c HTTP/1.1\nHost: a.test:8080\nUser-Agent: me/1\nB: 2\nA: 1\nB: 3\nContent-Length: 5\n\nhello"
    );
    assert_eq!(
        sent(post(), Version::Http2),
        ":method: POST\n:scheme: http\n:authority: a.test:8080\n:path: /a?b=c\nuser-agent: me/1\nb: 2\na: 1\nb: 3\n\
         content-length: 5\n\nhello"
    );
}

#[test]
fn what_the_static_table_has_is_sent_as_an_index() {
    let request = Request { secure: true, path: &b"/"[..], ..get(&[]) };
    let (block, _) = request.encode(Version::Http2).unwrap().constant().unwrap();
    assert!(block.starts_with(b"\x82\x87\x01\x0ba.test:8080\x84"), "{block:x?}");
}

#[test]
fn methods_that_promise_a_body_say_when_it_is_empty() {
    for method in ["POST", "PUT", "PATCH"] {
        assert_eq!(fields(request(method, &[], "")), ["user-agent: me/1", "content-length: 0"], "{method}");
    }
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        assert_eq!(fields(request(method, &[], "")), ["user-agent: me/1"], "{method}");
    }
    assert_eq!(fields(request("DELETE", &[], "abc")), ["user-agent: me/1", "content-length: 3"]);
}

#[test]
fn what_the_user_sets_replaces_what_is_added() {
    let own = [("USER-AGENT", "own"), ("content-length", "9"), ("x", "1")];
    assert_eq!(fields(request("PUT", &own, "short")), ["user-agent: own", "content-length: 9", "x: 1"]);
    let silent = Request { user_agent: None, ..get(&[]) };
    assert_eq!(fields(silent), [""; 0]);
}

#[test]
fn the_users_host_replaces_that_of_the_url() {
    let request = || get(&[("x", "1"), ("Host", "other")]);
    assert_eq!(
        sent(request(), Version::Http1),
        "GET /a?b=c HTTP/1.1\nUser-Agent: me/1\nx: 1\nHost: other\n\n"
    );
    let expected =
        ":method: GET\n:scheme: http\n:authority: other\n:path: /a?b=c\nuser-agent: me/1\nx: 1\n\n";
    assert_eq!(sent(request(), Version::Http2), expected);
}

#[test]
fn a_body_the_user_framed_as_chunked_gets_no_length() {
    let request = request("POST", &[("Transfer-Encoding", "chunked")], "0\r\n\r\n");
    let text = sent(request, Version::Http1);
    assert!(text.ends_with("\nTransfer-Encoding: chunked\n\n0\r\n\r\n"), "{text}");
}

#[test]
fn headers_of_http_1_connections_are_left_out_or_refused_in_http_2() {
    let left_out =
        [("Connection", "close"), ("Keep-Alive", "5"), ("Proxy-Connection", "x"), ("TE", " trailers ")];
    let text = sent(get(&left_out), Version::Http2);
    assert!(text.ends_with("user-agent: me/1\nte: trailers\n\n"), "{text}");
    assert!(sent(get(&left_out), Version::Http1).contains("Connection: close\nKeep-Alive: 5\n"));
    for (name, value) in [("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("TE", "gzip")] {
        let expected = EncodeError::ConnectionHeader { name: name.to_owned() };
        assert_eq!(refused(get(&[(name, value)]), Version::Http2), expected);
    }
}

#[test]
fn values_of_http_2_have_no_space_around_them() {
    let text = sent(get(&[("Accept", " text/html "), ("x", "")]), Version::Http2);
    assert!(text.ends_with("\naccept: text/html\nx: \n\n"), "{text}");
}

#[test]
fn a_method_that_is_no_token_is_refused() {
    for method in ["", "GET /", "G\r\nT", "GE\0T", "GÉT"] {
        let expected = EncodeError::Method { method: method.to_owned() };
        assert_eq!(refused(request(method, &[], ""), Version::Http1), expected);
        assert_eq!(refused(request(method, &[], ""), Version::Http2), expected);
    }
}

#[test]
fn a_path_or_host_that_would_break_its_line_is_refused() {
    for version in [Version::Http1, Version::Http2] {
        for (text, byte, at) in
            [("/a b", b' ', 2), ("/a\r\nX: y", b'\r', 2), ("/a\n", b'\n', 2), ("/\0", 0, 1), ("/é", 0xc3, 1)]
        {
            let source = InvalidByte { byte, at };
            let expected = EncodeError::Value { field: HeadField::Path, source };
            assert_eq!(refused(Request { path: text.as_bytes(), ..get(&[]) }, version), expected);
            let host = text.to_owned();
            let error = refused(Request { authority: host.clone(), ..get(&[]) }, version);
            assert_eq!(error, EncodeError::Host { host });
        }
        let empty = Request { path: &b""[..], ..get(&[]) };
        assert_eq!(refused(empty, version), EncodeError::Empty { field: HeadField::Path });
    }
    let expected = EncodeError::Empty { field: HeadField::Host };
    assert_eq!(refused(get(&[("Host", "")]), Version::Http2), expected);
}

#[test]
fn a_header_that_would_inject_another_is_refused() {
    for name in ["", "A B", "A:", "A\r\nB", "A\0", ":path"] {
        let expected = EncodeError::HeaderName { name: name.to_owned() };
        assert_eq!(refused(get(&[(name, "x")]), Version::Http1), expected);
        assert_eq!(refused(get(&[(name, "x")]), Version::Http2), expected);
    }
    for (value, byte) in [("a\rb", b'\r'), ("a\nB: c", b'\n'), ("a\0", 0)] {
        let (field, source) = (HeadField::Header("X".to_owned()), InvalidByte { byte, at: 1 });
        let expected = EncodeError::Value { field, source };
        assert_eq!(refused(get(&[("X", value)]), Version::Http1), expected);
        assert_eq!(refused(get(&[("X", value)]), Version::Http2), expected);
    }
}

#[test]
fn a_refused_value_is_not_printed() {
    let error = refused(get(&[("Authorization", "secret\r\n")]), Version::Http1).to_string();
    assert_eq!(error, "header Authorization: it holds byte 0x0d at offset 6; remove CR, LF and NUL from it");
}

/// Parts in the form of text that is the same each time, or text repeated as often as a counter says, which counts
/// the renderings.
#[derive(Clone)]
enum Repeated {
    Constant(&'static str),
    Rendered(&'static str),
}

/// The most repetitions.
const MAX_COUNT: usize = 300;

impl Part for Repeated {
    type Values = usize;
    type Misfit = Infallible;

    fn constant(&self) -> Option<&[u8]> {
        match self {
            Self::Constant(text) => Some(text.as_bytes()),
            Self::Rendered(_) => None,
        }
    }

    fn max_bytes(&self) -> usize {
        let (Self::Constant(text) | Self::Rendered(text)) = self;
        text.len() * MAX_COUNT
    }

    fn check(&self, _: fn(u8) -> bool) -> Result<(), Infallible> {
        Ok(())
    }

    fn render(&self, count: &mut usize, out: &mut Vec<u8>) {
        let (Self::Constant(text) | Self::Rendered(text)) = self;
        let times = if matches!(self, Self::Rendered(_)) { *count } else { 1 };
        (0..times).for_each(|_| out.extend_from_slice(text.as_bytes()));
    }
}

fn rendered(count: usize, version: Version) -> String {
    let request = Request {
        method: "POST",
        secure: false,
        authority: "a".to_owned(),
        path: Repeated::Constant("/"),
        headers: vec![("x", Repeated::Rendered(" y ")), ("host", Repeated::Rendered("h"))],
        body: Repeated::Rendered("ab"),
        user_agent: None,
    };
    let encoded = request.encode(version).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((encoded.constant(), encoded.parts().count()), (None, 3));
    let (mut out, mut scratch, mut count) = (Vec::new(), Vec::new(), count);
    let head_bytes = encoded.render(&mut count, &mut scratch, &mut out);
    let (head, body) = out.split_at(head_bytes);
    let head = match version {
        Version::Http1 => String::from_utf8(head.to_vec()).unwrap(),
        Version::Http2 => decoded(head),
    };
    head + std::str::from_utf8(body).unwrap()
}

#[test]
fn parts_are_rendered_with_the_length_of_the_body() {
    assert_eq!(
        rendered(2, Version::Http1),
        "POST / HTTP/1.1\r\nx:  y  y \r\nhost: hh\r\nContent-Length: 4\r\n\r\nabab"
    );
    for count in [1, 2, 42, 43, 126, 127, 128, MAX_COUNT] {
        let (value, host, body) = (" y ".repeat(count), "h".repeat(count), "ab".repeat(count));
        let (value, length) = (value.trim(), body.len());
        let expected = format!(
            ":method: POST\n:scheme: http\n:authority: {host}\n:path: /\nx: {value}\ncontent-length: {length}\n\n{body}"
        );
        assert_eq!(rendered(count, Version::Http2), expected);
    }
    assert!(rendered(0, Version::Http2).ends_with("x: \ncontent-length: 0\n\n"));
}

#[test]
fn rendering_allocates_nothing_once_buffers_have_grown() {
    let request = |version| {
        let part = || Repeated::Rendered("value ");
        let (path, headers, body) = (Repeated::Constant("/"), vec![("x", part())], part());
        let authority = "a".to_owned();
        Request { method: "PUT", secure: true, authority, path, headers, body, user_agent: None }
            .encode(version)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    for encoded in [request(Version::Http1), request(Version::Http2)] {
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        encoded.render(&mut 0, &mut scratch, &mut out);
        let allocations = allocation_counter::measure(|| {
            for mut count in 0..MAX_COUNT {
                out.clear();
                encoded.render(&mut count, &mut scratch, &mut out);
            }
        });
        assert_eq!(allocations.count_total, 0);
    }
}
