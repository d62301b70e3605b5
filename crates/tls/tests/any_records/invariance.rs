//! What holds for every byte that a server sends on an encrypted connection, however it is cut into reads: shared by the tests
//! and the fuzz target.

use std::sync::{Arc, LazyLock};

use plimsoll_tls::{Client, Roots, ServerName, Session, TlsFailure, TlsSettings};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ServerConfig, ServerConnection};

/// Bytes of a fuzzed input before its stream: what went before, and the lengths of three pieces.
const CONTROL_BYTES: usize = 4;
/// Bytes that a client sends besides its first message: answers and alerts.
const MAX_SENT_BYTES: usize = 64 * 1024;

struct World {
    client: Client,
    server: Arc<ServerConfig>,
    name: ServerName,
}

/// A client, and a server that it trusts.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(signed.signing_key.serialize_pem().as_bytes()).expect("a key");
    let server = ServerConfig::builder().with_no_client_auth();
    let server = server.with_single_cert(vec![signed.cert.der().clone()], key).expect("a server");
    let roots = Roots::Pem(signed.cert.pem().into_bytes());
    let settings = TlsSettings { roots, resumption: false, ..TlsSettings::default() };
    World {
        client: Client::new(&settings).expect("a client"),
        server: Arc::new(server),
        name: ServerName::parse("localhost").expect("a name"),
    }
});

/// What a client makes of a stream.
#[derive(Debug, PartialEq)]
struct Outcome {
    plain: Vec<u8>,
    failure: Option<TlsFailure>,
    is_open: bool,
    peer_closed: bool,
    sent_bytes: usize,
}

/// Reads a stream in pieces of these lengths, and what is left after them in one.
fn read(session: &mut Session, stream: &[u8], pieces: impl IntoIterator<Item = usize>) -> Outcome {
    let (mut plain, mut sent, mut failure) = (Vec::new(), Vec::new(), None);
    let (mut rest, mut pieces) = (stream, pieces.into_iter());
    while !rest.is_empty() && failure.is_none() {
        let (piece, after) = rest.split_at(pieces.next().unwrap_or(rest.len()).clamp(1, rest.len()));
        rest = after;
        let mut piece = piece.to_vec();
        failure = session.receive(&mut piece, &mut sent, &mut |bytes| plain.extend_from_slice(bytes)).err();
    }
    if let Some(failure) = &failure {
        let again = session.receive(&mut [], &mut Vec::new(), &mut |_| ());
        assert_eq!(again.as_ref(), Err(failure), "a failure stays");
        assert_eq!(session.end().as_ref(), Err(failure));
        assert!(session.seal(b"?", &mut Vec::new()).is_err() && !failure.to_string().is_empty());
    }
    assert!(sent.len() <= MAX_SENT_BYTES && plain.len() <= stream.len());
    Outcome {
        plain,
        failure,
        is_open: session.is_open(),
        peer_closed: session.peer_closed(),
        sent_bytes: sent.len(),
    }
}

/// A session that has sent its first message.
fn begun() -> Session {
    let mut session = WORLD.client.session(&WORLD.name).expect("a session");
    session.start(&mut Vec::new()).expect("a first message");
    session
}

/// A client that hears nothing but the stream: cuts make no difference, and nothing is taken for plain text.
fn check_stranger(stream: &[u8], control: &[u8]) {
    let whole = read(&mut begun(), stream, []);
    let cut = read(&mut begun(), stream, control.iter().map(|length| usize::from(*length)).cycle());
    assert_eq!(cut, whole, "cut in pieces");
    assert!(whole.plain.is_empty() && !whole.is_open, "{whole:?}");
}

/// A handshake with a server whose flights are changed on their way: by the stream, xored over the flight that the control says
/// and from the place that it says. The handshake fails, or nothing was changed.
fn check_changed(stream: &[u8], control: &[u8]) {
    let mut session = WORLD.client.session(&WORLD.name).expect("a session");
    let mut server = ServerConnection::new(Arc::clone(&WORLD.server)).expect("a server");
    let (mut to_server, mut read_bytes) = (Vec::new(), Vec::new());
    session.start(&mut to_server).expect("a first message");
    let mut is_changed = false;
    for turn in 0..4 {
        let mut rest = to_server.as_slice();
        while !rest.is_empty() {
            server.read_tls(&mut rest).expect("bytes in memory");
            if server.process_new_packets().is_err() {
                return assert!(is_changed, "a server that was sent what it must be");
            }
        }
        to_server.clear();
        if turn == 2 {
            std::io::Write::write_all(&mut server.writer(), b"hello").expect("a few bytes");
        }
        let mut flight = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut flight).expect("bytes in memory");
        }
        if turn == usize::from(control[0]) / 2 % 4 {
            is_changed = change(&mut flight, stream, usize::from(control[1]) * 8);
        }
        let pieces = control[2..].iter().map(|length| usize::from(*length) * 16).cycle();
        for piece in cut(&mut flight, pieces) {
            let read =
                session.receive(piece, &mut to_server, &mut |plain| read_bytes.extend_from_slice(plain));
            if let Err(failure) = read {
                assert!(is_changed, "{failure}");
                assert_eq!(session.end(), Err(failure));
                return assert!(b"hello".starts_with(&read_bytes));
            }
        }
    }
    assert!(b"hello".starts_with(&read_bytes), "what the server did not say");
    assert!(is_changed || (session.is_open() && read_bytes == b"hello"));
}

/// Whether the bytes of the stream change any of the flight.
fn change(flight: &mut [u8], stream: &[u8], from: usize) -> bool {
    let changed = flight.iter_mut().skip(from).zip(stream);
    changed.fold(false, |any, (byte, other)| {
        *byte ^= other;
        any || *other != 0
    })
}

fn cut(mut rest: &mut [u8], mut pieces: impl Iterator<Item = usize>) -> Vec<&mut [u8]> {
    let mut cut = Vec::new();
    while !rest.is_empty() {
        let length = pieces.next().unwrap_or(1).clamp(1, rest.len());
        let (piece, after) = rest.split_at_mut(length);
        cut.push(piece);
        rest = after;
    }
    cut
}

/// Takes an input apart as the fuzzer writes it.
pub(crate) fn check(input: &[u8]) {
    let Some((control, stream)) = input.split_at_checked(CONTROL_BYTES) else { return };
    if control[0].is_multiple_of(2) {
        check_stranger(stream, &control[1..]);
    } else {
        check_changed(stream, control);
    }
}
