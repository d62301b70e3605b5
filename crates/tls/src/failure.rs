//! All errors that can end a session early.

use rustls::{CertificateError, Error};
use thiserror::Error as ThisError;

use crate::alert::Alert;

/// The categories in which TLS failures are counted.
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
    /// Any other fault of the certificate, in the library's words.
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
    /// The first bytes are not a TLS record.
    #[error("the server did not answer with TLS; check that the port is one for https")]
    NotTls,
    #[error("the server broke the TLS handshake: {0}; look for a proxy or a load balancer in between")]
    BrokenHandshake(String),
    #[error("the server closed the connection within the TLS handshake; see the server's error log")]
    ClosedInHandshake,
    /// In TLS 1.3 the server refuses a client's certificate only after the client's handshake is complete.
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
    /// The category that this failure is counted in.
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

/// True for a certificate that claims to be an authority, such as one made by `openssl req -x509`. The library reports this only
/// after it found the validity period in order.
pub(crate) fn is_authority(fault: &CertificateError) -> bool {
    let CertificateError::Other(other) = fault else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn certificate_failure(fault: CertificateError) -> TlsFailure {
    match fault {
        // A server's self-signed certificate has to be trusted explicitly, even if it claims to be an authority.
        fault if is_authority(&fault) => TlsFailure::CertificateUntrusted,
        // A signature is bad, for example, if the authority was recreated under its old name.
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

/// Removes the kind around a name of the library: `DnsName("a.test")`, `IpAddress(127.0.0.1)`.
fn bare(name: &str) -> &str {
    let within = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    within.map_or(name, |name| name.trim_matches('"'))
}

/// Formats the names of a certificate; at most four, because a shared host may have hundreds.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = names.iter().map(|name| bare(name)).collect();
    match names.len() {
        0 => "no name at all".into(),
        count if count <= SHOWN => names.join(", "),
        count => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
    }
}
