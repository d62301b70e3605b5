//! What a handshake agrees on, and how it is carried.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{SupportedCipherSuite, version};

use super::authority::{Authority, Signed};
use super::peer::{BOTH, Pair, World, server, server_of, trusting};
use crate::{Client, TlsFailure, TlsSettings};

/// The names of the cipher when the server has only this one, after both sides have talked.
fn cipher_with(suite: SupportedCipherSuite, client: &Client, signed: &Signed) -> &'static str {
    let config = Arc::new(server_of(&BOTH, vec![suite], signed, None));
    let mut pair = Pair::open(client, &config);
    pair.talk();
    pair.client.established().unwrap().cipher
}

#[test]
fn every_cipher_carries_data_and_is_named_as_openssl_names_it() {
    let authority = Authority::new();
    let client = Client::new(&trusting(&authority)).unwrap();
    let (ecdsa, rsa) = (authority.server(&["localhost"]), authority.rsa_server(&["localhost"]));
    let mut names: Vec<_> = aws_lc_rs::default_provider()
        .cipher_suites
        .into_iter()
        .map(|suite| {
            let signed = if format!("{suite:?}").contains("RSA_WITH") { &rsa } else { &ecdsa };
            let signed = if format!("{suite:?}").contains("ECDSA_WITH") { &ecdsa } else { signed };
            cipher_with(suite, &client, signed)
        })
        .collect();
    names.sort_unstable();
    let expected = [
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_version_is_named_as_openssl_names_it() {
    let versions = BOTH.map(|version| World::new(version).open().client.established().unwrap().version);
    assert_eq!(versions, ["TLSv1.2", "TLSv1.3"]);
}

#[test]
fn a_handshake_can_come_byte_by_byte() {
    for version in BOTH {
        let world = World::new(version);
        let mut pair = Pair::new(&world.client, &world.config);
        pair.settle_cut(&mut |_| 1);
        assert!(pair.client.is_open());
        pair.talk();
    }
}

#[test]
fn nothing_is_established_or_sealed_before_the_handshake_is_done() {
    let world = World::new(&version::TLS13);
    let mut pair = Pair::new(&world.client, &world.config);
    assert!(!pair.client.is_open());
    assert_eq!(pair.client.established(), None);
    assert_eq!(pair.client.seal(b"too soon", &mut Vec::new()), Err(TlsFailure::NotOpen));
    pair.settle();
    pair.talk();
}

#[test]
fn data_may_come_in_the_same_read_as_the_end_of_the_handshake() {
    let authority = Authority::new();
    let client = Client::new(&trusting(&authority)).unwrap();
    for version in BOTH {
        let mut config = server(version, &authority.server(&["localhost"]));
        config.send_half_rtt_data = true;
        let mut pair = Pair::new(&client, &Arc::new(config));
        pair.server_says(b"early words");
        pair.settle();
        assert_eq!(pair.client_read, b"early words");
        pair.talk();
    }
}

#[test]
fn a_dns_name_is_sent_to_the_server_and_an_address_is_not() {
    let authority = Authority::new();
    let client = Client::new(&trusting(&authority)).unwrap();
    let config = Arc::new(server(&version::TLS13, &authority.server(&["localhost", "127.0.0.1", "::1"])));
    for (name, sent) in
        [("localhost", Some("localhost")), ("127.0.0.1", None), ("::1", None), ("[::1]", None)]
    {
        let mut pair = Pair::named(&client, &config, name);
        pair.settle();
        assert_eq!(pair.client_failure, None);
        assert_eq!(pair.server.server_name(), sent, "for {name}");
    }
}

#[test]
fn the_protocol_that_the_server_chose_is_reported() {
    let authority = Authority::new();
    let offering = |alpn: &[&[u8]]| {
        let alpn = alpn.iter().map(|name| name.to_vec()).collect();
        Client::new(&TlsSettings { alpn, ..trusting(&authority) }).unwrap()
    };
    let mut config = server(&version::TLS13, &authority.server(&["localhost"]));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let chosen = |client: &Client| Pair::open(client, &config).client.established().unwrap().alpn.clone();
    assert_eq!(chosen(&offering(&[b"h2", b"http/1.1"])).as_deref(), Some(b"http/1.1".as_slice()));
    assert_eq!(chosen(&offering(&[])), None);

    let mut pair = Pair::new(&offering(&[b"h2"]), &config);
    pair.settle();
    let failure = pair.client_failure.unwrap().to_string();
    assert!(failure.contains("no_application_protocol (120)"), "{failure}");
}

#[test]
fn a_server_with_other_groups_costs_a_round_trip_and_no_failure() {
    let authority = Authority::new();
    let client = Client::new(&trusting(&authority)).unwrap();
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups = vec![aws_lc_rs::kx_group::SECP384R1];
    let signed = authority.server(&["localhost"]);
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(signed.chain(), signed.key())
        .unwrap();
    Pair::open(&client, &Arc::new(config)).talk();
}
