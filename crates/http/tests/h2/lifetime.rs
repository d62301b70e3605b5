//! From the opening to the end: capacity, cancelling, GOAWAY, and a connection used again.

use plimsoll_http::Expect;
use plimsoll_http::h2::{Broken, Connection, ErrorCode, Event, Memory, Request};

use super::frames::{GOAWAY, answer, describe, frame, sent, settings};

fn get(tag: u32) -> Request<'static> {
    Request { tag, block: b"\x82", body: b"", expect: Expect::Body, observe: false }
}

/// Receives bytes and gives the tags of the requests that were answered.
fn answered(connection: &mut Connection, memory: &mut Memory, bytes: &[u8]) -> Vec<u32> {
    let mut tags = Vec::new();
    let mut note = |event: Event<'_>| match event {
        Event::Answered { tag, .. } => tags.push(tag),
        other => panic!("{other:?}"),
    };
    connection.receive(bytes, memory, &mut Vec::new(), &mut note).unwrap();
    tags
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

#[test]
fn capacity_is_the_smaller_of_both_sides_limits() {
    let (mut connection, mut memory) = (Connection::new(1000), Memory::default());
    connection.open(&mut Vec::new());
    assert_eq!(connection.capacity(), 100, "until the server has said what it takes");
    for (limit, capacity) in [(None, 1000), (Some(7), 7), (Some(5000), 1000), (Some(0), 0)] {
        let limit: Vec<_> = limit.map(|limit| (3, limit)).into_iter().collect();
        assert_eq!(answered(&mut connection, &mut memory, &settings(&limit)), []);
        assert_eq!(connection.capacity(), capacity);
    }
}

#[test]
fn capacity_comes_back_with_answers_and_nothing_is_sent_beyond_it() {
    let (mut connection, mut memory, mut out) = (Connection::new(3), Memory::default(), Vec::new());
    connection.open(&mut out);
    for tag in 0..3 {
        assert!(connection.request(&get(tag), &mut memory, &mut out));
    }
    let sent_bytes = out.len();
    assert!(!connection.request(&get(3), &mut memory, &mut out));
    assert_eq!((connection.capacity(), out.len()), (0, sent_bytes));
    let bytes = [settings(&[]), answer(3)].concat();
    assert_eq!(answered(&mut connection, &mut memory, &bytes), [1]);
    assert_eq!(connection.capacity(), 1);
    assert!(connection.request(&get(3), &mut memory, &mut out));
}

#[test]
fn a_server_that_takes_fewer_streams_than_are_open_leaves_no_capacity() {
    let (mut connection, mut memory, mut out) = (Connection::new(8), Memory::default(), Vec::new());
    connection.open(&mut out);
    for tag in 0..4 {
        assert!(connection.request(&get(tag), &mut memory, &mut out));
    }
    assert_eq!(answered(&mut connection, &mut memory, &settings(&[(3, 2)])), []);
    assert_eq!(connection.capacity(), 0);
}

#[test]
fn a_thousand_streams_are_distinguished_in_any_order() {
    let (mut connection, mut memory, mut out) = (Connection::new(1000), Memory::default(), Vec::new());
    connection.open(&mut out);
    assert_eq!(answered(&mut connection, &mut memory, &settings(&[])), []);
    let (mut next_tag, mut open) = (0_u32, Vec::new());
    for round in 0..5_000_usize {
        while connection.capacity() > 0 {
            assert!(connection.request(&get(next_tag), &mut memory, &mut out));
            open.push(next_tag);
            next_tag += 1;
        }
        // A stride without a common factor visits old and young streams alike.
        let tag = open.swap_remove((round * 7919) % open.len());
        assert_eq!(answered(&mut connection, &mut memory, &answer(tag * 2 + 1)), [tag]);
    }
    let mut cut = Vec::new();
    connection.finish(&mut memory, &mut |event| match event {
        Event::Cut { tag, begun: false } => cut.push(tag),
        other => panic!("{other:?}"),
    });
    cut.sort_unstable();
    open.sort_unstable();
    assert_eq!(cut, open);
}

#[test]
fn a_cancelled_request_is_reset_and_makes_room() {
    let (mut connection, mut memory, mut out) = (Connection::new(1), Memory::default(), Vec::new());
    connection.open(&mut out);
    assert!(connection.request(&get(42), &mut memory, &mut out));
    out.clear();
    assert!(connection.cancel(42, &mut memory, &mut out));
    assert_eq!(describe(&out), "rst_stream 1 CANCEL");
    assert_eq!(connection.capacity(), 1);
    assert!(!connection.cancel(42, &mut memory, &mut out), "it is gone");
    let bytes = [settings(&[]), answer(1)].concat();
    assert_eq!(answered(&mut connection, &mut memory, &bytes), []);
}

#[test]
fn goaway_ends_the_capacity_and_says_why() {
    let (mut connection, mut memory) = (Connection::new(2), Memory::default());
    connection.open(&mut Vec::new());
    assert_eq!(connection.going_away(), None);
    let bytes = [settings(&[]), goaway(0, 0xb)].concat();
    assert_eq!(answered(&mut connection, &mut memory, &bytes), []);
    assert_eq!(connection.going_away(), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(connection.capacity(), 0);
    assert!(!connection.request(&get(0), &mut memory, &mut Vec::new()));
}

#[test]
fn a_broken_connection_says_goaway_once_and_takes_nothing_more() {
    let (mut connection, mut memory, mut out) = (Connection::new(2), Memory::default(), Vec::new());
    connection.open(&mut Vec::new());
    let bytes = [settings(&[]), frame(6, 0, 0, b"short")].concat();
    for _ in 0..2 {
        let outcome = connection.receive(&bytes, &mut memory, &mut out, &mut |_| ());
        assert_eq!(outcome, Err(Broken::FrameSize));
    }
    assert_eq!(describe(&out), "settings ack; goaway FRAME_SIZE_ERROR");
    assert_eq!(connection.capacity(), 0);
}

#[test]
fn a_connection_opened_again_has_forgotten_the_last_one() {
    let (mut connection, mut memory) = (Connection::new(2), Memory::default());
    let first = open_and_answer(&mut connection, &mut memory);
    let upload = Request { body: &[0; 100_000], ..get(7) };
    assert!(connection.request(&upload, &mut memory, &mut Vec::new()));
    let bytes = [goaway(u32::MAX, 0), frame(6, 0, 0, b"short")].concat();
    connection.receive(&bytes, &mut memory, &mut Vec::new(), &mut |_| ()).unwrap_err();
    connection.finish(&mut memory, &mut |event| assert_eq!(event, Event::Cut { tag: 7, begun: false }));
    assert_eq!(open_and_answer(&mut connection, &mut memory), first);
    assert_eq!((connection.capacity(), connection.going_away()), (2, None));
}

/// What a fresh connection sends for one request, which is answered in two pieces.
fn open_and_answer(connection: &mut Connection, memory: &mut Memory) -> Vec<u8> {
    let mut out = Vec::new();
    connection.open(&mut out);
    assert!(connection.request(&get(1), memory, &mut out));
    let bytes = [settings(&[(3, 5)]), answer(1)].concat();
    assert_eq!(answered(connection, memory, &bytes[..20]), []);
    assert_eq!(answered(connection, memory, &bytes[20..]), [1]);
    assert_eq!(sent(&out[24..]).len(), 3);
    out
}
