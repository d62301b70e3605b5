use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use super::*;

const FIXED: &[u8] = b"fixed bytes";
const PIECES: RecvMode = RecvMode { multishot: true, wait_first: false };
const MEMORY: RingMemory = RingMemory { buffers: 4, buffer_bytes: 64 };
/// More bytes than the buffers of a connection hold.
const TOO_MUCH: usize = 20_000_000;

fn ring(memory: RingMemory) -> Ring {
    Ring::new(Arc::from(FIXED), memory).unwrap()
}

/// The next completion, waited for.
fn next(ring: &mut Ring) -> Completion {
    for _ in 0..1000 {
        if let Some(completion) = ring.next_completion() {
            return completion;
        }
        ring.wait(Duration::from_millis(10), WaitPolicy::default()).unwrap();
    }
    panic!("nothing completed");
}

/// A connected pair, whose first completion was that of the connecting.
fn pair(ring: &mut Ring) -> (Socket, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let route = Route::from(listener.local_addr().unwrap());
    let socket = Socket::prepare(&route).unwrap();
    ring.connect(&socket, &route, 1).unwrap();
    let completion = next(ring);
    assert_eq!((completion.token, completion.result), (1, Ok(0)));
    (socket, listener.accept().unwrap().0)
}

fn read(peer: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    peer.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn every_piece_and_the_end_come_from_one_receive() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    ring.receive(&socket, PIECES, 2).unwrap();
    for text in [b"one", b"two"] {
        peer.write_all(text).unwrap();
        let completion = next(&mut ring);
        assert_eq!((completion.token, completion.result, completion.more), (2, Ok(3), true));
        assert_eq!(ring.bytes(), text);
    }
    drop(peer);
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result, completion.more), (2, Ok(0), false));
    assert!(ring.bytes().is_empty());
}

#[test]
fn a_refused_connection_says_so() {
    let mut ring = ring(MEMORY);
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let socket = Socket::prepare(&address.into()).unwrap();
    ring.connect(&socket, &address.into(), 7).unwrap();
    assert_eq!(next(&mut ring).result, Err(OpError::Os(libc::ECONNREFUSED)));
}

#[test]
fn a_silent_send_completes_only_when_it_fails() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    ring.send_fixed(&socket, 0..5, true, 2).unwrap();
    ring.send_fixed(&socket, 5..FIXED.len(), false, 3).unwrap();
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result), (3, Ok(6)));
    assert_eq!(read(&mut peer, FIXED.len()), FIXED);
    // Bytes that the peer leaves unread make its close a reset.
    ring.send_fixed(&socket, 0..5, false, 4).unwrap();
    assert_eq!(next(&mut ring).token, 4);
    ring.receive(&socket, PIECES, 5).unwrap();
    drop(peer);
    assert_eq!(next(&mut ring).result, Err(OpError::Os(libc::ECONNRESET)));
    ring.send_fixed(&socket, 0..5, true, 6).unwrap();
    let failed = next(&mut ring);
    assert_eq!((failed.token, failed.result), (6, Err(OpError::Os(libc::EPIPE))));
}

#[test]
fn a_copy_is_sent_whole_however_long_the_peer_takes() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|number| number as u8).collect();
    ring.send_copy(&socket, &bytes, 9).unwrap();
    let reader = std::thread::spawn(move || read(&mut peer, 20_000_000));
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result), (9, Ok(20_000_000)));
    assert!(reader.join().unwrap() == bytes);
}

/// Sends a copy of which the system takes only a part, as the peer reads nothing.
fn send_too_much(ring: &mut Ring, socket: &Socket) -> CopyId {
    let copy = ring.send_copy(socket, &vec![0; TOO_MUCH], 9).unwrap();
    ring.wait(Duration::ZERO, WaitPolicy::default()).unwrap();
    assert_eq!(ring.next_completion(), None);
    copy
}

#[test]
fn a_copy_that_was_sent_in_part_is_no_success() {
    let mut ring = ring(MEMORY);
    let (socket, peer) = pair(&mut ring);
    send_too_much(&mut ring, &socket);
    // Bytes that the peer leaves unread make its close a reset.
    drop(peer);
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result), (9, Err(OpError::Canceled)));
}

