//! The names of everything that can end a session before its time.

use rustls::{CertificateError, Error};
use thiserror::Error as ThisError;

use crate::alert::Alert;

/// What failures of TLS are counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsFailureKind {
    Certificate,
    Handshake,
    Record,
}

/// Why a session failed. Nothing more can be sent or received on it.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum TlsFailure {
    #[error(
        "the server's certificate is not signed by an authority that is trusted; \
         name its CA with --cacert, or accept any certificate with --insecure"
    )]
    CertificateUntrusted,
    #[error(
        "the server's certificate is for {presented}, not for {expected}; \
         ask for a name that it holds, or accept any certificate with --insecure"
    )]
    CertificateWrongName { expected: String, presented: String },
    #[error(
        "the server's certificate has expired; renew it, check this machine's clock, \
         or accept any certificate with --insecure"
    )]
    CertificateExpired,
    #[error(
        "the server's certificate is not valid yet; check the clocks of both machines, \
         or accept any certificate with --insecure"
    )]
    CertificateNotYetValid,
    /// Anything else that is wrong with the certificate, in the library's words.
    #[error(
        "the server's certificate was not accepted: {0}; replace it, \
         or accept any certificate with --insecure"
    )]
    CertificateFault(String),
    #[error("the server refused the TLS handshake with the alert {0}; {advice}", advice = .0.advice())]
    Refused(Alert),
    #[error(
        "the server and Plimsoll have no TLS parameters in common: {0}; \
         enable TLS 1.2 with ECDHE and AES-GCM or ChaCha20, or TLS 1.3, on the server"
    )]
    Incompatible(String),
    /// The first bytes are no TLS record.
    #[error("the server did not answer with TLS; check that the port is one for https")]
    NotTls,
    #[error("the server broke the TLS handshake: {0}; look for a proxy or a load balancer in between")]
    BrokenHandshake(String),
    #[error("the server closed the connection within the TLS handshake; see the server's error log")]
    ClosedInHandshake,
    /// In TLS 1.3 the refusal of a client's certificate comes after the client's handshake is done.
    #[error("the server ended the TLS session with the alert {0}; {advice}", advice = .0.advice())]
    Ended(Alert),
    #[error("a TLS record could not be decrypted; look for what changes bytes between here and the server")]
    Undecryptable,
    #[error("the server broke the TLS protocol: {0}; look for a proxy or a load balancer in between")]
    BrokenRecord(&'static str),
    #[error("the connection ended without close_notify, so the last response may not be whole")]
    Truncated,
    #[error("nothing can be sent on a TLS session before its handshake is done or after its end")]
    NotOpen,
}

impl TlsFailure {
    /// What this failure is counted as.
    pub const fn kind(&self) -> TlsFailureKind {
        match self {
            Self::CertificateUntrusted
            | Self::CertificateWrongName { .. }
            | Self::CertificateExpired
            | Self::CertificateNotYetValid
            | Self::CertificateFault(_) => TlsFailureKind::Certificate,
            Self::Refused(_)
            | Self::Incompatible(_)
            | Self::NotTls
            | Self::BrokenHandshake(_)
            | Self::ClosedInHandshake => TlsFailureKind::Handshake,
            Self::Ended(_)
            | Self::Undecryptable
            | Self::BrokenRecord(_)
            | Self::Truncated
            | Self::NotOpen => TlsFailureKind::Record,
        }
    }

    pub(crate) fn in_handshake(error: Error) -> Self {
        match error {
            Error::InvalidCertificate(fault) => certificate_failure(fault),
            Error::NoCertificatesPresented => Self::CertificateFault("it sent none".into()),
            Error::AlertReceived(alert) => Self::Refused(Alert::new(u8::from(alert))),
            Error::PeerIncompatible(what) => Self::Incompatible(format!("{what:?}")),
            other => Self::BrokenHandshake(other.to_string()),
        }
    }
}

/// True for a certificate that calls itself an authority, as those of `openssl req -x509` do. The library says so only
/// after it found the time of the certificate right.
pub(crate) fn is_authority(fault: &CertificateError) -> bool {
    let CertificateError::Other(other) = fault else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn certificate_failure(fault: CertificateError) -> TlsFailure {
    match fault {
        // A server that signed its own certificate needs to be trusted by name, whatever else it calls itself.
        fault if is_authority(&fault) => TlsFailure::CertificateUntrusted,
        // A bad signature is what an authority leaves behind that was made anew under its old name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFailure::CertificateUntrusted,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFailure::CertificateExpired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            TlsFailure::CertificateNotYetValid
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            TlsFailure::CertificateWrongName {
                expected: expected.to_str().into_owned(),
                presented: list(&presented),
            }
        }
        other => TlsFailure::CertificateFault(other.to_string()),
    }
}

/// The library gives a name with its kind around it: `DnsName("a.test")`, `IpAddress(127.0.0.1)`.
fn bare(name: &str) -> &str {
    let within = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    within.map_or(name, |name| name.trim_matches('"'))
}

/// The names of a certificate as a user reads them; a shared host may have hundreds.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = names.iter().map(|name| bare(name)).collect();
    match names.len() {
        0 => "no name at all".into(),
        count if count <= SHOWN => names.join(", "),
        count => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
    }
}
