//! Servers that demand a certificate of the client.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;

use super::authority::{Authority, Signed};
use super::peer::{BOTH, Pair, demands_client_of, server_of, trusting};
use crate::{Client, Identity, TlsError, TlsFailure, TlsFailureKind, TlsSettings};

fn identity(signed: &Signed) -> Option<Identity> {
    Some(Identity {
        chain_pem: signed.chain_pem.clone().into_bytes(),
        key_pem: signed.key_pem.clone().into_bytes(),
    })
}

/// How clients with `identity` fare with servers of both versions that demand one of `authority`.
fn meet(authority: &Authority, identity: Option<Identity>) -> [Pair; 2] {
    let client = Client::new(&TlsSettings { identity, ..trusting(authority) }).unwrap();
    BOTH.map(|version| {
        let suites = aws_lc_rs::default_provider().cipher_suites;
        let signed = authority.server(&["localhost"]);
        let config = server_of(&[version], suites, &signed, Some(demands_client_of(authority)));
        let mut pair = Pair::new(&client, &Arc::new(config));
        pair.settle();
        pair
    })
}

#[test]
fn a_server_that_demands_a_certificate_gets_the_one_given() {
    let authority = Authority::new();
    let client = authority.client();
    for mut pair in meet(&authority, identity(&client)) {
        assert_eq!(pair.server.peer_certificates().unwrap(), client.chain());
        pair.talk();
    }
}

#[test]
fn a_missing_certificate_is_a_refused_handshake_with_advice_in_both_versions() {
    let [tls12, tls13] = meet(&Authority::new(), None).map(|pair| pair.client_failure.unwrap());
    for failure in [&tls12, &tls13] {
        assert!(matches!(failure, TlsFailure::Refused(_)), "{failure}");
        assert_eq!(failure.kind(), TlsFailureKind::Handshake);
        assert!(failure.to_string().contains("--cert"), "{failure}");
    }
    assert!(tls13.to_string().contains("certificate_required (116)"), "{tls13}");
}

#[test]
fn a_certificate_of_a_strange_authority_is_refused_by_its_alert() {
    let strange = Authority::named("A stranger").client();
    for pair in meet(&Authority::new(), identity(&strange)) {
        let failure = pair.client_failure.unwrap().to_string();
        assert!(failure.contains("unknown_ca (48)") && failure.contains("--cert"), "{failure}");
    }
}

fn refused(chain_pem: &str, key_pem: &str) -> TlsError {
    let identity = Some(Identity { chain_pem: chain_pem.into(), key_pem: key_pem.into() });
    Client::new(&TlsSettings { identity, verify: false, ..TlsSettings::default() }).unwrap_err()
}

#[test]
fn a_certificate_and_a_key_that_do_not_fit_are_refused() {
    let authority = Authority::new();
    let (one, other) = (authority.client(), authority.client());
    assert!(matches!(refused(&one.chain_pem, &other.key_pem), TlsError::KeyMismatch));
    assert!(matches!(refused(&one.chain_pem, &one.chain_pem), TlsError::NoKey));
    assert!(matches!(refused(&one.key_pem, &one.key_pem), TlsError::NoCertificate { option: "--cert" }));
    let encrypted = one.key_pem.replace("PRIVATE", "ENCRYPTED PRIVATE");
    assert!(matches!(refused(&one.chain_pem, &encrypted), TlsError::EncryptedKey));
    let torn = one.key_pem.replace("-----END", "");
    assert!(matches!(refused(&one.chain_pem, &torn), TlsError::Pem { option: "--key", .. }));
    let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    assert!(matches!(refused(&one.chain_pem, broken), TlsError::Identity(_)));
}

#[test]
fn a_key_does_not_show_in_what_is_printed() {
    let printed = format!("{:?}", identity(&Authority::new().client()));
    assert!(!printed.contains("45, 45, 45"), "{printed}");
}
