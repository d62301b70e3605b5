//! What a client sends: the opening, heads and bodies cut to the server's frames and windows.

use plimsoll_http::Expect;
use plimsoll_http::h2::{Connection, Memory, Request};

use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, WINDOW_UPDATE, answer, describe, sent,
    settings, window_update,
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A request of the tag, with a block and a body.
fn request<'a>(tag: u32, block: &'a [u8], body: &'a [u8]) -> Request<'a> {
    Request { tag, block, body, expect: Expect::Body, observe: false }
}

/// An open connection whose opening was read by the server, which then sent `bytes`.
fn opened(connection: &mut Connection, memory: &mut Memory, bytes: &[u8]) {
    let mut out = Vec::new();
    connection.open(&mut out);
    connection.receive(bytes, memory, &mut out, &mut |_| ()).unwrap();
}

#[test]
fn an_opening_switches_tables_and_push_off_and_widens_all_windows() {
    let mut out = Vec::new();
    Connection::new(1).open(&mut out);
    let frames = sent(out.strip_prefix(PREFACE).unwrap());
    let window = (1_u32 << 30) - 1;
    let values = [(1_u16, 0_u32), (2, 0), (4, window)];
    let payload: Vec<u8> = values
        .iter()
        .flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    assert_eq!((frames[0].kind, &frames[0].payload), (SETTINGS, &payload));
    assert_eq!((frames[1].kind, frames[1].stream), (WINDOW_UPDATE, 0));
    assert_eq!(frames[1].payload, (window - 65_535).to_be_bytes());
    assert_eq!(frames.len(), 2);
}

#[test]
fn requests_may_follow_the_opening_at_once_on_ascending_odd_streams() {
    let (mut connection, mut memory, mut out) = (Connection::new(8), Memory::default(), Vec::new());
    for tag in 0..3 {
        assert!(connection.request(&request(tag, b"\x82", b""), &mut memory, &mut out));
    }
    let frames = sent(&out);
    assert_eq!(frames.iter().map(|frame| frame.stream).collect::<Vec<_>>(), [1, 3, 5]);
    for frame in frames {
        assert_eq!((frame.kind, frame.flags), (HEADERS, END_HEADERS | END_STREAM));
        assert_eq!(frame.payload, b"\x82");
    }
}

#[test]
fn a_long_block_goes_on_in_continuations() {
    let (mut connection, mut memory, mut out) = (Connection::new(1), Memory::default(), Vec::new());
    let block: Vec<u8> = (0..40_000_u32).map(|at| at as u8).collect();
    assert!(connection.request(&request(0, &block, b"x"), &mut memory, &mut out));
    let frames = sent(&out);
    let shape: Vec<_> = frames.iter().map(|frame| (frame.kind, frame.flags, frame.payload.len())).collect();
    let expected = [
        (HEADERS, 0, 16_384),
        (CONTINUATION, 0, 16_384),
        (CONTINUATION, END_HEADERS, 7_232),
        (DATA, END_STREAM, 1),
    ];
    assert_eq!(shape, expected);
    assert_eq!(frames[..3].iter().flat_map(|frame| frame.payload.clone()).collect::<Vec<_>>(), block);
}

#[test]
fn a_body_that_waited_arrives_whole_and_in_order() {
    let (mut connection, mut memory) = (Connection::new(2), Memory::default());
    opened(&mut connection, &mut memory, &settings(&[(4, 1000)]));
    let bodies: [Vec<u8>; 2] = [7, 11].map(|step: u32| (0..50_000).map(|at| (at * step) as u8).collect());
    let mut out = Vec::new();
    for (tag, body) in (0..).zip(&bodies) {
        assert!(connection.request(&request(tag, b"\x83", body), &mut memory, &mut out));
    }
    for round in 0..200 {
        let grants = [window_update(1, 700), window_update(3, 900), window_update(0, 900)].concat();
        connection.receive(&grants, &mut memory, &mut out, &mut |_| panic!("round {round}")).unwrap();
    }
    for (stream, body) in [(1, &bodies[0]), (3, &bodies[1])] {
        let data = sent(&out).into_iter().filter(|frame| frame.kind == DATA && frame.stream == stream);
        let data: Vec<_> = data.collect();
        assert_eq!(data.iter().flat_map(|frame| frame.payload.clone()).collect::<Vec<_>>(), *body);
        let ends: Vec<_> = data.iter().filter(|frame| frame.flags == END_STREAM).collect();
        assert_eq!(ends, [data.last().unwrap()], "the last frame alone ends the stream");
    }
}

