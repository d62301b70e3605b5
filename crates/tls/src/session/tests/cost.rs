//! What a session costs once it is open.

use super::peer::{BOTH, Pair, World};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Sealed answers of the server, ready to be received.
fn answers(pair: &mut Pair, count: usize) -> Vec<Vec<u8>> {
    let answer = |_| {
        pair.server_says(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        pair.flight()
    };
    (0..count).map(answer).collect()
}

#[test]
fn requests_and_whole_answers_allocate_nothing() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        let mut answers = answers(&mut pair, 100);
        let mut out = Vec::with_capacity(1024);
        let mut bytes = 0;
        let measured = allocation_counter::measure(|| {
            for answer in &mut answers {
                out.clear();
                pair.client.seal(REQUEST, &mut out).unwrap();
                pair.client.receive(answer, &mut out, &mut |plain| bytes += plain.len()).unwrap();
            }
        });
        assert_eq!(bytes, 100 * 38);
        assert_eq!(measured.count_total, 0, "{version:?}");
    }
}

#[test]
fn a_session_at_rest_holds_little_and_no_more_after_a_large_body() {
    for version in BOTH {
        let world = World::new(version);
        let mut pair = Pair::new(&world.client, &world.config);
        // The flights of the handshake are kept by the test, so that only the session's memory counts.
        drop(world.open());
        let before = heap_of(&world, |_| {});
        let after = heap_of(&world, |pair| {
            pair.server_says(&vec![7; 1 << 20]);
            let mut flight = pair.flight();
            for piece in flight.chunks_mut(10_000) {
                pair.client.receive(piece, &mut Vec::new(), &mut |_| {}).unwrap();
            }
        });
        println!("{version:?}: {before} bytes of heap, {} inline", size_of::<crate::Session>());
        assert!(before < 8 * 1024, "{before}");
        assert_eq!(before, after);
        pair.settle();
    }
}

/// Bytes of Rust's heap that are freed with an open session after `then`.
fn heap_of(world: &World, then: impl FnOnce(&mut Pair)) -> i64 {
    let mut pair = world.open();
    then(&mut pair);
    let Pair { client, .. } = pair;
    -allocation_counter::measure(|| drop(client)).bytes_current
}
