//! The verifier of server certificates.
//!
//! By default a chain leads to an authority, or the server's own certificate was given with `--cacert`: `openssl req
//! -x509` makes certificates that sign themselves and call themselves an authority. The library refuses those as a
//! server's certificate even when they are trusted; curl and browsers accept them, and so do we, when the very same
//! certificate was given. Time, name and signature count as ever.
//!
//! With `--insecure` every server is accepted: load tests meet staging servers with certificates of other names, expired,
//! or self-signed, and wrk verifies nothing. Signatures are not verified either: they add nothing if every server is
//! accepted, and certificates that the library cannot read (X.509 version 1) are accepted with the others.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

use crate::failure;
use crate::settings::{TlsError, TlsSettings, authorities};

#[derive(Debug)]
pub(crate) struct Verifier {
    /// `None` accepts every server.
    chains: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates of `--cacert`.
    given: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// The verifier for these settings.
    ///
    /// # Errors
    /// When an authority cannot be read, or the system has none.
    pub(crate) fn new(settings: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let algorithms = provider.signature_verification_algorithms;
        if !settings.verify {
            return Ok(Self { chains: None, given: Vec::new(), algorithms });
        }
        let (store, given) = authorities(&settings.roots)?;
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider)).build();
        let chains = chains.map_err(|error| TlsError::NoSystemRoots { reason: format!(": {error}") })?;
        Ok(Self { chains: Some(chains), given, algorithms })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chains) = &self.chains else { return Ok(ServerCertVerified::assertion()) };
        match chains.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(fault))
                if failure::is_authority(&fault) && self.given.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.chains {
            Some(chains) => chains.verify_tls12_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.chains {
            Some(chains) => chains.verify_tls13_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
