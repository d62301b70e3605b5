//! A client: the configuration that its sessions share.

use std::sync::Arc;

use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::{ClientConfig, ClientConnection, Error, pki_types};

use crate::handshake::Handshake;
use crate::session::Session;
use crate::settings::{TlsError, TlsSettings, credentials};
use crate::tickets::Tickets;
use crate::verifier::Verifier;

/// Creates sessions that share one configuration and, if sessions are resumed, one store of tickets. A clone shares them
/// too.
#[derive(Debug, Clone)]
pub struct Client {
    config: Arc<ClientConfig>,
    keeps_tickets: bool,
}

/// The name of a server as its certificate must contain it, parsed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(pki_types::ServerName<'static>);

impl ServerName {
    /// Parses a DNS name or an IP address. An IPv6 address may be in brackets, as in a URL.
    ///
    /// # Errors
    /// [`TlsError::ServerName`] when it is neither.
    pub fn parse(name: &str) -> Result<Self, TlsError> {
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let parsed = pki_types::ServerName::try_from(bare.to_owned());
        parsed.map(Self).map_err(|_| TlsError::ServerName(name.into()))
    }
}

impl Client {
    /// Creates a client. Reads the system's authorities if the settings need them.
    ///
    /// # Errors
    /// What is wrong with the settings, and what to do about it.
    pub fn new(settings: &TlsSettings) -> Result<Self, TlsError> {
        let provider = Arc::new(provider());
        let verifier = Verifier::new(settings, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &settings.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = credentials(identity)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| match error {
                    Error::InconsistentKeys(_) => TlsError::KeyMismatch,
                    other => TlsError::Identity(other),
                })?
            }
        };
        config.alpn_protocols.clone_from(&settings.alpn);
        config.enable_secret_extraction = true;
        config.resumption = if settings.resumption {
            Resumption::store(Arc::new(Tickets::default()))
        } else {
            Resumption::disabled()
        };
        Ok(Self { config: Arc::new(config), keeps_tickets: settings.resumption })
    }

    /// Creates a session with the server called `name`. A DNS name is sent to the server (SNI), an IP address is not.
    ///
    /// # Errors
    /// When the system cannot provide random numbers.
    pub fn session(&self, name: &ServerName) -> Result<Session, TlsError> {
        let connection = UnbufferedClientConnection::new(Arc::clone(&self.config), name.0.clone());
        let connection = connection.map_err(TlsError::Setup)?;
        Ok(Session::new(Handshake::new(connection, self.keeps_tickets)))
    }

    /// Creates a rustls connection for a blocking socket, with the same verification as a session. It is for HTTP clients
    /// other than the load.
    ///
    /// # Errors
    /// When the system cannot provide random numbers.
    pub fn blocking_session(&self, name: &ServerName) -> Result<ClientConnection, TlsError> {
        ClientConnection::new(Arc::clone(&self.config), name.0.clone()).map_err(TlsError::Setup)
    }
}

/// aws-lc with its classical groups only. An ML-KEM key in each first message costs the client more than the rest of the
/// handshake, and other load generators send none. Offering the group without a key makes servers ask for one, which costs a
/// round trip.
fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: vec![kx_group::X25519, kx_group::SECP256R1, kx_group::SECP384R1],
        ..aws_lc_rs::default_provider()
    }
}
