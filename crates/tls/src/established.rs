//! What a handshake agreed on, in the words that other tools and servers use.

use rustls::client::UnbufferedClientConnection;
use rustls::{CipherSuite, HandshakeKind, ProtocolVersion, SupportedCipherSuite};

/// What a handshake agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Established {
    /// `TLSv1.3` or `TLSv1.2`.
    pub version: &'static str,
    /// The cipher by the name that OpenSSL and nginx print.
    pub cipher: &'static str,
    /// The application protocol that the server chose of those offered.
    pub alpn: Option<Box<[u8]>>,
    /// Whether an earlier session was resumed, so that no certificate was sent.
    pub resumed: bool,
}

impl Established {
    /// Reads it from a connection whose handshake is done; `None` before.
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
