//! The header blocks of requests.

use plimsoll_http::EncodeError;
use plimsoll_http::h2::{RequestHead, push_field};

use super::hpack_check::fields;

const GET: RequestHead<'static> = RequestHead {
    method: "GET",
    scheme: "https",
    authority: "example.com",
    path: "/a?b=c",
    headers: &[],
    body_bytes: Some(0),
};

/// The fields that a head says, `name: value`, without the agent.
fn said(head: &RequestHead<'_>) -> Vec<String> {
    let (fields, end) = fields(&head.encode().unwrap());
    assert_eq!(end, Ok(()));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let lines = fields.into_iter().map(|(name, value)| format!("{}: {}", text(name), text(value)));
    lines.filter(|line| !line.starts_with("user-agent: plimsoll/")).collect()
}

fn headers(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn pseudo_fields_come_first_and_the_users_headers_in_their_order_and_in_lower_case() {
    let headers = headers(&[("X-B", "1"), ("Accept", " text/html "), ("x-a", "")]);
    let expected = [
        ":method: GET",
        ":scheme: https",
        ":authority: example.com",
        ":path: /a?b=c",
        "x-b: 1",
        "accept: text/html",
        "x-a: ",
    ];
    assert_eq!(said(&RequestHead { headers: &headers, ..GET }), expected);
}

#[test]
fn what_the_static_table_has_is_sent_as_an_index() {
    let head = RequestHead { scheme: "http", path: "/", ..GET };
    assert!(head.encode().unwrap().starts_with(b"\x82\x86\x01\x0bexample.com\x84"));
}

#[test]
fn the_agent_is_plimsoll_unless_the_user_says_otherwise() {
    let agent = |head: &RequestHead<'_>| {
        let (fields, _) = fields(&head.encode().unwrap());
        let agents = fields.into_iter().filter(|(name, _)| name == b"user-agent");
        agents.map(|(_, value)| String::from_utf8(value).unwrap()).collect::<Vec<_>>()
    };
    assert!(agent(&GET)[0].starts_with("plimsoll/"));
    let own = headers(&[("User-Agent", "mine")]);
    assert_eq!(agent(&RequestHead { headers: &own, ..GET }), ["mine"]);
}

#[test]
fn a_length_is_said_where_there_is_or_could_be_a_body() {
    let length = |method, body_bytes, own: &[(&str, &str)]| {
        let headers = headers(own);
        let lines = said(&RequestHead { method, body_bytes, headers: &headers, ..GET });
        lines
            .iter()
            .filter_map(|line| line.strip_prefix("content-length: ").map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(length("GET", Some(0), &[]), [""; 0]);
    assert_eq!(length("GET", Some(3), &[]), ["3"]);
    assert_eq!(length("POST", Some(0), &[]), ["0"]);
    assert_eq!(length("POST", None, &[]), [""; 0], "not known yet");
    assert_eq!(length("POST", Some(3), &[("Content-Length", "5")]), ["5"]);
}

#[test]
fn the_users_host_becomes_the_authority() {
    let headers = headers(&[("Host", "other.example:8080")]);
    let said = said(&RequestHead { headers: &headers, ..GET });
    assert!(said.contains(&":authority: other.example:8080".to_owned()));
    assert_eq!(said.len(), 4, "and is not sent twice");
}

#[test]
fn headers_of_http_1_connections_are_left_out_or_refused() {
    let left_out = headers(&[("Connection", "keep-alive"), ("Keep-Alive", "5"), ("Proxy-Connection", "x")]);
    assert_eq!(said(&RequestHead { headers: &left_out, ..GET }).len(), 4);
    for (name, value) in [("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("TE", "gzip")] {
        let headers = headers(&[(name, value)]);
        let error = RequestHead { headers: &headers, ..GET }.encode().unwrap_err();
        assert_eq!(error, EncodeError::ConnectionHeader { name: name.to_owned() });
    }
    let trailers = headers(&[("TE", "trailers")]);
    assert_eq!(said(&RequestHead { headers: &trailers, ..GET })[4], "te: trailers");
}

#[test]
fn parts_that_cannot_be_sent_are_refused_by_name() {
    let refused = |head: RequestHead<'_>| head.encode().unwrap_err().to_string();
    assert!(refused(RequestHead { method: "GE T", ..GET }).contains("method"));
    assert!(refused(RequestHead { authority: "a b", ..GET }).contains("host"));
    assert!(refused(RequestHead { path: "/ü", ..GET }).contains("target"));
    for (name, value) in
        [("a b", "c"), (":path", "/x"), ("", "c"), ("a", "b\r\nc"), ("a", "b\n"), ("a", "\0")]
    {
        let headers = headers(&[(name, value)]);
        assert!(RequestHead { headers: &headers, ..GET }.encode().is_err(), "{name:?}: {value:?}");
    }
}

#[test]
fn a_field_rendered_later_is_appended_or_nothing_is() {
    let mut block = Vec::new();
    push_field(&mut block, ":path", "/item/7").unwrap();
    push_field(&mut block, "X-Request-Id", "42").unwrap();
    push_field(&mut block, &"x".repeat(300), &"y".repeat(300)).unwrap();
    let before = block.clone();
    for (name, value) in [("a", "b\r\n"), (":path", ""), (":status", "200"), ("upgrade", "x")] {
        push_field(&mut block, name, value).unwrap_err();
        assert_eq!(block, before);
    }
    let (fields, end) = fields(&block);
    assert_eq!((fields.len(), end), (3, Ok(())));
    assert_eq!(fields[1], (b"x-request-id".to_vec(), b"42".to_vec()));
    assert_eq!(fields[2].1.len(), 300);
}
