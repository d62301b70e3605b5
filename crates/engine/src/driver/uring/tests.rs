use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use plimsoll_units::RealClock;

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
