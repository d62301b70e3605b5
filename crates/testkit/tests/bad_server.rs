//! Each script does what it says, as a plain client sees it.

#![expect(clippy::unwrap_used, reason = "a test that cannot talk to the server has to fail")]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use plimsoll_testkit::{BadServer, Script, refused_address};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const HALF: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const BODY: &str = "{\"status\":\"ok\"}";

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Closed,
    Reset,
    Silence,
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Reads to the end of the connection, or until nothing comes any more.
fn read(stream: &mut TcpStream) -> (String, End) {
    let mut bytes = Vec::new();
    let end = match stream.read_to_end(&mut bytes) {
        Ok(_) => End::Closed,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => End::Reset,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            End::Silence
        }
    };
    (String::from_utf8(bytes).unwrap(), end)
}

/// Sends the request and closes its own side, so that a server that keeps alive ends too.
fn exchange(script: Script, request: &[u8]) -> (String, End) {
    let server = BadServer::start(script);
    let mut stream = connect(server.address());
    stream.write_all(request).unwrap();
    // It fails if the server has reset the connection already, and that is then seen below.
    stream.shutdown(std::net::Shutdown::Write).ok();
    read(&mut stream)
}

/// What comes on a connection that stays open: up to these last bytes, and then nothing for a moment.
fn listen(script: Script, last: &str) -> (String, End) {
    let server = BadServer::start(script);
    let mut stream = connect(server.address());
    stream.write_all(REQUEST).unwrap();
    let mut text = String::new();
    while !text.ends_with(last) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (more, end) = read(&mut stream);
    (text + &more, end)
}

fn body_of(text: &str) -> &str {
    text.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn a_correct_server_keeps_alive_and_answers_pipelined_requests() {
    let (text, end) = exchange(Script::Correct { body: b"hello".to_vec() }, &REQUEST.repeat(3));
    assert_eq!((text.matches("HTTP/1.1 200 ").count(), text.matches("\r\n\r\nhello").count()), (3, 3));
    assert_eq!(end, End::Closed);
    let post = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcdeHEAD / HTTP/1.1\r\n\r\n";
    let (text, _) = exchange(Script::Correct { body: b"hello".to_vec() }, post);
    assert_eq!((text.matches("Content-Length: 5").count(), text.matches("hello").count()), (2, 1));
}

#[test]
fn connections_and_requests_are_counted() {
    let server = BadServer::start(Script::Correct { body: Vec::new() });
    assert_eq!((server.connections(), server.requests()), (0, 0));
    for _ in 0..2 {
        let mut stream = connect(server.address());
        stream.write_all(&REQUEST.repeat(2)).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        read(&mut stream);
    }
    assert_eq!((server.connections(), server.requests()), (2, 4));
}

#[test]
fn statuses_come_in_turn_over_all_connections() {
    let server = BadServer::start(Script::Statuses(vec![200, 503, 204]));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut stream = connect(server.address());
        stream.write_all(&REQUEST.repeat(2)).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let text = read(&mut stream).0;
        seen.extend(
            text.match_indices("HTTP/1.1 ").map(|(at, line)| text[at + line.len()..][..3].to_owned()),
        );
    }
    assert_eq!(seen, ["200", "503", "204", "200"]);
}

#[test]
fn http_1_0_closes_after_its_answer() {
    let (text, end) = exchange(Script::Http10, REQUEST);
    assert!(text.starts_with("HTTP/1.0 200 "));
    assert_eq!((body_of(&text), end), (BODY, End::Closed));
}

#[test]
fn a_close_delimited_answer_has_no_length() {
    let (text, end) = exchange(Script::CloseDelimited, REQUEST);
    assert!(!text.contains("Length") && !text.contains("chunked"));
    assert_eq!((body_of(&text), end), (BODY, End::Closed));
}

#[test]
fn an_interim_answer_comes_before_the_final_one() {
    let (text, _) = exchange(Script::Continue100, REQUEST);
    assert!(text.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "));
}

#[test]
fn one_byte_pieces_make_up_a_correct_answer() {
    let server = BadServer::start(Script::OneBytePieces);
    let mut stream = connect(server.address());
    stream.write_all(REQUEST).unwrap();
    let (mut text, mut reads) = (String::new(), 0);
    while !text.ends_with(BODY) {
        let mut buffer = [0; 4096];
        let bytes = stream.read(&mut buffer).unwrap();
        assert!(bytes > 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&buffer[..bytes]).unwrap());
        reads += 1;
    }
    assert!(text.contains("Content-Length: 15") && reads > 1, "{reads} reads");
}

