//! The verifier of server certificates.
//!
//! By default a server's certificate is accepted if its chain leads to a trusted authority, or if the certificate itself was
//! given with `--cacert`. The second case covers self-signed certificates of `openssl req -x509`, which claim to be an
//! authority: the library refuses those as a server's certificate even if they are trusted, while curl and browsers accept
//! them. Validity period, name and signature are still checked.
//!
//! With `--insecure` every server is accepted: load tests often run against staging servers whose certificates are expired,
//! self-signed or for other names, and wrk verifies nothing. Signatures are not verified either, because that adds nothing if
//! every server is accepted. So certificates that the library cannot read (X.509 version 1) are accepted too.

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
    /// Creates the verifier for these settings.
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
