//! A server in memory and the wire between it and a session.

use std::io::{Read, Write};
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::server::{WebPkiClientVerifier, danger::ClientCertVerifier};
use rustls::{
    Error, ServerConfig, ServerConnection, SupportedCipherSuite, SupportedProtocolVersion, version,
};

use super::authority::{Authority, Signed};
use crate::{Client, Roots, ServerName, Session, TlsFailure, TlsSettings};

pub(crate) const BOTH: [&SupportedProtocolVersion; 2] = [&version::TLS12, &version::TLS13];
/// More turns than any exchange here needs; a test that reaches it has failed.
const MAX_TURNS: usize = 10_000;

pub(crate) fn server(version: &'static SupportedProtocolVersion, signed: &Signed) -> ServerConfig {
    server_of(&[version], aws_lc_rs::default_provider().cipher_suites, signed, None)
}

pub(crate) fn server_of(
    versions: &[&'static SupportedProtocolVersion],
    cipher_suites: Vec<SupportedCipherSuite>,
    signed: &Signed,
    clients: Option<Arc<dyn ClientCertVerifier>>,
) -> ServerConfig {
    let provider = rustls::crypto::CryptoProvider { cipher_suites, ..aws_lc_rs::default_provider() };
    let builder =
        ServerConfig::builder_with_provider(Arc::new(provider)).with_protocol_versions(versions).unwrap();
    let builder = match clients {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    builder.with_single_cert(signed.chain(), signed.key()).unwrap()
}

pub(crate) fn demands_client_of(authority: &Authority) -> Arc<dyn ClientCertVerifier> {
    let roots = Arc::new(authority.roots());
    let provider = Arc::new(aws_lc_rs::default_provider());
    WebPkiClientVerifier::builder_with_provider(roots, provider).build().unwrap()
}

pub(crate) fn trusting(authority: &Authority) -> TlsSettings {
    TlsSettings { roots: Roots::Pem(authority.pem()), ..TlsSettings::default() }
}

/// A session and a server, and what each has understood so far.
pub(crate) struct Pair {
    pub(crate) client: Session,
    pub(crate) server: ServerConnection,
    pub(crate) to_server: Vec<u8>,
    pub(crate) client_read: Vec<u8>,
    pub(crate) server_read: Vec<u8>,
    pub(crate) client_failure: Option<TlsFailure>,
    pub(crate) server_error: Option<Error>,
}

impl Pair {
    pub(crate) fn new(client: &Client, config: &Arc<ServerConfig>) -> Self {
        Self::named(client, config, "localhost")
    }

    pub(crate) fn named(client: &Client, config: &Arc<ServerConfig>, name: &str) -> Self {
        let mut client = client.session(&ServerName::parse(name).unwrap()).unwrap();
        let mut to_server = Vec::new();
        client.start(&mut to_server).unwrap();
        Self {
            client,
            server: ServerConnection::new(Arc::clone(config)).unwrap(),
            to_server,
            client_read: Vec::new(),
            server_read: Vec::new(),
            client_failure: None,
            server_error: None,
        }
    }

    /// A pair whose handshake went well.
    pub(crate) fn open(client: &Client, config: &Arc<ServerConfig>) -> Self {
        let mut pair = Self::new(client, config);
        pair.settle();
        assert_eq!(pair.client_failure, None);
        assert!(pair.client.is_open());
        assert!(!pair.server.is_handshaking());
        pair
    }

    /// Lets both talk until neither has anything to say.
    pub(crate) fn settle(&mut self) {
        self.settle_cut(&mut |_| usize::MAX);
    }

    /// As `settle`, with what the client gets cut into pieces as `cut` says.
    pub(crate) fn settle_cut(&mut self, cut: &mut dyn FnMut(usize) -> usize) {
        for _ in 0..MAX_TURNS {
            self.serve();
            let mut flight = self.flight();
            if flight.is_empty() && self.to_server.is_empty() {
                return;
            }
            let mut rest = flight.as_mut_slice();
            while !rest.is_empty() {
                let length = cut(rest.len()).clamp(1, rest.len());
                let (piece, after) = rest.split_at_mut(length);
                self.hear(piece);
                rest = after;
            }
        }
        panic!("client and server do not come to an end");
    }

    /// Gives the server what the client has sent.
    pub(crate) fn serve(&mut self) {
        let sent = std::mem::take(&mut self.to_server);
        let mut rest = sent.as_slice();
        while !rest.is_empty() && self.server_error.is_none() {
            self.server.read_tls(&mut rest).unwrap();
            match self.server.process_new_packets() {
                Ok(state) => {
                    let mut plain = vec![0; state.plaintext_bytes_to_read()];
                    self.server.reader().read_exact(&mut plain).unwrap();
                    self.server_read.extend_from_slice(&plain);
                }
                Err(error) => self.server_error = Some(error),
            }
        }
    }

    /// What the server has to send.
    pub(crate) fn flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut flight).unwrap();
        }
        flight
    }

    /// Gives the client `bytes`.
    pub(crate) fn hear(&mut self, bytes: &mut [u8]) {
        let read = &mut self.client_read;
        let heard =
            self.client.receive(bytes, &mut self.to_server, &mut |plain| read.extend_from_slice(plain));
        if let Err(failure) = heard {
            self.client_failure = Some(failure);
        }
    }

    pub(crate) fn server_says(&mut self, plain: &[u8]) {
        self.server.set_buffer_limit(None);
        self.server.writer().write_all(plain).unwrap();
    }

    pub(crate) fn client_says(&mut self, plain: &[u8]) {
        self.client.seal(plain, &mut self.to_server).unwrap();
    }

    /// Both say something, and both have understood exactly that.
    pub(crate) fn talk(&mut self) {
        self.client_read.clear();
        self.server_read.clear();
        self.client_says(b"GET / HTTP/1.1\r\n\r\n");
        self.server_says(b"HTTP/1.1 204 No Content\r\n\r\n");
        self.settle();
        assert_eq!(self.server_error, None);
        assert_eq!(self.client_failure, None);
        assert_eq!(self.server_read, b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(self.client_read, b"HTTP/1.1 204 No Content\r\n\r\n");
    }
}

/// One authority, a server of it for `localhost`, and a client that trusts it.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) config: Arc<ServerConfig>,
}

impl World {
    pub(crate) fn new(version: &'static SupportedProtocolVersion) -> Self {
        let authority = Authority::new();
        let config = Arc::new(server(version, &authority.server(&["localhost"])));
        Self { client: Client::new(&trusting(&authority)).unwrap(), config }
    }

    pub(crate) fn open(&self) -> Pair {
        Pair::open(&self.client, &self.config)
    }
}
