//! The handshake. rustls gets one record at a time, so that it never reads a record of the open session.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData};
use rustls::{CipherSuite, HandshakeKind, ProtocolVersion, SupportedCipherSuite};

use crate::alert::Alert;
use crate::channel::Channel;
use crate::failure::TlsFailure;
use crate::record;

pub(crate) struct Handshake {
    connection: UnbufferedClientConnection,
    /// Number of bytes at the front of the input that rustls has seen and not consumed.
    shown: usize,
    keeps_tickets: bool,
}

enum Wants {
    Another,
    Record,
    Nothing,
}

impl Handshake {
    pub(crate) const fn new(connection: UnbufferedClientConnection, keeps_tickets: bool) -> Self {
        Self { connection, shown: 0, keeps_tickets }
    }

    /// Continues as far as `input` allows, removes the consumed bytes from its front, and returns whether the handshake is
    /// complete. After a failure `out` ends with the alert for the server, if one is due.
    pub(crate) fn advance(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<bool, TlsFailure> {
        loop {
            match self.step(input, out) {
                Ok(Wants::Another) => {}
                Ok(Wants::Nothing) if self.shown == 0 => return Ok(true),
                Ok(Wants::Nothing) => {
                    return Err(TlsFailure::BrokenHandshake("a message goes on after its end".into()));
                }
                Ok(Wants::Record) => match record::record_bytes(&input[self.shown..])? {
                    Some(bytes) if bytes <= input.len() - self.shown => self.shown += bytes,
                    _ => return Ok(false),
                },
                Err(failure) => {
                    self.append_alert(input, out);
                    return Err(failure);
                }
            }
        }
    }

    /// Appends the messages that a failure left, up to its alert, which is the last; an encrypted alert looks like application
    /// data. It must stop there: a further step would make rustls read the faulty input again, which debug builds assert
    /// against.
    fn append_alert(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) {
        let mut begin = out.len();
        while let Ok(Wants::Another) = self.step(input, out) {
            let kind = out.get(begin).copied();
            if kind.is_some_and(|kind| [record::ALERT, record::APPLICATION].contains(&kind)) {
                return;
            }
            begin = out.len();
        }
    }

    fn step(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<Wants, TlsFailure> {
        let status = self.connection.process_tls_records(&mut input[..self.shown]);
        let wants = match status.state {
            Ok(ConnectionState::EncodeTlsData(chunk)) => append(chunk, out),
            Ok(ConnectionState::TransmitTlsData(sent)) => {
                sent.done();
                Ok(Wants::Another)
            }
            Ok(ConnectionState::BlockedHandshake) => Ok(Wants::Record),
            Ok(ConnectionState::WriteTraffic(_)) => Ok(Wants::Nothing),
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => {
                Err(TlsFailure::Refused(Alert::CLOSE_NOTIFY))
            }
            Ok(other) => Err(TlsFailure::BrokenHandshake(format!("unexpected state {other:?}"))),
            Err(error) => Err(TlsFailure::in_handshake(error)),
        };
        let used = status.discard;
        input.drain(..used);
        self.shown -= used;
        wants
    }

    /// Passes the keys to the record layer of the open session.
    pub(crate) fn open(self) -> Result<(Channel, Established), TlsFailure> {
        let established = Established::from_connection(&self.connection)
            .ok_or_else(|| TlsFailure::BrokenHandshake("it ended without a version or a cipher".into()))?;
        Ok((Channel::new(self.connection, self.keeps_tickets)?, established))
    }
}

/// Appends one encoded message to `out`. rustls reports its length only by refusing a buffer that is too short.
fn append(
    mut chunk: EncodeTlsData<'_, ClientConnectionData>,
    out: &mut Vec<u8>,
) -> Result<Wants, TlsFailure> {
    let begin = out.len();
    if let Err(EncodeError::InsufficientSize(short)) = chunk.encode(&mut []) {
        out.resize(begin + short.required_size, 0);
        let encoded = chunk.encode(&mut out[begin..]);
        encoded.map_err(|error| TlsFailure::BrokenHandshake(error.to_string()))?;
    }
    Ok(Wants::Another)
}

/// The result of a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Established {
    /// `TLSv1.3` or `TLSv1.2`.
    pub version: &'static str,
    /// The cipher by the name that OpenSSL and nginx print.
    pub cipher: &'static str,
    /// The application protocol that the server chose; `None` if it chose none.
    pub alpn: Option<Box<[u8]>>,
    /// True if an earlier session was resumed, so that no certificate was sent.
    pub resumed: bool,
}

impl Established {
    /// Reads the result from a connection; `None` until its handshake is complete.
    pub(crate) fn from_connection(connection: &UnbufferedClientConnection) -> Option<Self> {
        Some(Self {
            version: version_name(connection.protocol_version()?),
            cipher: cipher_name(connection.negotiated_cipher_suite()?),
            alpn: connection.alpn_protocol().map(Into::into),
            resumed: connection.handshake_kind()? == HandshakeKind::Resumed,
        })
    }
}

fn version_name(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        other => other.as_str().unwrap_or("unnamed version"),
    }
}

fn cipher_name(suite: SupportedCipherSuite) -> &'static str {
    match suite.suite() {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-RSA-CHACHA20-POLY1305",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-ECDSA-CHACHA20-POLY1305",
        other => other.as_str().unwrap_or("unnamed cipher"),
    }
}
