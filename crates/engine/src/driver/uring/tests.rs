use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use plimsoll_units::RealClock;
use rustix::io::Errno;

use super::*;

/// Turns of the ring that a test may take.
const MAX_TURNS: usize = 20_000;

fn driver(memory: RingMemory) -> Uring {
    Uring::with_memory(Arc::from(&b"?"[..]), memory).unwrap()
}

/// Opens `count` slots; gives the other ends in no particular order.
fn opened(driver: &mut Uring, count: usize) -> Vec<TcpStream> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 4096).unwrap();
    let route = Route::from(listener.local_addr().unwrap());
    (0..count).for_each(|slot| driver.open(slot, &route).unwrap());
    let mut connected = 0;
    turns(driver, |driver, event| {
        assert!(event.writable);
        driver.connected(event.slot).unwrap();
        connected += 1;
        connected == count
    });
    (0..count).map(|_| listener.accept().unwrap().0).collect()
}

fn receives(driver: &mut Uring, expected: &[u8]) -> bool {
    matches!(driver.receive(0, 0), Ok(Received::Bytes { bytes, .. }) if bytes == expected)
}

/// Turns until `done`, which sees each event.
fn turns(driver: &mut Uring, mut done: impl FnMut(&mut Uring, Event) -> bool) {
    for _ in 0..MAX_TURNS {
        driver.wait(Duration::from_millis(10), &RealClock).unwrap();
        while let Some(event) = driver.next_event() {
            if done(driver, event) {
                return;
            }
        }
    }
    panic!("not done within {MAX_TURNS} turns");
}

#[test]
fn two_hundred_connections_share_one_tiny_buffer() {
    let mut driver = driver(RingMemory { buffers: 1, buffer_bytes: 8 });
    let mut peers = opened(&mut driver, 200);
    for peer in &mut peers {
        peer.write_all(&[b'x'; 100]).unwrap();
    }
    let mut received = [0; 200];
    turns(&mut driver, |driver, event| {
        if let Ok(Received::Bytes { bytes, .. }) = driver.receive(event.slot, 0) {
            received[event.slot] += bytes.len();
        }
        received == [100; 200]
    });
}

#[test]
fn borrowed_bytes_arrive_in_order_however_many_there_are() {
    let mut driver = driver(MEMORY);
    let mut peer = opened(&mut driver, 1).remove(0);
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number / 7) as u8).collect();
    let reader = std::thread::spawn(move || {
        let mut seen = vec![0; 3_000_000];
        peer.read_exact(&mut seen).map(|()| (seen, peer))
    });
    let mut sent = driver.send(0, Payload::Borrowed(&bytes)).unwrap();
    assert_eq!(
        driver.send(0, Payload::Borrowed(&bytes[sent..])).unwrap(),
        0,
        "one copy is under way at a time"
    );
    turns(&mut driver, |driver, event| {
        assert!(event.writable);
        sent += driver.send(0, Payload::Borrowed(&bytes[sent..])).unwrap();
        sent == bytes.len()
    });
    // What was accepted last still has to be handed over.
    driver.wait(Duration::ZERO, &RealClock).unwrap();
    let (seen, mut peer) = reader.join().unwrap().unwrap();
    assert!(seen == bytes);
    peer.write_all(b"answer").unwrap();
    turns(&mut driver, |driver, event| event.readable && receives(driver, b"answer"));
}

#[test]
fn a_slot_that_was_closed_and_opened_again_sees_nothing_of_its_old_socket() {
    let mut driver = driver(MEMORY);
    let mut old = opened(&mut driver, 1).remove(0);
    driver.wait(Duration::ZERO, &RealClock).unwrap();
    old.write_all(b"old").unwrap();
    driver.close(0);
    let mut new = opened(&mut driver, 1).remove(0);
    new.write_all(b"new").unwrap();
    turns(&mut driver, |driver, event| {
        assert!(event.readable);
        receives(driver, b"new")
    });
    // The old socket is closed, with bytes unread or not.
    assert!(old.read(&mut [0; 8]).map_or(true, |count| count == 0));
}

