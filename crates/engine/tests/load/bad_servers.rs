//! What a server does wrong is counted under its own name, and nothing hangs or is lost.

use std::time::Duration;

use plimsoll_engine::{FixedRequest, Traffic};
use plimsoll_record::FailureKind;
use plimsoll_testkit::{BadServer, Script, refused_address};

use super::measured::{Measured, closed, open, order};

fn against(script: Script) -> Measured {
    let server = BadServer::start(script);
    let mut order = order(server.address(), closed(3));
    order.requests_max = Some(60);
    Measured::new(&order)
}

/// All that failed has this name, and some did.
fn fails_as(script: Script, name: &str) -> Measured {
    let what = format!("{script:?}");
    let measured = against(script);
    assert_eq!(measured.failures(), [name], "{what}");
    measured
}

/// No request is answered within the timeout of half a second.
fn times_out(script: Script) -> Measured {
    let server = BadServer::start(script);
    let mut order = order(server.address(), closed(3));
    order.requests_max = Some(6);
    order.timeout = Duration::from_millis(500);
    let measured = Measured::new(&order);
    assert_eq!((measured.failures(), measured.counts.completed), (vec!["timed_out"], 0));
    measured
}

fn succeeds(script: Script) -> Measured {
    let what = format!("{script:?}");
    let measured = against(script);
    assert_eq!(measured.failures(), [""; 0], "{what}");
    assert!(measured.counts.completed > 0, "{what}");
    assert_eq!(measured.counts.ok, measured.counts.completed, "{what}");
    measured
}

#[test]
fn a_truncated_body_is_closed_within_the_response() {
    fails_as(Script::TruncatedBody, "closed_within_response");
}

#[test]
fn garbage_is_a_malformed_head() {
    fails_as(Script::GarbageHead, "malformed_head");
}

#[test]
fn a_head_without_end_is_too_large() {
    fails_as(Script::HugeHead, "head_too_large");
}

#[test]
fn a_response_in_one_byte_pieces_is_a_response() {
    succeeds(Script::OneBytePieces);
}

#[test]
fn a_close_instead_of_an_answer_is_closed_before_the_response() {
    fails_as(Script::EarlyClose, "closed_before_response");
}

#[test]
fn a_reset_is_named_after_where_it_struck() {
    fails_as(Script::ResetBeforeResponse, "reset_before_response");
    fails_as(Script::ResetMidBody, "reset_within_response");
}

#[test]
fn a_server_that_never_answers_times_out_and_its_requests_are_in_the_histogram_at_their_age() {
    let measured = times_out(Script::NeverAnswer);
    let timed_out = measured.failed(FailureKind::TimedOut);
    assert_eq!(measured.service.len(), timed_out);
    assert!(measured.service.min() >= 499_000_000, "{}", measured.service.min());
}

#[test]
fn a_trickle_that_never_ends_times_out() {
    times_out(Script::SlowTrickle { gap: Duration::from_millis(20) });
}

#[test]
fn an_interim_response_is_passed_over() {
    let measured = succeeds(Script::Continue100);
    assert_eq!(measured.counts.status.iter().map(|(status, _)| status).collect::<Vec<_>>(), [200]);
}

#[test]
fn a_content_length_too_small_leaves_bytes_after_the_response() {
    fails_as(Script::ContentLengthTooSmall, "bytes_after_response");
}

#[test]
fn wrong_framing_has_names_of_its_own() {
    fails_as(Script::BadChunk, "malformed_chunk");
    fails_as(Script::ConflictingLength, "malformed_framing");
}

#[test]
fn what_is_no_final_response_has_names_of_its_own() {
    let raw = |text: &str| Script::Raw(text.as_bytes().to_vec());
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    fails_as(raw(upgrade), "unrequested_upgrade");
    fails_as(raw(&"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(40)), "interim_flood");
    fails_as(raw(&format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(300))), "too_many_fields");
}

#[test]
fn responses_without_end_do_not_hold_up_the_end_of_the_step() {
    let chunk = format!("8000\r\n{}\r\n", "x".repeat(0x8000)).into_bytes();
    let length = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
    let endless: [(&[u8], Vec<u8>); 5] = [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
        (b"HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 1 << 16]),
        (length, vec![b'x'; 1 << 16]),
        (b"HTTP/1.1 200 OK\r\n", b"X-Padding: x\r\n".repeat(1000)),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000)),
    ];
    for (first, piece) in endless {
        let server = BadServer::start(Script::WithoutEnd { first: first.to_vec(), piece });
        let mut order = order(server.address(), closed(8));
        order.timeout = Duration::from_millis(300);
        order.requests_max = None;
        let mut failed = 0;
        let measured = Measured::watched(&order, |frame, running| {
            failed += frame.head.counts.failed.total();
            if failed + frame.head.in_flight >= 8 {
                running.end_load();
            }
        });
        assert_eq!(measured.counts.completed, 0);
        assert!(measured.counts.failed.total() >= 8, "{:?}", measured.counts);
        // A frame or two of load and 300 ms of waiting. The rest is for a machine that is busy.
        let ended_ns = measured.frames.last().unwrap().head.ended_ns;
        assert!(ended_ns < 30_000_000_000, "{ended_ns}");
    }
}