#[test]
fn a_connection_closes_between_requests_without_having_said_so() {
    let server = BadServer::start(Script::CloseBetweenRequests { after: 2 });
    let mut stream = connect(server.address());
    stream.write_all(&REQUEST.repeat(2)).unwrap();
    let (text, end) = read(&mut stream);
    assert_eq!((text.matches(BODY).count(), end), (2, End::Closed));
    assert!(!text.contains("Connection:"));
}

#[test]
fn a_truncated_body_is_shorter_than_its_length() {
    let (text, end) = exchange(Script::TruncatedBody, REQUEST);
    assert!(text.contains("Content-Length: 100"));
    assert_eq!((body_of(&text).len(), end), (50, End::Closed));
}

#[test]
fn garbage_is_no_http() {
    let (text, end) = exchange(Script::GarbageHead, REQUEST);
    assert!(!text.is_empty() && !text.contains("HTTP"));
    assert_eq!(end, End::Closed);
}

#[test]
fn a_huge_head_is_longer_than_64_kib() {
    let (text, _) = exchange(Script::HugeHead, REQUEST);
    assert!(text.find("\r\n\r\n").unwrap() > 64 * 1024);
    assert_eq!(body_of(&text), BODY);
}

#[test]
fn an_early_close_gives_nothing() {
    assert_eq!(exchange(Script::EarlyClose, REQUEST), (String::new(), End::Closed));
}

#[test]
fn resets_come_before_or_within_a_response() {
    assert_eq!(exchange(Script::ResetBeforeResponse, REQUEST), (String::new(), End::Reset));
    let server = BadServer::start(Script::ResetMidBody);
    let mut stream = connect(server.address());
    stream.write_all(REQUEST).unwrap();
    let (text, end) = read(&mut stream);
    assert_eq!((body_of(&text).len(), end), (50, End::Reset));
}

#[test]
fn a_server_that_never_answers_stays_silent() {
    assert_eq!(listen(Script::NeverAnswer, ""), (String::new(), End::Silence));
}

#[test]
fn a_slow_trickle_gives_the_head_and_then_a_byte_per_gap() {
    let server = BadServer::start(Script::SlowTrickle { gap: Duration::from_millis(20) });
    let mut stream = connect(server.address());
    stream.write_all(REQUEST).unwrap();
    let begun = Instant::now();
    let mut text = Vec::new();
    while !text.ends_with(b"xxx") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    assert!(begun.elapsed() >= Duration::from_millis(60));
    assert!(String::from_utf8(text).unwrap().contains("Content-Length: 1000000"));
}

#[test]
fn wrong_lengths_are_too_large_or_too_small() {
    let (text, end) = listen(Script::ContentLengthTooLarge, HALF);
    assert!(text.contains("Content-Length: 100"));
    assert_eq!((body_of(&text).len(), end), (50, End::Silence));
    let (text, end) = listen(Script::ContentLengthTooSmall, HALF);
    assert!(text.contains("Content-Length: 10\r\n"));
    assert_eq!((body_of(&text).len(), end), (50, End::Silence));
}

#[test]
fn a_bad_chunk_has_no_size() {
    assert!(body_of(&exchange(Script::BadChunk, REQUEST).0).starts_with("5\r\nhello\r\nwrong\r\n"));
}

#[test]
fn conflicting_lengths_stand_in_one_head() {
    let (text, _) = exchange(Script::ConflictingLength, REQUEST);
    assert!(text.contains("Content-Length: 15\r\n") && text.contains("Content-Length: 50\r\n"));
}

#[test]
fn a_killed_server_closes_everything_at_once_and_refuses_from_then_on() {
    let server = BadServer::start(Script::KillAfter { requests: 3 });
    let mut idle = connect(server.address());
    let mut busy = connect(server.address());
    busy.write_all(&REQUEST.repeat(4)).unwrap();
    let (text, end) = read(&mut busy);
    assert_eq!((text.matches(BODY).count(), end), (3, End::Closed));
    // A connection that was still waiting to be accepted is reset, one that was accepted is closed.
    let (text, end) = read(&mut idle);
    assert!(text.is_empty() && end != End::Silence);
    let refused = TcpStream::connect(server.address()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_dropped_server_leaves_nothing_behind() {
    let server = BadServer::start(Script::SlowTrickle { gap: Duration::from_secs(3600) });
    let address = server.address();
    let mut streams: Vec<_> = (0..10).map(|_| connect(address)).collect();
    for stream in &mut streams {
        stream.write_all(REQUEST).unwrap();
    }
    drop(server);
    for stream in &mut streams {
        assert_ne!(read(stream).1, End::Silence);
    }
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn nothing_listens_at_a_refused_address() {
    for _ in 0..100 {
        assert_eq!(TcpStream::connect(refused_address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