#[test]
fn a_send_that_fails_ends_the_slot_as_broken() {
    let mut driver = driver(MEMORY);
    let peer = opened(&mut driver, 1).remove(0);
    rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
    drop(peer);
    assert_eq!(driver.send(0, Payload::Fixed(0..1)).unwrap(), 1);
    turns(&mut driver, |driver, event| {
        assert!(event.readable);
        driver.receive(0, 0).is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock)
    });
}

/// Receives as the worker does while a response is incomplete, until there is nothing. At the end of the connection, gives
/// whether it was reset.
fn receive_all(driver: &mut Uring, slot: usize, received: &mut usize) -> Option<bool> {
    loop {
        match driver.receive(slot, 0) {
            Ok(Received::Bytes { bytes: [], .. }) => return Some(false),
            Ok(Received::Bytes { bytes, .. }) => *received += bytes.len(),
            Ok(Received::Discarded { .. }) => unreachable!("nothing is discarded"),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            Err(_) => return Some(true),
        }
    }
}

#[test]
fn a_reset_is_reported_after_all_pieces_that_came_before_it() {
    let mut driver = driver(RingMemory { buffers: 16, buffer_bytes: 8 });
    let mut peer = opened(&mut driver, 1).pop();
    rustix::net::sockopt::set_socket_linger(peer.as_ref().unwrap(), Some(Duration::ZERO)).unwrap();
    // The receive is armed before there are bytes, so that it gives several pieces in one turn.
    driver.wait(Duration::ZERO, &RealClock).unwrap();
    peer.as_mut().unwrap().write_all(&[b'x'; 30]).unwrap();
    let (mut received, mut reset) = (0, None);
    turns(&mut driver, |driver, event| {
        assert!(event.readable);
        // The peer resets the connection while the first piece is read and the others wait.
        drop(peer.take());
        reset = receive_all(driver, 0, &mut received);
        reset.is_some()
    });
    assert_eq!((received, reset), (30, Some(true)));
}

#[test]
fn what_comes_with_a_reset_while_a_piece_is_read_is_received_before_the_reset_is_reported() {
    // What is sent meanwhile must not make the next receive wait for more.
    for sends in [false, true] {
        let mut driver = driver(MEMORY);
        let mut peers = opened(&mut driver, 2);
        driver.wait(Duration::ZERO, &RealClock).unwrap();
        for peer in &mut peers {
            rustix::net::sockopt::set_socket_linger(&*peer, Some(Duration::ZERO)).unwrap();
            peer.write_all(b"head").unwrap();
        }
        let (mut received, mut resets) = ([0; 2], [None; 2]);
        turns(&mut driver, |driver, event| {
            assert!(event.readable);
            for (slot, mut peer) in peers.drain(..).enumerate() {
                if sends {
                    assert_eq!(driver.send(slot, Payload::Fixed(0..1)).unwrap(), 1);
                }
                peer.write_all(b"body").unwrap();
            }
            resets[event.slot] = receive_all(driver, event.slot, &mut received[event.slot]);
            resets.iter().all(Option::is_some)
        });
        assert_eq!((received, resets), ([8; 2], [Some(true); 2]), "sends: {sends}");
    }
}

#[test]
fn what_a_peer_does_not_take_is_given_up_with_its_slot() {
    let mut driver = driver(MEMORY);
    let mut peer = opened(&mut driver, 1).remove(0);
    let (bytes, mut sent, mut idle_turns) = (vec![b'x'; MAX_COPY_BYTES], 0, 0);
    let turn = |driver: &mut Uring| {
        driver.wait(Duration::from_millis(5), &RealClock).unwrap();
        while driver.next_event().is_some() {}
    };
    while idle_turns < 20 {
        let count = driver.send(0, Payload::Borrowed(&bytes)).unwrap();
        idle_turns = if count == 0 { idle_turns + 1 } else { 0 };
        sent += count;
        turn(&mut driver);
    }
    driver.close(0);
    let reader = std::thread::spawn(move || {
        let mut seen = Vec::new();
        peer.read_to_end(&mut seen).map(|_| seen.len())
    });
    while !reader.is_finished() {
        turn(&mut driver);
    }
    let arrived = reader.join().unwrap().unwrap();
    assert!(arrived < sent, "{arrived} bytes of {sent}");
}

