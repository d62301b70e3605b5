//! Sessions that take up an earlier one.

use std::sync::Arc;

use rustls::HandshakeKind;
use rustls::crypto::aws_lc_rs::Ticketer;

use super::authority::Authority;
use super::peer::{BOTH, Pair, World, server, trusting};
use crate::{Client, TlsSettings};

/// Whether a pair resumed, on which both sides agree.
fn resumed(pair: &Pair) -> bool {
    let resumed = pair.client.established().unwrap().resumed;
    assert_eq!(pair.server.handshake_kind() == Some(HandshakeKind::Resumed), resumed);
    resumed
}

#[test]
fn later_sessions_of_a_client_resume_and_carry_data() {
    for version in BOTH {
        let world = World::new(version);
        let first = world.open();
        let mut second = Pair::open(&world.client.clone(), &world.config);
        assert_eq!([resumed(&first), resumed(&second)], [false, true], "{version:?}");
        second.talk();
    }
}

#[test]
fn servers_that_keep_no_sessions_resume_by_ticket() {
    let authority = Authority::new();
    let client = Client::new(&trusting(&authority)).unwrap();
    for version in BOTH {
        let mut config = server(version, &authority.server(&["localhost"]));
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        config.ticketer = Ticketer::new().unwrap();
        let config = Arc::new(config);
        let kinds = [0; 2].map(|_| resumed(&Pair::open(&client, &config)));
        assert_eq!(kinds, [false, true], "{version:?}");
    }
}

#[test]
fn nothing_is_resumed_when_resumption_is_off() {
    let authority = Authority::new();
    let client = Client::new(&TlsSettings { resumption: false, ..trusting(&authority) }).unwrap();
    for version in BOTH {
        let config = Arc::new(server(version, &authority.server(&["localhost"])));
        let kinds = [0; 3].map(|_| resumed(&Pair::open(&client, &config)));
        assert_eq!(kinds, [false; 3], "{version:?}");
    }
}

#[test]
fn a_hundred_sessions_begun_at_once_can_all_resume() {
    let world = World::new(BOTH[1]);
    let count = 100;
    let open_all = || {
        let mut pairs: Vec<_> = (0..count).map(|_| Pair::new(&world.client, &world.config)).collect();
        pairs.iter_mut().for_each(Pair::settle);
        pairs.iter().filter(|pair| resumed(pair)).count()
    };
    assert_eq!(open_all(), 0);
    assert_eq!(open_all(), count);
}

#[test]
fn clients_share_nothing() {
    let authority = Authority::new();
    let config = Arc::new(server(BOTH[1], &authority.server(&["localhost"])));
    for _ in 0..2 {
        let client = Client::new(&trusting(&authority)).unwrap();
        assert!(!resumed(&Pair::open(&client, &config)));
    }
}