#[test]
fn a_connection_that_the_request_asks_to_close_is_closed_though_the_server_keeps_it() {
    let server = BadServer::start(Script::Correct { body: b"ok".to_vec() });
    let mut order = order(server.address(), closed(2));
    order.requests_max = Some(50);
    order.duration = Duration::from_secs(600);
    let text = b"GET / HTTP/1.1\r\nHost: a\r\nconnection: Keep-Alive, close\r\n\r\n";
    order.traffic = Traffic::Fixed(FixedRequest::new(text.to_vec(), "GET"));
    let measured = Measured::new(&order);
    assert_eq!(measured.counts.ok, 50);
    assert!(measured.counts.connects >= 50, "{:?}", measured.counts);
    assert_eq!(measured.counts.reconnects, 0, "nothing was closed by surprise");
}

#[test]
fn a_body_ended_by_the_close_is_complete() {
    let measured = succeeds(Script::CloseDelimited);
    assert_eq!(
        measured.counts.reconnects, 0,
        "a server that closes as announced is not reconnected to by surprise"
    );
}

#[test]
fn an_http_1_0_server_is_served_over_new_connections() {
    succeeds(Script::Http10);
}

#[test]
fn a_keep_alive_connection_closed_between_requests_is_a_reconnect_and_no_failure() {
    let measured = succeeds(Script::CloseBetweenRequests { after: 5 });
    assert!(measured.counts.reconnects > 0);
}

#[test]
fn error_statuses_are_complete_but_no_successes() {
    let measured = against(Script::Statuses(vec![200, 404, 503]));
    assert_eq!(measured.failures(), [""; 0]);
    let by_status: Vec<(u16, u64)> = measured.counts.status.iter().collect();
    assert_eq!(by_status.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 404, 503]);
    assert_eq!(measured.counts.ok, by_status[0].1);
}

#[test]
fn a_refused_connection_fails_a_request_and_is_not_tried_as_fast_as_the_machine_can() {
    let mut order = order(refused_address(), closed(2));
    order.requests_max = Some(8);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), ["connect_refused"]);
    assert_eq!(measured.counts.intended, 8);
    // One of the two connections is tried four times or more.
    let (first, last) = (&measured.frames[0].head, &measured.frames.last().unwrap().head);
    let span_ns = last.ended_ns - first.began_ns;
    assert!(span_ns >= 300_000_000, "a retry every 100 ms: {span_ns} ns");
    assert!(measured.latency.is_empty(), "what is refused at once has no age");
}

#[test]
fn in_an_open_loop_every_refused_arrival_is_counted() {
    let mut order = order(refused_address(), open(100.0, 2));
    order.requests_max = Some(30);
    let measured = Measured::new(&order);
    assert_eq!(measured.counts.intended, 30);
    assert_eq!(measured.failed(FailureKind::ConnectRefused), 30);
}

#[test]
fn a_server_killed_under_load_leaves_what_was_measured_and_named_failures() {
    let server = BadServer::start(Script::KillAfter { requests: 50 });
    let mut order = order(server.address(), closed(3));
    order.requests_max = None;
    let measured = Measured::watched(&order, |frame, running| {
        if frame.head.counts.failed.of(FailureKind::ConnectRefused) > 0 {
            running.end_load();
        }
    });
    assert!(measured.counts.completed >= 40, "{:?}", measured.counts);
    assert!(measured.failed(FailureKind::ConnectRefused) > 0, "{:?}", measured.failures());
}

#[test]
fn a_connection_that_is_never_accepted_is_counted_when_its_time_is_over() {
    // A listener whose backlog is full: the kernel drops further handshakes.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let mut order = order(listener.local_addr().unwrap(), closed(20));
    order.requests_max = Some(20);
    order.timeout = Duration::from_millis(400);
    let measured = Measured::new(&order);
    assert!(measured.failed(FailureKind::ConnectTimedOut) > 0, "{:?}", measured.failures());
    // Those few that fit into the backlog sent a request that the server never reads.
    assert_eq!(measured.failures(), ["connect_timed_out", "timed_out"]);
}

#[test]
fn a_request_that_may_not_be_sent_twice_fails_by_what_broke_it() {
    let server = BadServer::start(Script::CloseBetweenRequests { after: 5 });
    let mut order = order(server.address(), closed(2));
    let mut target = plimsoll_plan::Target::parse(&format!("http://{}/", server.address())).unwrap();
    target.method = "POST".to_owned();
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method));
    let measured = Measured::new(&order);
    let allowed = ["send_reset", "closed_before_response", "reset_before_response"];
    assert!(measured.failures().iter().all(|name| allowed.contains(name)), "{:?}", measured.failures());
    assert!(measured.counts.ok > 0);
}
