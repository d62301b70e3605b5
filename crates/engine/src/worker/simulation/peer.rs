//! The server's end of one connection: a protocol, and TLS below it if there is any.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use plimsoll_tls::{Client, Roots, ServerName, TlsSettings};
use plimsoll_units::Instant;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ServerConfig, ServerConnection};

use super::account::Account;
use super::http1::Http1;
use super::http2::{Http2, StreamSpeech};
use super::traffic::Request;
use super::weather::Weather;
use crate::step_spec::TlsConfig;
use plimsoll_testkit::Random;

/// How the server ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Orderly,
    Reset,
}

/// What the last byte of something that the server says means, once the worker was given it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Mark {
    #[default]
    Nothing,
    /// The response to this request is whole.
    Whole(u64),
    /// It is, and the connection must be closed.
    LastWhole(u64),
    /// It is whole when the connection ends.
    WholeAtEnd(u64),
    /// What came cannot be read, and the connection must be closed.
    Broken,
}

/// What the server says at some time, before it is encrypted.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) bytes: Vec<u8>,
    pub(super) mark: Mark,
    pub(super) end: Option<End>,
    /// A session of TLS is closed by it, as the end of a connection should be announced.
    pub(super) closes_tls: bool,
    /// How many of the bytes come after the mark.
    pub(super) after_mark: usize,
}

/// What the server wants to say.
#[derive(Debug)]
pub(super) enum Speech {
    Bytes(Spoken),
    /// Bytes that are not encrypted, whether the rest is or not.
    Plain(Vec<u8>),
    /// What TLS itself has to say.
    Session,
    /// Something of HTTP/2, which depends on what has happened by then.
    Stream(StreamSpeech),
}

/// The server says something at an instant.
#[derive(Debug)]
pub(super) struct Says {
    pub(super) at: Instant,
    pub(super) speech: Speech,
}

/// What a server needs to decide what it does.
pub(super) struct Served<'a> {
    pub(super) now: Instant,
    pub(super) random: &'a mut Random,
    pub(super) weather: &'a Weather,
    pub(super) account: &'a Account,
    /// The most requests that a connection may carry at a time.
    pub(super) depth: usize,
    /// Requests that came whole.
    pub(super) requests: u64,
}

impl Served<'_> {
    pub(super) fn arrived(&mut self, request: Request) {
        self.requests += 1;
        self.account.arrived(request);
    }
}

/// The protocol that a server speaks.
#[derive(Debug)]
pub(super) enum Protocol {
    Http1(Http1),
    Http2(Box<Http2>),
}

/// The server's end of a connection.
pub(super) struct Peer {
    tls: Option<ServerConnection>,
    protocol: Protocol,
}

impl Peer {
    pub(super) fn new(streams: bool, tls: Option<&Arc<ServerConfig>>) -> Self {
        let protocol =
            if streams { Protocol::Http2(Box::default()) } else { Protocol::Http1(Http1::default()) };
        let session = |config: &Arc<ServerConfig>| {
            let mut session = ServerConnection::new(Arc::clone(config)).expect("a session of the server");
            session.set_buffer_limit(None);
            session
        };
        Self { tls: tls.map(session), protocol }
    }

    /// Takes what the client sent: what the server says to it.
    pub(super) fn take(&mut self, sent: &[u8], served: &mut Served<'_>) -> Vec<Says> {
        let Some(tls) = &mut self.tls else { return self.take_plain(sent, served) };
        let was_handshaking = tls.is_handshaking();
        let (mut rest, mut plain) = (sent, Vec::new());
        while !rest.is_empty() {
            tls.read_tls(&mut rest).expect("bytes in memory");
            match tls.process_new_packets() {
                Ok(_) => {}
                Err(rustls::Error::AlertReceived(_)) => return Vec::new(),
                Err(error) => panic!("the client's TLS is wrong: {error}"),
            }
            // It would block when it has come to the end of what there is.
            tls.reader().read_to_end(&mut plain).unwrap_or_default();
        }
        let replies = tls.wants_write();
        let mut says = self.take_plain(&plain, served);
        if replies {
            says.insert(0, Says { at: served.now, speech: reply_of_tls(was_handshaking, served) });
        }
        says
    }

    fn take_plain(&mut self, sent: &[u8], served: &mut Served<'_>) -> Vec<Says> {
        match &mut self.protocol {
            Protocol::Http1(server) => server.take(sent, served),
            Protocol::Http2(server) => server.take(sent, served),
        }
    }

    /// Says something now: the bytes as they go over the wire, what they mean, and what follows from them.
    pub(super) fn speak(&mut self, speech: Speech, served: &mut Served<'_>) -> (Spoken, Vec<Says>) {
        let (spoken, says) = match (speech, &mut self.protocol) {
            (Speech::Plain(bytes), _) => {
                return (Spoken { bytes, mark: Mark::Broken, ..Spoken::default() }, Vec::new());
            }
            (Speech::Session, _) => (Spoken::default(), Vec::new()),
            (Speech::Bytes(spoken), _) => (spoken, Vec::new()),
            (Speech::Stream(speech), Protocol::Http2(server)) => server.speak(speech, served),
            (Speech::Stream(_), Protocol::Http1(_)) => panic!("HTTP/1.1 has no streams"),
        };
        (self.seal(spoken), says)
    }

    fn seal(&mut self, spoken: Spoken) -> Spoken {
        let Some(tls) = &mut self.tls else { return spoken };
        tls.writer().write_all(&spoken.bytes).expect("a buffer without a limit");
        let mut bytes = Vec::new();
        write_tls(tls, &mut bytes);
        let marked = bytes.len();
        if spoken.closes_tls {
            tls.send_close_notify();
            write_tls(tls, &mut bytes);
        }
        // The session ends before the connection does.
        if let Mark::WholeAtEnd(number) = spoken.mark {
            return Spoken { bytes, mark: Mark::LastWhole(number), ..spoken };
        }
        let after_mark = bytes.len() - marked;
        Spoken { bytes, after_mark, ..spoken }
    }
}

fn write_tls(tls: &mut ServerConnection, bytes: &mut Vec<u8>) {
    while tls.wants_write() {
        tls.write_tls(bytes).expect("a buffer");
    }
}

/// TLS goes on, or breaks within the handshake.
fn reply_of_tls(handshaking: bool, served: &mut Served<'_>) -> Speech {
    if handshaking && served.random.permille(served.weather.malformed) {
        return Speech::Plain(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec());
    }
    if handshaking && served.random.permille(served.weather.cut) {
        return Speech::Bytes(Spoken { end: Some(End::Reset), ..Spoken::default() });
    }
    Speech::Session
}

/// Both ends of the encryption of a world. Nothing in it depends on the worlds before.
pub(super) fn encryption(
    certificate: &rcgen::CertifiedKey<rcgen::KeyPair>,
    streams: bool,
) -> (TlsConfig, Arc<ServerConfig>) {
    let protocol = if streams { b"h2".to_vec() } else { b"http/1.1".to_vec() };
    let key =
        PrivateKeyDer::from_pem_slice(certificate.signing_key.serialize_pem().as_bytes()).expect("a key");
    let mut server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.cert.der().clone()], key)
        .expect("a server");
    server.alpn_protocols = vec![protocol.clone()];
    let roots = Roots::Pem(certificate.cert.pem().into_bytes());
    let settings = TlsSettings { roots, alpn: vec![protocol], ..TlsSettings::default() };
    let client = Client::new(&settings).expect("a client");
    (TlsConfig { client, name: ServerName::parse("localhost").expect("a name") }, Arc::new(server))
}
