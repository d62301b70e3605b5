//! A request costs no allocation once buffers and tables are there.

use plimsoll_http::Expect;
use plimsoll_http::h2::{Connection, Event, Memory, Request};

use super::frames::{DATA, END_HEADERS, END_STREAM, HEADERS, frame, settings, window_update};

/// Sixteen requests at a time: some heads known, some new, cut in pieces, with bodies that wait.
fn rounds(connection: &mut Connection, memory: &mut Memory, out: &mut Vec<u8>, inputs: &[Vec<u8>]) -> u32 {
    let mut answered = 0;
    for input in inputs {
        out.clear();
        for tag in 0..16 {
            let body: &[u8] = if tag == 3 { &[b'u'; 3000] } else { b"" };
            let request =
                Request { tag, block: b"\x82\x86\x84", body, expect: Expect::Body, observe: tag == 5 };
            assert!(connection.request(&request, memory, out));
        }
        for piece in input.chunks(113) {
            let mut count = |event: Event<'_>| answered += u32::from(matches!(event, Event::Answered { .. }));
            connection.receive(piece, memory, out, &mut count).unwrap();
        }
    }
    answered
}

/// What the server says in one round.
fn input(round: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0..16 {
        let stream = (round * 16 + at) * 2 + 1;
        // A name and a value in Huffman's code, with a date that changes with each round.
        let block = [b"\x88\x61\x82\x64\x02\x00\x01a\x01".as_slice(), &[b'a' + (round % 26) as u8]].concat();
        bytes.extend(window_update(stream, 3000));
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &block));
        bytes.extend(frame(DATA, END_STREAM, stream, b"hello"));
    }
    bytes.extend(window_update(0, 3000));
    bytes
}

#[test]
fn requests_and_responses_allocate_nothing_after_the_first_ones() {
    let (mut connection, mut memory, mut out) = (Connection::new(16), Memory::default(), Vec::new());
    connection.open(&mut out);
    // A server that grants too little at first makes bodies wait.
    connection.receive(&settings(&[(4, 100)]), &mut memory, &mut out, &mut |_| ()).unwrap();
    let inputs: Vec<_> = (0..100).map(input).collect();
    assert_eq!(rounds(&mut connection, &mut memory, &mut out, &inputs[..10]), 160);
    let mut answered = 0;
    let cost = allocation_counter::measure(|| {
        answered = rounds(&mut connection, &mut memory, &mut out, &inputs[10..]);
    });
    assert_eq!(answered, 90 * 16);
    assert_eq!(cost.count_total, 0);
}

#[test]
fn an_idle_connection_of_one_stream_holds_less_than_a_kibibyte() {
    let mut connections = Vec::new();
    let cost = allocation_counter::measure(|| connections.push(Connection::new(1)));
    assert!(cost.bytes_current <= 1024, "{} bytes", cost.bytes_current);
}