#[test]
fn a_body_never_overruns_what_the_server_granted() {
    let (mut connection, mut memory, mut out) = (Connection::new(4), Memory::default(), Vec::new());
    opened(&mut connection, &mut memory, &settings(&[]));
    for tag in 0..4 {
        assert!(connection.request(&request(tag, b"\x83", &[0; 40_000]), &mut memory, &mut out));
    }
    assert_eq!(
        describe(&out),
        "headers 1; data 1 16384 bytes; data 1 16384 bytes; data 1 7232 bytes end; \
         headers 3; data 3 16384 bytes; data 3 9151 bytes; headers 5; headers 7",
        "65,535 bytes in all"
    );
}

#[test]
fn a_shrunk_table_is_confirmed_once_before_the_next_block() {
    let (mut connection, mut memory, mut out) = (Connection::new(4), Memory::default(), Vec::new());
    opened(&mut connection, &mut memory, &settings(&[(1, 100)]));
    for tag in 0..2 {
        assert!(connection.request(&request(tag, b"\x82", b""), &mut memory, &mut out));
    }
    let payloads: Vec<_> = sent(&out).into_iter().map(|frame| frame.payload).collect();
    assert_eq!(payloads, [&b"\x20\x82"[..], b"\x82"]);
}

#[test]
fn a_grown_table_needs_no_confirmation() {
    let (mut connection, mut memory, mut out) = (Connection::new(1), Memory::default(), Vec::new());
    opened(&mut connection, &mut memory, &settings(&[(1, 8192)]));
    assert!(connection.request(&request(0, b"\x82", b""), &mut memory, &mut out));
    assert_eq!(sent(&out)[0].payload, b"\x82");
}

#[test]
fn new_streams_begin_with_the_servers_window_of_the_moment() {
    let (mut connection, mut memory, mut out) = (Connection::new(2), Memory::default(), Vec::new());
    opened(&mut connection, &mut memory, &settings(&[(4, 5)]));
    assert!(connection.request(&request(0, b"\x83", b"0123456789"), &mut memory, &mut out));
    assert_eq!(describe(&out), "headers 1; data 1 5 bytes");
    out.clear();
    connection.receive(&settings(&[(4, 0)]), &mut memory, &mut out, &mut |_| ()).unwrap();
    assert!(connection.request(&request(1, b"\x83", b"x"), &mut memory, &mut out));
    assert_eq!(describe(&out), "settings ack; headers 3", "nothing may go on a window of 0");
}

#[test]
fn an_empty_window_of_one_stream_does_not_hold_up_another() {
    let (mut connection, mut memory, mut out) = (Connection::new(2), Memory::default(), Vec::new());
    opened(&mut connection, &mut memory, &settings(&[(4, 0)]));
    for tag in 0..2 {
        assert!(connection.request(&request(tag, b"\x83", b"body"), &mut memory, &mut out));
    }
    out.clear();
    let bytes = [window_update(3, 10), answer(3)].concat();
    let mut answered = Vec::new();
    connection
        .receive(&bytes, &mut memory, &mut out, &mut |event| answered.push(format!("{event:?}")))
        .unwrap();
    assert_eq!(describe(&out), "data 3 4 bytes end");
    assert_eq!(answered.len(), 1);
}
