//! Clients that err, or mean harm.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use crate::client::Running;

/// A client that was refused reads the answer and then the end, never a reset.
fn check_refused(request: &[u8], status: u16) {
    let server = Running::start();
    let mut client = server.client();
    client.send(request);
    let answer = client.answer();
    let shown = String::from_utf8_lossy(&request[..request.len().min(60)]);
    assert_eq!(answer.status, status, "{shown}");
    assert!(answer.head.contains("Connection: close"), "{shown}");
    assert!(answer.text().starts_with("{\"error\":\""), "{shown}");
    assert_eq!(client.rest(), b"", "{shown}");
    assert_eq!(server.get("/healthz").status, 200, "the server lives on after {shown}");
}

#[test]
fn garbage_is_refused_and_the_connection_closed() {
    check_refused(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400);
    check_refused(b"GET\r\n\r\n", 400);
    check_refused(b"GET / HTTP/2.0\r\n\r\n", 400);
    check_refused(b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400);
    check_refused(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400);
    check_refused(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400);
    check_refused(b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501);
}

#[test]
fn a_huge_head_is_refused_and_the_refusal_arrives() {
    let long_field = [b"GET / HTTP/1.1\r\nCookie: ".as_slice(), &vec![b'x'; 1_000_000]].concat();
    check_refused(&long_field, 431);
    let many_fields = [b"GET / HTTP/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(5000), b"\r\n"].concat();
    check_refused(&many_fields, 431);
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Running::start();
    let mut client = server.client();
    let request = b"\r\nPOST /status/201 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for byte in request.iter().chain(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") {
        client.send([*byte]);
    }
    assert_eq!((client.answer().status, client.answer().status), (201, 200));
}

#[test]
fn thousands_of_pipelined_requests_are_all_answered() {
    let server = Running::start();
    let mut client = server.client();
    let mut writer = client.stream.try_clone().unwrap();
    let sent = std::thread::spawn(move || {
        for _ in 0..200 {
            writer.write_all(&b"GET /healthz HTTP/1.1\r\n\r\n".repeat(100)).unwrap();
        }
    });
    for index in 0..20_000 {
        assert_eq!(client.answer().status, 200, "answer {index}");
    }
    sent.join().unwrap();
}

#[test]
fn a_client_that_does_not_read_is_not_read_from_and_loses_nothing() {
    let server = Running::start();
    let mut client = server.client();
    client.stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let request = b"GET /payload?number=1000 HTTP/1.1\r\n\r\n";
    let mut sent_bytes = 0;
    // 100 MB of requests for 250 GB of answers: the server must stop taking them long before.
    while sent_bytes < 100_000_000 {
        match client.stream.write(&request.repeat(100)) {
            Ok(bytes) => sent_bytes += bytes,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent_bytes < 100_000_000);
    let other = server.get("/healthz");
    assert_eq!(other.status, 200, "other clients are served meanwhile");
    for index in 0..200 {
        assert_eq!(client.answer().text().matches("nginx").count(), 1000, "answer {index}");
    }
}

#[test]
fn a_client_that_closes_its_side_still_gets_its_answers() {
    let server = Running::start();
    let mut client = server.client();
    client.send("GET /sleep?ms=20 HTTP/1.1\r\n\r\nGET /status/404 HTTP/1.1\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    let text = String::from_utf8(client.rest()).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("HTTP/1.1 404 "), "{text}");
}

#[test]
fn clients_that_leave_in_the_middle_do_no_harm() {
    let server = Running::start();
    for leaving in [
        "GET /hea",
        "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc",
        "GET /sleep?ms=1&workers=1 HTTP/1.1\r\n\r\n",
        "GET /payload?number=100000 HTTP/1.1\r\n\r\n",
        "GET /close HTTP/1.1\r\n\r\n",
        "",
    ] {
        let mut client = server.client();
        client.send(leaving);
        drop(client);
    }
    assert_eq!(server.get("/sleep?ms=1&workers=1").status, 200, "the worker was not lost with its client");
}

#[test]
fn a_client_that_never_closes_after_the_last_answer_is_let_go() {
    let server = Running::start();
    let mut client = server.client();
    client.get("/close");
    assert_eq!(client.rest_after_answer(), 0);
}

impl crate::client::Client {
    /// Bytes between the answer and the server's end of the connection.
    fn rest_after_answer(&mut self) -> usize {
        self.answer();
        self.stream.read(&mut [0; 16]).unwrap()
    }
}

#[test]
fn damaged_requests_do_no_harm() {
    let whole = b"POST /sleep?ms=1&workers=2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
        5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\nGET /stall?every=9s&for=1ms HTTP/1.0\r\nConnection: close\r\n\r\n";
    let server = Running::start();
    // A linear congruential generator (Knuth's constants): the same damage at each run.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..1000 {
        let mut damaged = whole.to_vec();
        for _ in 0..=random(3) {
            let at = random(damaged.len());
            damaged[at] = random(256) as u8;
        }
        damaged.truncate(1 + random(damaged.len()));
        let mut client = server.client();
        client.send(&damaged[..damaged.len() / 2]);
        // The first half may have been refused already, and then the second one does not arrive.
        client.stream.write_all(&damaged[damaged.len() / 2..]).ok();
    }
    assert_eq!(server.get("/sleep?ms=1&workers=2").status, 200);
}
