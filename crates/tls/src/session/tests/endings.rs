//! How sessions end, well and badly.

use super::peer::{BOTH, Pair, World};
use crate::{Alert, TlsFailure, TlsFailureKind};

#[test]
fn a_server_that_says_goodbye_ends_the_session_cleanly() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        pair.server_says(b"last words");
        pair.server.send_close_notify();
        pair.settle();
        assert_eq!(pair.client_failure, None);
        assert_eq!(pair.client_read, b"last words");
        assert!(pair.client.peer_closed() && !pair.client.is_open());
        assert_eq!(pair.client.end(), Ok(()));
        assert_eq!(pair.client.seal(b"too late", &mut Vec::new()), Err(TlsFailure::NotOpen));
    }
}

#[test]
fn bytes_after_the_goodbye_are_not_read() {
    let mut pair = World::new(BOTH[1]).open();
    pair.server.send_close_notify();
    let mut flight = pair.flight();
    flight.extend([23, 3, 3, 0, 17]);
    flight.extend([0; 17]);
    pair.hear(&mut flight);
    pair.hear(&mut b"nor is this".to_vec());
    assert_eq!(pair.client_failure, None);
    assert_eq!(pair.client.end(), Ok(()));
}

#[test]
fn a_connection_that_just_ends_is_truncated() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        pair.server_says(b"half a");
        pair.settle();
        assert_eq!(pair.client.end(), Err(TlsFailure::Truncated));
        assert_eq!(TlsFailure::Truncated.kind(), TlsFailureKind::Record);
    }
}

#[test]
fn a_connection_that_ends_within_the_handshake_says_so() {
    for version in BOTH {
        let world = World::new(version);
        let mut pair = Pair::new(&world.client, &world.config);
        pair.serve();
        let mut flight = pair.flight();
        let half = flight.len() / 2;
        pair.hear(&mut flight[..half]);
        assert_eq!(pair.client_failure, None);
        assert_eq!(pair.client.end(), Err(TlsFailure::ClosedInHandshake));
        assert_eq!(TlsFailure::ClosedInHandshake.kind(), TlsFailureKind::Handshake);
    }
}

#[test]
fn our_goodbye_is_said_once_and_understood() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        pair.client.close(&mut pair.to_server);
        let once = pair.to_server.len();
        pair.client.close(&mut pair.to_server);
        assert_eq!(pair.to_server.len(), once);
        assert!(!pair.client.is_open());
        let sent = std::mem::take(&mut pair.to_server);
        pair.server.read_tls(&mut sent.as_slice()).unwrap();
        assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
    }
}

#[test]
fn an_answer_in_plain_http_is_no_tls() {
    for answer in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), &[0; 64], &[22, 3, 3, 255, 255, 1]] {
        let world = World::new(BOTH[1]);
        let mut pair = Pair::new(&world.client, &world.config);
        pair.hear(&mut answer.to_vec());
        assert_eq!(pair.client_failure, Some(TlsFailure::NotTls));
        assert_eq!(pair.client.end(), Err(TlsFailure::NotTls), "a failure stays");
        assert!(TlsFailure::NotTls.to_string().contains("https"));
    }
}

#[test]
fn garbage_in_records_breaks_the_handshake_with_an_alert() {
    let world = World::new(BOTH[1]);
    let mut pair = Pair::new(&world.client, &world.config);
    pair.to_server.clear();
    pair.hear(&mut [22, 3, 3, 0, 4, 2, 0, 0, 0]);
    let failure = pair.client_failure.unwrap();
    assert!(matches!(failure, TlsFailure::BrokenHandshake(_)), "{failure}");
    assert_eq!(failure.kind(), TlsFailureKind::Handshake);
    assert_eq!(pair.to_server[0], 21, "an alert");
}

#[test]
fn a_refusal_in_the_handshake_has_the_name_of_its_alert() {
    let world = World::new(BOTH[1]);
    let mut pair = Pair::new(&world.client, &world.config);
    pair.hear(&mut [21, 3, 3, 0, 2, 2, 40]);
    let failure = pair.client_failure.unwrap();
    assert_eq!(failure, TlsFailure::Refused(Alert::new(40)));
    assert_eq!(failure.kind(), TlsFailureKind::Handshake);
    assert!(failure.to_string().contains("handshake_failure (40)"), "{failure}");
}

#[test]
fn a_server_of_old_versions_only_is_incompatible() {
    let world = World::new(BOTH[1]);
    let mut pair = Pair::new(&world.client, &world.config);
    // A ServerHello that chooses TLS 1.1, without session and extensions.
    let mut hello = vec![22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0xc0, 0x2f, 0]);
    pair.hear(&mut hello);
    let failure = pair.client_failure.unwrap();
    assert!(matches!(failure, TlsFailure::Incompatible(_)), "{failure}");
    assert_eq!(failure.kind(), TlsFailureKind::Handshake);
}

#[test]
fn a_changed_record_is_refused_with_an_alert() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        pair.server_says(b"as it was");
        let mut flight = pair.flight();
        *flight.last_mut().unwrap() ^= 1;
        pair.hear(&mut flight);
        assert_eq!(pair.client_failure, Some(TlsFailure::Undecryptable));
        assert_eq!(TlsFailure::Undecryptable.kind(), TlsFailureKind::Record);
        assert!(pair.client_read.is_empty());
        pair.serve();
        let reason = pair.server_error.unwrap().to_string();
        assert!(reason.contains("BadRecordMac"), "{reason}");
    }
}

#[test]
fn bytes_that_are_no_record_break_an_open_session() {
    let mut pair = World::new(BOTH[0]).open();
    pair.hear(&mut b"HTTP/1.1 200 OK\r\n".to_vec());
    let failure = pair.client_failure.unwrap();
    assert!(matches!(failure, TlsFailure::BrokenRecord(_)), "{failure}");
    assert_eq!(failure.kind(), TlsFailureKind::Record);
}
