use super::*;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn refusal(text: &str) -> String {
    let message = depth(text.as_bytes()).unwrap_err().to_string();
    let words =
        message.strip_prefix("the script's request() did not return whole HTTP/1.1 requests: ").unwrap();
    words.strip_suffix(" of its text").unwrap().to_owned()
}

#[test]
fn requests_are_counted_whatever_their_bodies() {
    let sized = "POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello";
    let chunked = "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n";
    assert_eq!(depth(GET.as_bytes()).unwrap(), 1);
    assert_eq!(depth(format!("{GET}{sized}{chunked}{GET}").as_bytes()).unwrap(), 4);
}

#[test]
fn bare_line_feeds_and_empty_lines_between_requests_are_read_over() {
    assert_eq!(depth(b"\r\nGET / HTTP/1.1\n\n\r\nGET / HTTP/1.0\n\n\n").unwrap(), 2);
}

#[test]
fn chunks_override_a_length_in_either_order() {
    let both = "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n";
    let turned = "Transfer-Encoding: chunked\r\nContent-Length: 99\r\n";
    for fields in [both, turned] {
        let text = format!("POST / HTTP/1.1\r\n{fields}\r\n0\r\n\r\n");
        assert_eq!(depth(text.as_bytes()).unwrap(), 1);
    }
}

#[test]
fn a_request_cut_short_is_refused_at_its_end() {
    assert_eq!(refusal(""), "incomplete request at 1:1");
    assert_eq!(refusal("GET / HTTP/1.1\r\nHost: a\r\n"), "incomplete request at 3:1");
    assert_eq!(refusal("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel"), "incomplete request at 4:4");
    assert_eq!(refusal(&format!("{GET}GET /")), "incomplete request at 4:6");
}

#[test]
fn what_is_no_request_is_refused_where_it_stands() {
    assert_eq!(refusal("{} / HTTP/1.1\r\n\r\n"), "invalid HTTP method at 1:1");
    assert_eq!(refusal("GET / HTTP/2\r\n\r\n"), "invalid HTTP version at 1:7");
    assert_eq!(refusal("GET /a b HTTP/1.1\r\n\r\n"), "invalid HTTP version at 1:8");
    assert_eq!(refusal("GET / HTTP/1.1\r\nHost a\r\n\r\n"), "invalid header token at 2:1");
    assert_eq!(refusal("GET / HTTP/1.1\nContent-Length: -1\n\n"), "invalid content-length header at 2:1");
}

#[test]
fn a_body_without_a_length_is_read_as_the_next_request_and_refused() {
    assert_eq!(refusal("POST / HTTP/1.1\r\n\r\n{\"a\": 1}"), "invalid HTTP method at 3:1");
}

#[test]
fn chunks_that_lie_about_their_size_are_refused() {
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(refusal(&format!("{head}zz\r\n")), "invalid character in chunk size header at 4:1");
    assert_eq!(refusal(&format!("{head}2\r\nhello\r\n0\r\n\r\n")), "chunk longer than its size at 6:1");
    assert_eq!(refusal(&format!("{head}ffffffffffffffff\r\nhello")), "incomplete request at 5:6");
}
