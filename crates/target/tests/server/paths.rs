//! What each path answers.

use std::sync::atomic::Ordering;

use crate::client::Running;

#[test]
fn healthz_answers_ok_in_json() {
    let answer = Running::start().get("/healthz");
    assert_eq!((answer.status, answer.text()), (200, r#"{"status":"ok"}"#));
    assert!(answer.head.contains("\r\nContent-Type: application/json\r\n"));
}

#[test]
fn the_root_lists_every_path() {
    let answer = Running::start().get("/");
    for path in ["healthz", "stats", "payload", "sleep", "cpu", "status", "chunked", "close", "stall"] {
        assert!(answer.text().contains(&format!("/{path}")), "{path}");
    }
}

#[test]
fn a_payload_has_as_many_records_as_asked_for() {
    let server = Running::start();
    let record = r#"{"name":"nginx","author":"Igor Sysoev","version":"1.18","desp":"高性能代理工具"}"#;
    let two = server.get("/payload?number=2");
    assert_eq!(two.text(), format!(r#"{{"code":200,"msg":"ok","body":[{record},{record}]}}"#));
    // 5000 records are longer than any socket's buffer here, so the answer goes out in parts.
    for _ in 0..2 {
        let many = server.get("/payload?number=50000");
        assert_eq!(many.text().matches(record).count(), 50_000);
    }
}

#[test]
fn a_payload_that_is_too_long_is_refused_with_the_limit() {
    let server = Running::start();
    let answer = server.get("/payload?number=1000000");
    assert_eq!(answer.status, 400);
    assert!(answer.text().starts_with(r#"{"error":"number must be a whole number from 0 to "#));
    assert!(answer.text().ends_with("64 MiB\"}"), "{}", answer.text());
}

#[test]
fn a_status_is_answered_as_asked_for() {
    let server = Running::start();
    let mut client = server.client();
    for status in [200, 204, 205, 301, 304, 404, 418, 500, 503, 599] {
        client.get(&format!("/status/{status}"));
        let answer = client.answer();
        assert_eq!(answer.status, status);
        let bodiless = [204, 205, 304].contains(&status);
        let body = if bodiless { String::new() } else { format!(r#"{{"status":{status}}}"#) };
        assert_eq!(answer.text(), body);
        assert_eq!(answer.head.contains("Content-Length"), status != 204 && status != 304, "{status}");
    }
}

#[test]
fn chunks_add_up_to_a_thousand_bytes() {
    let server = Running::start();
    let mut client = server.client();
    client.get("/chunked");
    let answer = client.answer();
    assert!(answer.head.contains("Transfer-Encoding: chunked"));
    assert_eq!(answer.body, [b'p'; 1000]);
    client.send("GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let old = client.answer();
    assert!(old.head.contains("Content-Length: 1000"), "an HTTP/1.0 client knows no chunks");
    assert_eq!(old.body, answer.body);
}

#[test]
fn close_answers_and_closes() {
    let server = Running::start();
    let mut client = server.client();
    // What follows the last request is not answered.
    client.send("GET /close HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("\r\nConnection: close\r\n"));
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_client_that_wants_to_close_is_closed() {
    let server = Running::start();
    for head in ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        let mut client = server.client();
        client.send(head);
        let answer = client.answer();
        assert!(answer.status == 200 && answer.head.contains("Connection: close"), "{head}");
        assert_eq!(client.rest(), b"", "{head}");
    }
}

#[test]
fn an_old_client_that_asks_for_keep_alive_gets_it() {
    let server = Running::start();
    let mut client = server.client();
    for _ in 0..2 {
        client.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert!(client.answer().head.contains("\r\nConnection: keep-alive\r\n"));
    }
}

#[test]
fn head_gives_the_head_of_get_alone() {
    let server = Running::start();
    let targets =
        ["/", "/healthz", "/payload?number=1000", "/sleep?ms=1", "/cpu?us=1", "/status/503", "/chunked"];
    let mut client = server.client();
    for target in targets {
        client.get(target);
        let full = client.answer();
        client.send(format!("HEAD {target} HTTP/1.1\r\n\r\n"));
        assert_eq!(client.head().head, full.head, "{target}");
    }
    // Had a body been sent, it would stand here instead of an answer.
    client.get("/healthz");
    assert_eq!(client.answer().text(), r#"{"status":"ok"}"#);
}

#[test]
fn what_is_not_there_is_404_and_the_connection_stays() {
    let server = Running::start();
    let mut client = server.client();
    client.get("/nothing");
    let answer = client.answer();
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("error"));
    client.get("/healthz");
    assert_eq!(client.answer().status, 200);
}

#[test]
fn bad_values_are_400_and_say_what_is_expected() {
    let server = Running::start();
    for (target, expected) in [
        ("/payload?number=many", "whole number"),
        ("/sleep?ms=soon", "such as 5 or 0.5"),
        ("/sleep?ms=1&workers=0", "workers must be"),
        ("/cpu?us=-1", "us must be"),
        ("/status/99", "200 to 599"),
        ("/stall?every=1s", "every=5s&for=500ms"),
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, 400, "{target}");
        assert!(answer.text().contains(expected), "{target}: {}", answer.text());
    }
}

#[test]
fn requests_are_counted_but_for_those_that_ask_for_the_count() {
    let server = Running::start();
    let mut client = server.client();
    for target in ["/healthz", "/nothing", "/stats", "/sleep?ms=0", "/stall?every=1h&for=1ms"] {
        client.get(target);
        client.answer();
    }
    client.get("/stats");
    assert_eq!(client.answer().text(), r#"{"requests":4}"#);
    assert_eq!(server.served.load(Ordering::Relaxed), 4);
}

#[test]
fn bodies_of_any_method_are_read_and_dropped() {
    let server = Running::start();
    let mut client = server.client();
    client.send("POST /healthz HTTP/1.1\r\nContent-Length: 26\r\n\r\nGET /status/500 HTTP/1.1\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    client.send("PUT /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    client.send("a\r\n0123456789\r\n0\r\nTrailer: yes\r\n\r\nPATCH /status/201 HTTP/1.1\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 201);
}

#[test]
fn a_long_body_is_read_to_its_end() {
    let server = Running::start();
    let mut client = server.client();
    client.send("POST /healthz HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n");
    client.send(vec![b'x'; 5_000_000]);
    client.get("/status/202");
    assert_eq!((client.answer().status, client.answer().status), (200, 202));
}

#[test]
fn a_client_that_waits_for_leave_to_send_gets_it() {
    let server = Running::start();
    let mut client = server.client();
    client.send("POST /healthz HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.send("abc");
    assert_eq!(client.answer().status, 200);
}
