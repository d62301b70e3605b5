//! The default: chains to an authority, and servers whose own certificate was given with `--cacert`.
//!
//! `openssl req -x509` makes certificates that sign themselves and call themselves an authority. The
//! library refuses those as a server's certificate even when they are trusted; curl and browsers accept
//! them, and so do we, when the very same certificate was given. Time, name and signature count as ever.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

use crate::failure;

/// Lets in whom the roots vouch for.
#[derive(Debug)]
pub(crate) struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Trusted {
    pub(crate) const fn new(chains: Arc<WebPkiServerVerifier>, given: Vec<CertificateDer<'static>>) -> Self {
        Self { chains, given }
    }
}

fn is_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(fault) if failure::is_authority(fault))
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.chains.verify_server_cert(certificate, intermediates, name, ocsp, now);
        let Err(error) = verified else { return verified };
        if !is_authority(&error) || !self.given.iter().any(|one| one == certificate) {
            return Err(error);
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}
