//! What a server may say after the handshake, and what it may not.

use std::sync::Arc;

use rustls::SupportedProtocolVersion;

use super::authority::Authority;
use super::peer::{BOTH, Pair, World, server, trusting};
use crate::record::{ALERT, APPLICATION, CHANGE_CIPHER_SPEC, HANDSHAKE, RecordKey};
use crate::session::Phase;
use crate::{Alert, Client, Session, TlsFailure};

const HELLO_REQUEST: [u8; 4] = [0; 4];

/// A session with a server that then says whatever the test wants, well encrypted.
struct Forged {
    client: Session,
    send: RecordKey,
    receive: RecordKey,
}

impl Forged {
    fn new(version: &'static SupportedProtocolVersion) -> Self {
        let authority = Authority::new();
        let mut config = server(version, &authority.server(&["localhost"]));
        config.enable_secret_extraction = true;
        let pair = Pair::open(&Client::new(&trusting(&authority)).unwrap(), &Arc::new(config));
        let secrets = pair.server.dangerous_extract_secrets().unwrap();
        let key = |(sequence, secrets)| RecordKey::new(sequence, &secrets, version == BOTH[1]).unwrap();
        Self { client: pair.client, send: key(secrets.tx), receive: key(secrets.rx) }
    }

    /// Says one record; what the client answers and what it makes of it.
    fn say(&mut self, kind: u8, content: &[u8]) -> (Vec<u8>, Result<(), TlsFailure>) {
        let mut record = Vec::new();
        self.send.seal(kind, content, &mut record).unwrap();
        let mut answer = Vec::new();
        let outcome = self.client.receive(&mut record, &mut answer, &mut |_| {});
        (answer, outcome)
    }

    /// The one record in `answer`.
    fn read(&mut self, mut answer: Vec<u8>) -> (u8, Vec<u8>) {
        let (kind, content) = self.receive.open(&mut answer).unwrap();
        (kind, content.to_vec())
    }

    fn breaks_by(version: usize, kind: u8, content: &[u8], alert: Alert) {
        let mut forged = Self::new(BOTH[version]);
        let (answer, outcome) = forged.say(kind, content);
        assert!(matches!(outcome, Err(TlsFailure::BrokenRecord(_))), "{kind} {content:?}: {outcome:?}");
        assert_eq!(forged.read(answer), (ALERT, vec![2, alert.code()]), "{kind} {content:?}");
    }
}

#[test]
fn renegotiation_is_declined_and_the_session_goes_on() {
    let mut forged = Forged::new(BOTH[0]);
    let (answer, outcome) = forged.say(HANDSHAKE, &HELLO_REQUEST);
    assert_eq!(outcome, Ok(()));
    assert_eq!(forged.read(answer), (ALERT, vec![1, Alert::NO_RENEGOTIATION.code()]));
    assert!(forged.client.is_open());
}

#[test]
fn what_has_no_place_after_the_handshake_is_answered_by_an_alert() {
    let unexpected = Alert::UNEXPECTED_MESSAGE;
    Forged::breaks_by(1, HANDSHAKE, &HELLO_REQUEST, unexpected);
    Forged::breaks_by(1, HANDSHAKE, &[13, 0, 0, 1, 0], unexpected);
    Forged::breaks_by(0, HANDSHAKE, &[24, 0, 0, 1, 0], unexpected);
    Forged::breaks_by(1, HANDSHAKE, &[], unexpected);
    Forged::breaks_by(1, HANDSHAKE, &[24, 0, 0, 1, 0, 4], unexpected);
    Forged::breaks_by(0, CHANGE_CIPHER_SPEC, &[1], unexpected);
    Forged::breaks_by(1, 99, b"?", unexpected);
    Forged::breaks_by(1, 0, b"", unexpected);
    Forged::breaks_by(1, HANDSHAKE, &[24, 0, 0, 1, 2], Alert::DECODE_ERROR);
    Forged::breaks_by(1, HANDSHAKE, &[4, 0, 0, 1, 2], Alert::DECODE_ERROR);
    Forged::breaks_by(1, HANDSHAKE, &[4, 255, 0, 0], Alert::DECODE_ERROR);
    Forged::breaks_by(0, ALERT, &[2], Alert::DECODE_ERROR);
    Forged::breaks_by(0, APPLICATION, &[0; (1 << 14) + 1], Alert::RECORD_OVERFLOW);
    Forged::breaks_by(1, APPLICATION, &[0; (1 << 14) + 1], Alert::RECORD_OVERFLOW);
}

