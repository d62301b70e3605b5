//! Every fault of a server's certificate has its name.

use std::sync::Arc;

use super::authority::{Authority, Signed, self_signed};
use super::peer::{BOTH, Pair, server, trusting};
use crate::{Client, Roots, TlsError, TlsFailure, TlsFailureKind, TlsSettings};

/// How a client with `settings` fares with a server that shows `signed`, which is the same in both versions.
fn outcome(settings: &TlsSettings, signed: &Signed) -> Option<TlsFailure> {
    let outcomes = BOTH.map(|version| {
        let mut pair = Pair::new(&Client::new(settings).unwrap(), &Arc::new(server(version, signed)));
        pair.settle();
        assert_eq!(pair.client.is_open(), pair.client_failure.is_none());
        assert_eq!(pair.server_error.is_some(), pair.client_failure.is_some(), "the server gets an alert");
        pair.client_failure
    });
    let [tls12, tls13] = outcomes;
    assert_eq!(tls12, tls13);
    tls13
}

fn insecure() -> TlsSettings {
    TlsSettings { verify: false, ..TlsSettings::default() }
}

#[test]
fn a_certificate_of_another_authority_is_not_trusted() {
    let signed = Authority::new().server(&["localhost"]);
    let failure = outcome(&trusting(&Authority::named("A stranger")), &signed).unwrap();
    let of_namesake = outcome(&trusting(&Authority::new()), &signed);
    assert_eq!(of_namesake.as_ref(), Some(&failure), "an authority made anew with the same name");
    assert_eq!(failure, TlsFailure::CertificateUntrusted);
    assert_eq!(failure.kind(), TlsFailureKind::Certificate);
    let text = failure.to_string();
    assert!(text.contains("--cacert") && text.contains("--insecure"), "{text}");
}

#[test]
fn a_certificate_for_other_names_says_which() {
    let authority = Authority::new();
    let signed = authority.server(&["a.test", "b.test", "c.test", "d.test", "e.test"]);
    let failure = outcome(&trusting(&authority), &signed).unwrap();
    assert_eq!(failure.kind(), TlsFailureKind::Certificate);
    let text = failure.to_string();
    assert!(text.contains("is for a.test, b.test, c.test, d.test and"), "{text}");
    assert!(text.contains("not for localhost"), "{text}");
    assert!(text.contains("and 1 more") && !text.contains("e.test"), "{text}");
}

#[test]
fn a_certificate_out_of_its_time_is_named_so() {
    let authority = Authority::new();
    let settings = trusting(&authority);
    let expired = outcome(&settings, &authority.server_between(2001, 2002));
    assert_eq!(expired, Some(TlsFailure::CertificateExpired));
    let early = outcome(&settings, &authority.server_between(3001, 3002));
    assert_eq!(early, Some(TlsFailure::CertificateNotYetValid));
}

#[test]
fn a_certificate_for_another_purpose_is_a_fault_in_words() {
    let authority = Authority::new();
    let failure = outcome(&trusting(&authority), &authority.client()).unwrap();
    assert!(matches!(failure, TlsFailure::CertificateFault(_)), "{failure}");
    assert_eq!(failure.kind(), TlsFailureKind::Certificate);
}

#[test]
fn without_verification_every_certificate_will_do() {
    let authority = Authority::new();
    let all = [
        authority.server(&["elsewhere.test"]),
        authority.server_between(2001, 2002),
        authority.client(),
        self_signed("localhost"),
    ];
    for signed in all {
        assert_eq!(outcome(&insecure(), &signed), None);
    }
}

#[test]
fn a_server_that_signs_its_own_certificate_is_trusted_when_that_was_given() {
    let own = self_signed("localhost");
    let given = |pem: &str| TlsSettings { roots: Roots::Pem(pem.into()), ..TlsSettings::default() };
    assert_eq!(outcome(&given(&own.chain_pem), &own), None);

    let stranger = self_signed("localhost");
    assert_eq!(outcome(&given(&stranger.chain_pem), &own), Some(TlsFailure::CertificateUntrusted));

    let elsewhere = self_signed("elsewhere.test");
    let failure = outcome(&given(&elsewhere.chain_pem), &elsewhere).unwrap();
    assert!(matches!(failure, TlsFailure::CertificateWrongName { .. }), "{failure}");
}

#[test]
fn a_file_without_certificates_is_refused_with_its_option() {
    let with = |pem: &[u8]| Client::new(&TlsSettings { roots: Roots::Pem(pem.into()), ..insecure() });
    assert!(with(b"").is_ok(), "roots are not read when nothing is verified");
    let verified = |pem: &[u8]| {
        let settings = TlsSettings { roots: Roots::Pem(pem.into()), ..TlsSettings::default() };
        Client::new(&settings).unwrap_err()
    };
    assert!(matches!(verified(b"no certificate"), TlsError::NoCertificate { option: "--cacert" }));
    let torn = b"-----BEGIN CERTIFICATE-----\nAAAA\n";
    assert!(matches!(verified(torn), TlsError::Pem { option: "--cacert", .. }));
    let empty = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(matches!(verified(empty), TlsError::Authority { position: 1, .. }));
}

#[test]
fn a_name_that_no_server_can_have_is_refused() {
    for name in ["", "two words", "[::1", "-"] {
        let error = crate::ServerName::parse(name).unwrap_err();
        assert!(matches!(&error, TlsError::ServerName(named) if named == name));
    }
}