#[test]
fn last_bytes_go_out_behind_a_send_that_has_not_completed() {
    let mut driver = driver(MEMORY);
    let mut peers = opened(&mut driver, 1);
    assert_eq!(driver.send(0, Payload::Borrowed(b"first ")).unwrap(), 6);
    assert_eq!(driver.send_last(0, Payload::Borrowed(b"last")).unwrap(), 4);
    driver.close(0);
    driver.wait(Duration::ZERO, &RealClock).unwrap();
    let mut received = String::new();
    peers[0].read_to_string(&mut received).unwrap();
    assert_eq!(received, "first last");
}

/// Hands the driver a completion that the kernel did not send.
fn inject(driver: &mut Uring, kind: Kind, result: Result<u32, OpError>) -> Option<Event> {
    let token = token(kind, driver.slots[0].generation, 0);
    driver.event(Completion { token, result, more: false, nonempty: false })
}

#[test]
fn a_receive_that_only_has_to_be_repeated_is() {
    let (again, interrupted) =
        (OpError::Os(Errno::AGAIN.raw_os_error()), OpError::Os(Errno::INTR.raw_os_error()));
    for error in [OpError::NoBuffers, OpError::Canceled, again, interrupted] {
        let mut driver = driver(MEMORY);
        let mut peer = opened(&mut driver, 1).remove(0);
        for kind in [Kind::Receive, Kind::Discard] {
            assert_eq!(inject(&mut driver, kind, Err(error)), None, "{error:?}");
        }
        peer.write_all(b"answer").unwrap();
        turns(&mut driver, |driver, event| event.readable && receives(driver, b"answer"));
    }
}

#[test]
fn an_operation_that_fails_ends_the_slot_and_nothing_else() {
    let out_of_memory = OpError::Os(Errno::NOBUFS.raw_os_error());
    for kind in [Kind::Receive, Kind::Discard, Kind::SendFixed, Kind::SendCopy, Kind::SilentSend] {
        let mut driver = driver(MEMORY);
        let mut peers = opened(&mut driver, 2);
        let failed = |driver: &mut Uring, event: Event| {
            event.slot == 0
                && event.readable
                && driver.receive(0, 0).is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock)
        };
        match inject(&mut driver, kind, Err(out_of_memory)) {
            Some(event) => assert!(failed(&mut driver, event), "{kind:?}"),
            // What the peer sent before it ends is still received.
            None => {
                peers[0].write_all(b"last").unwrap();
                peers[0].shutdown(std::net::Shutdown::Both).unwrap();
                turns(&mut driver, failed);
            }
        }
        peers[1].write_all(b"answer").unwrap();
        turns(&mut driver, |driver, event| {
            event.slot == 1
                && matches!(driver.receive(1, 0), Ok(Received::Bytes { bytes, .. }) if bytes == b"answer")
        });
    }
}

#[test]
fn a_send_goes_on_where_the_last_one_ended() {
    const LENGTH: usize = 4 << 20;
    let bytes: Arc<[u8]> = (0..LENGTH).map(|number| (number / 7) as u8).collect();
    let mut driver = Uring::with_memory(Arc::clone(&bytes), MEMORY).unwrap();
    let _peer = opened(&mut driver, 1).remove(0);
    assert_eq!(driver.send(0, Payload::Fixed(0..LENGTH)).unwrap(), 0);
    let event = inject(&mut driver, Kind::SendFixed, Ok(1000)).unwrap();
    assert!(event.writable);
    assert_eq!(driver.send(0, Payload::Fixed(0..LENGTH)).unwrap(), 1000);
}

#[test]
fn completions_of_a_socket_that_is_closed_mean_nothing() {
    let mut driver = driver(MEMORY);
    let _peer = opened(&mut driver, 1);
    let stale = token(Kind::Receive, driver.slots[0].generation, 0);
    driver.close(0);
    let _next = opened(&mut driver, 1);
    for result in [Ok(0), Err(OpError::Canceled), Err(OpError::Os(Errno::CONNRESET.raw_os_error()))] {
        assert_eq!(driver.event(Completion { token: stale, result, more: false, nonempty: false }), None);
    }
}