#[test]
fn a_record_in_the_clear_breaks_a_session_of_tls_1_3() {
    let mut forged = Forged::new(BOTH[1]);
    let mut answer = Vec::new();
    let outcome = forged.client.receive(&mut [20, 3, 3, 0, 1, 1], &mut answer, &mut |_| {});
    assert!(matches!(outcome, Err(TlsFailure::BrokenRecord(_))), "{outcome:?}");
    assert_eq!(forged.read(answer), (ALERT, vec![2, Alert::UNEXPECTED_MESSAGE.code()]));
}

#[test]
fn records_too_short_to_be_encrypted_are_undecryptable() {
    for version in BOTH {
        for body in 0..24_u8 {
            let mut record = vec![23, 3, 3, 0, body];
            record.resize(5 + usize::from(body), 0);
            let outcome = Forged::new(version).client.receive(&mut record, &mut Vec::new(), &mut |_| {});
            assert_eq!(outcome, Err(TlsFailure::Undecryptable));
        }
    }
}

#[test]
fn a_fatal_alert_ends_the_session_by_its_name_and_is_not_answered() {
    for version in BOTH {
        let mut forged = Forged::new(version);
        assert_eq!(forged.say(APPLICATION, b"some data").1, Ok(()));
        let (answer, outcome) = forged.say(ALERT, &[2, 80]);
        let failure = outcome.unwrap_err();
        assert_eq!(failure, TlsFailure::Ended(Alert::INTERNAL_ERROR));
        assert!(failure.to_string().contains("internal_error (80)"), "{failure}");
        assert!(answer.is_empty());
    }
}

#[test]
fn a_warning_ends_nothing() {
    for (version, code) in [(BOTH[0], 112), (BOTH[1], 90)] {
        let mut forged = Forged::new(version);
        assert_eq!(forged.say(ALERT, &[1, code]), (vec![], Ok(())));
        assert!(forged.client.is_open());
    }
}

#[test]
fn a_new_key_of_the_server_is_taken_and_answered() {
    let mut pair = World::new(BOTH[1]).open();
    for _ in 0..3 {
        pair.server.refresh_traffic_keys().unwrap();
        pair.talk();
    }
}

#[test]
fn a_key_update_may_come_in_pieces_but_nothing_in_between() {
    let mut forged = Forged::new(BOTH[1]);
    for piece in [&[24_u8][..], &[0, 0], &[1]] {
        assert_eq!(forged.say(HANDSHAKE, piece), (vec![], Ok(())));
    }
    assert_eq!(forged.say(HANDSHAKE, &[0]).1, Ok(()));
    let old_key = forged.say(APPLICATION, b"with the old key").1;
    assert_eq!(old_key, Err(TlsFailure::Undecryptable));

    let mut interrupted = Forged::new(BOTH[1]);
    assert_eq!(interrupted.say(HANDSHAKE, &[24, 0, 0]).1, Ok(()));
    let outcome = interrupted.say(APPLICATION, b"hello").1;
    assert!(matches!(outcome, Err(TlsFailure::BrokenRecord(_))), "{outcome:?}");
}

#[test]
fn padding_and_empty_records_are_not_data() {
    let mut pair = World::new(BOTH[1]).open();
    let mut forged = Forged::new(BOTH[1]);
    let mut record = Vec::new();
    // What `seal` takes for the type comes last; zeros after the true type are padding.
    forged.send.seal(0, b"padded\x17\0\0\0", &mut record).unwrap();
    forged.send.seal(APPLICATION, b"", &mut record).unwrap();
    let mut pieces = Vec::new();
    let client = &mut forged.client;
    client.receive(&mut record, &mut Vec::new(), &mut |plain| pieces.push(plain.to_vec())).unwrap();
    assert_eq!(pieces, [b"padded".to_vec()]);
    pair.talk();
}

#[test]
fn our_key_is_renewed_before_its_limit_and_the_server_follows() {
    let mut pair = World::new(BOTH[1]).open();
    let Phase::Open(channel) = &mut pair.client.phase else { panic!("the session is open") };
    channel.renew_after(3);
    for _ in 0..10 {
        pair.talk();
    }
}

#[test]
fn an_alert_before_any_data_is_a_refusal_only_where_the_server_may_still_refuse() {
    let alert = Alert::new(116);
    assert_eq!(Forged::new(BOTH[1]).say(ALERT, &[2, 116]).1, Err(TlsFailure::Refused(alert)));
    assert_eq!(Forged::new(BOTH[0]).say(ALERT, &[2, 116]).1, Err(TlsFailure::Ended(alert)));
}
