//! The settings of a client, checked before anything is sent.

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, RootCertStore};
use thiserror::Error as ThisError;

/// How a client behaves. The defaults verify against the system's authorities and resume sessions.
#[derive(Debug, Clone)]
pub struct TlsSettings {
    /// The authorities to trust; ignored without verification.
    pub roots: Roots,
    /// The client's own certificate, for servers that require one.
    pub identity: Option<Identity>,
    pub verify: bool,
    pub resumption: bool,
    /// Application protocols to offer, in order of preference; if empty, none is offered.
    pub alpn: Vec<Vec<u8>>,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { roots: Roots::System, identity: None, verify: true, resumption: true, alpn: Vec::new() }
    }
}

/// The trusted authorities.
#[derive(Debug, Clone)]
pub enum Roots {
    System,
    /// Only the certificates in this PEM text. A server's own certificate may be among them.
    Pem(Vec<u8>),
}

/// A client's certificate and key.
#[derive(Clone)]
pub struct Identity {
    /// The client's certificate followed by the intermediate certificates, as PEM.
    pub chain_pem: Vec<u8>,
    /// The private key as PEM: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub key_pem: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Why the settings are invalid; `option` is the option that names the file.
#[derive(Debug, ThisError)]
pub enum TlsError {
    #[error(
        "the file given with {option} holds no certificate; it must be PEM with a BEGIN CERTIFICATE line"
    )]
    NoCertificate { option: &'static str },
    #[error("the file given with {option} is not well-formed PEM: {reason}; export it again")]
    Pem { option: &'static str, reason: PemError },
    #[error("certificate {position} in the file given with --cacert cannot be read: {reason}; take it out")]
    Authority {
        /// Position in the file, from 1.
        position: usize,
        reason: Error,
    },
    #[error("this system has no certificate authorities{reason}; install ca-certificates or give --cacert")]
    NoSystemRoots {
        /// The first read error, preceded by a colon; empty if there is none.
        reason: String,
    },
    #[error("the file given with --key holds no private key; it must be PEM with a BEGIN PRIVATE KEY line")]
    NoKey,
    #[error(
        "the key given with --key is encrypted; decrypt it with `openssl pkey -in FILE -out PLAIN` first"
    )]
    EncryptedKey,
    #[error(
        "the key given with --key does not belong to the first certificate given with --cert; give its own"
    )]
    KeyMismatch,
    #[error(
        "the certificate and key given with --cert and --key cannot be used: {0}; \
         expected an RSA key of 2048 bits or more, ECDSA or Ed25519"
    )]
    Identity(Error),
    #[error("`{0}` is not a name that a TLS server can have; expected a DNS name or an IP address")]
    ServerName(String),
    #[error("TLS cannot be set up: {0}; check that this machine can make random numbers")]
    Setup(Error),
}

pub(crate) fn authorities(roots: &Roots) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsError> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::System => add_system(&mut store).map(|()| (store, Vec::new())),
        Roots::Pem(pem) => {
            let certificates = certificates(pem, "--cacert")?;
            for (index, certificate) in certificates.iter().enumerate() {
                let position = index + 1;
                let added = store.add(certificate.clone());
                added.map_err(|reason| TlsError::Authority { position, reason })?;
            }
            Ok((store, certificates))
        }
    }
}

/// Adds the system's authorities. Some systems contain certificates that cannot be read; these are skipped.
fn add_system(store: &mut RootCertStore) -> Result<(), TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = store.add_parsable_certificates(found.certs);
    if added == 0 {
        let reason = found.errors.first().map_or(String::new(), |error| format!(": {error}"));
        return Err(TlsError::NoSystemRoots { reason });
    }
    Ok(())
}

fn certificates(pem: &[u8], option: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|reason| TlsError::Pem { option, reason })?;
    if found.is_empty() { Err(TlsError::NoCertificate { option }) } else { Ok(found) }
}

pub(crate) fn credentials(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let chain = certificates(&identity.chain_pem, "--cert")?;
    if memchr::memmem::find(&identity.key_pem, b"ENCRYPTED").is_some() {
        return Err(TlsError::EncryptedKey);
    }
    let key = PrivateKeyDer::from_pem_slice(&identity.key_pem).map_err(|error| match error {
        PemError::NoItemsFound => TlsError::NoKey,
        reason => TlsError::Pem { option: "--key", reason },
    })?;
    Ok((chain, key))
}
