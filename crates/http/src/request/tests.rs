//! What goes on the wire, and what is refused before it can.

use super::{EncodeError, RequestHead, USER_AGENT};

const GET: RequestHead<'static> =
    RequestHead { method: "GET", host: "localhost:8080", target: "/a?b=c", headers: &[], body: b"" };

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn check(request: RequestHead<'_>, expected: &str) {
    let bytes = request.encode().expect("a valid request");
    let expected = expected.replace("{agent}", USER_AGENT);
    assert_eq!(String::from_utf8(bytes).expect("text"), expected);
}

#[test]
fn a_get_carries_host_and_agent_and_no_length() {
    check(GET, "GET /a?b=c HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: {agent}\r\n\r\n");
}

#[test]
fn a_body_follows_its_length_and_the_users_headers_keep_their_order() {
    let headers = headers(&[("B", "2"), ("A", "1"), ("B", "3")]);
    let request = RequestHead { method: "POST", headers: &headers, body: b"hello", ..GET };
    check(
        request,
        "POST /a?b=c HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: {agent}\r\nB: 2\r\nA: 1\r\nB: 3\r\n\
         Content-Length: 5\r\n\r\nhello",
    );
}

#[test]
fn methods_that_promise_a_body_say_when_it_is_empty() {
    for method in ["POST", "PUT", "PATCH"] {
        let bytes = RequestHead { method, ..GET }.encode().expect("valid");
        assert!(bytes.ends_with(b"\r\nContent-Length: 0\r\n\r\n"), "{method}");
    }
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        let bytes = RequestHead { method, ..GET }.encode().expect("valid");
        let text = String::from_utf8(bytes).expect("text");
        assert!(!text.contains("Content-Length"), "{method}");
    }
}

#[test]
fn what_the_user_sets_replaces_what_plimsoll_would_add() {
    let headers = headers(&[("host", "other"), ("USER-AGENT", "me"), ("content-length", "9")]);
    let request = RequestHead { method: "PUT", headers: &headers, body: b"short", ..GET };
    check(request, "PUT /a?b=c HTTP/1.1\r\nhost: other\r\nUSER-AGENT: me\r\ncontent-length: 9\r\n\r\nshort");
}

#[test]
fn a_body_the_user_framed_as_chunked_gets_no_length_beside_it() {
    let headers = headers(&[("Transfer-Encoding", "chunked")]);
    let request = RequestHead { method: "POST", headers: &headers, body: b"0\r\n\r\n", ..GET };
    let text = String::from_utf8(request.encode().expect("valid")).expect("text");
    assert!(!text.contains("Content-Length"));
    assert!(text.ends_with("chunked\r\n\r\n0\r\n\r\n"));
}

#[test]
fn a_method_that_is_no_token_is_refused() {
    for method in ["", "GET /", "G\r\nT", "GE\0T", "GÉT"] {
        let error = RequestHead { method, ..GET }.encode();
        let method = method.to_owned();
        assert_eq!(error, Err(EncodeError::Method { method }));
    }
}

#[test]
fn a_target_or_host_that_would_break_its_line_is_refused() {
    for text in ["", "/a b", "/a\r\nX: y", "/a\n", "/\0", "/é"] {
        let target = text.to_owned();
        let error = RequestHead { target: text, ..GET }.encode();
        assert_eq!(error, Err(EncodeError::Target { target }));
        let host = text.to_owned();
        let error = RequestHead { host: text, ..GET }.encode();
        assert_eq!(error, Err(EncodeError::Host { host }));
    }
}

#[test]
fn a_header_that_would_inject_another_is_refused() {
    for name in ["", "A B", "A:", "A\r\nB", "A\0"] {
        let headers = headers(&[(name, "x")]);
        let error = RequestHead { headers: &headers, ..GET }.encode();
        let name = name.to_owned();
        assert_eq!(error, Err(EncodeError::HeaderName { name }));
    }
    for (value, byte) in [("a\rb", '\r'), ("a\nB: c", '\n'), ("a\0", '\0')] {
        let headers = headers(&[("X", value)]);
        let error = RequestHead { headers: &headers, ..GET }.encode();
        let name = "X".to_owned();
        assert_eq!(error, Err(EncodeError::HeaderValue { name, byte, at: 1 }));
    }
}

#[test]
fn a_refused_header_value_is_not_printed() {
    let headers = headers(&[("Authorization", "secret\r\n")]);
    let error = RequestHead { headers: &headers, ..GET }.encode();
    let text = error.expect_err("refused").to_string();
    assert!(text.contains("Authorization") && text.contains("byte 6"));
    assert!(!text.contains("secret"));
}