#[test]
fn a_copy_whose_send_is_cancelled_holds_its_socket_no_longer() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    let copy = send_too_much(&mut ring, &socket);
    ring.cancel_copy(copy, 3).unwrap();
    ring.retire(socket);
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result), (9, Err(OpError::Canceled)));
    let mut bytes = Vec::new();
    peer.read_to_end(&mut bytes).unwrap();
    assert!((1..TOO_MUCH).contains(&bytes.len()), "{} bytes", bytes.len());
}

#[test]
fn discarded_bytes_are_counted_and_no_more_than_were_asked_for() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    peer.write_all(&[b'x'; 1000]).unwrap();
    peer.write_all(b"rest").unwrap();
    let mut left = 1000;
    while left > 0 {
        ring.discard(&socket, left, true, 2).unwrap();
        left -= next(&mut ring).result.unwrap();
    }
    ring.receive(&socket, PIECES, 3).unwrap();
    assert_eq!(next(&mut ring).result, Ok(4));
    assert_eq!(ring.bytes(), b"rest");
}

#[test]
fn without_a_buffer_nothing_is_lost() {
    let mut ring = ring(RingMemory { buffers: 1, buffer_bytes: 2 });
    let (socket, mut peer) = pair(&mut ring);
    peer.write_all(b"abcdef").unwrap();
    drop(peer);
    let mut seen = Vec::new();
    loop {
        ring.receive(&socket, PIECES, 2).unwrap();
        let completion = loop {
            let completion = next(&mut ring);
            seen.extend_from_slice(ring.bytes());
            if !completion.more {
                break completion;
            }
        };
        match completion.result {
            Ok(0) => break,
            Err(error) => assert_eq!(error, OpError::NoBuffers),
            Ok(_) => {}
        }
    }
    assert_eq!(seen, b"abcdef");
}

#[test]
fn a_cancelled_receive_ends_and_a_retired_socket_is_closed() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    ring.receive(&socket, PIECES, 2).unwrap();
    ring.wait(Duration::ZERO, WaitPolicy::default()).unwrap();
    ring.cancel(2, 3).unwrap();
    ring.retire(socket);
    let completion = next(&mut ring);
    assert_eq!((completion.token, completion.result), (2, Err(OpError::Canceled)));
    // The peer would wait forever for an end that never comes.
    assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn retired_sockets_can_be_closed_before_the_next_wait() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    ring.send_fixed(&socket, 0..FIXED.len(), false, 2).unwrap();
    ring.retire(socket);
    ring.flush_retired().unwrap();
    let mut bytes = Vec::new();
    peer.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, FIXED);
}

#[test]
fn a_ring_that_is_dropped_leaves_nothing_under_way() {
    let mut ring = ring(MEMORY);
    let pairs: Vec<_> = (0..50).map(|_| pair(&mut ring)).collect();
    let mut peers = Vec::new();
    for (socket, peer) in pairs {
        ring.receive(&socket, PIECES, 2).unwrap();
        ring.send_copy(&socket, &vec![0; TOO_MUCH], 3).unwrap();
        ring.wait(Duration::ZERO, WaitPolicy::default()).unwrap();
        drop(socket);
        peers.push(peer);
    }
    drop(ring);
    for mut peer in peers {
        // Only now does no operation hold the socket open: what was sent comes, and then the end.
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() < TOO_MUCH);
    }
}

#[test]
fn a_lingering_wait_ends_with_what_is_there() {
    let mut ring = ring(MEMORY);
    let (socket, mut peer) = pair(&mut ring);
    ring.receive(&socket, PIECES, 2).unwrap();
    peer.write_all(b"x").unwrap();
    let policy = WaitPolicy { completions: 50, linger: Duration::from_micros(100) };
    ring.wait(Duration::from_secs(60), policy).unwrap();
    assert_eq!(ring.next_completion().unwrap().result, Ok(1));
}
