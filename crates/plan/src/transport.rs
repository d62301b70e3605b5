//! The protocol of connections as typed: HTTP/1.1 or HTTP/2, with or without TLS.

use std::path::PathBuf;

use plimsoll_http::asks_to_close;
use serde::{Deserialize, Serialize};

use crate::Target;

/// The protocols of a plan, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransportSpec {
    pub http2: bool,
    /// Requests under way on each HTTP/2 connection; `Some` implies HTTP/2.
    pub streams: Option<u64>,
    /// For an `https` target.
    pub tls: TlsSpec,
}

/// How connections to an `https` target are encrypted. The plan holds paths and no secrets from the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsSpec {
    /// A PEM file with the certificates to trust instead of the system's authorities.
    pub cacert: Option<PathBuf>,
    /// A PEM file with the client's certificate, for servers that require one.
    pub cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key; `None` if `cert` holds the key too.
    pub key: Option<PathBuf>,
    /// True if any certificate of the server is accepted.
    pub insecure: bool,
    /// True if connections resume the sessions of earlier ones.
    pub resumption: bool,
}

impl Default for TlsSpec {
    fn default() -> Self {
        Self { cacert: None, cert: None, key: None, insecure: false, resumption: true }
    }
}

impl TlsSpec {
    /// The files, each with its option.
    fn files(&self) -> [(&'static str, Option<&PathBuf>); 3] {
        [("--cacert", self.cacert.as_ref()), ("--cert", self.cert.as_ref()), ("--key", self.key.as_ref())]
    }

    /// The first TLS option that was given.
    fn given(&self) -> Option<&'static str> {
        let files = self.files().map(|(option, path)| (option, path.is_some()));
        let switches = [("--insecure", self.insecure), ("--no-resumption", !self.resumption)];
        files.into_iter().chain(switches).find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The option of the first file whose path cannot be stored with the run.
    fn unstorable(&self) -> Option<&'static str> {
        let unstorable = |path: &PathBuf| path.to_str().is_none();
        self.files().into_iter().find(|(_, path)| path.is_some_and(unstorable)).map(|(option, _)| option)
    }
}

/// Protocol options that cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    #[error(
        "--pipeline is for HTTP/1.1; over HTTP/2 give the number of requests on a connection with --streams"
    )]
    Pipeline,
    #[error(
        "--no-keepalive is for HTTP/1.1: an HTTP/2 connection serves one request after another; \
         leave out --no-keepalive, or --http2 and --streams"
    )]
    KeepAlive,
    #[error(
        "--pipeline sends requests without waiting for answers, and the server closes the connection after the first because of \
         --no-keepalive or a header `Connection: close`; leave out one of them"
    )]
    ClosedPipeline,
    #[error(
        "--no-keepalive asks the server to close with the header `Connection: close`, and the request has a Connection header that \
         does not; leave out one of them"
    )]
    KeptOpen,
    #[error("{0} is about TLS, and the URL begins with http://; write https://, or leave out {0}")]
    Unencrypted(&'static str),
    #[error("--insecure accepts any certificate, so --cacert has no effect; leave out one of them")]
    Unverified,
    #[error("--key is the key of a client certificate; give the certificate with --cert")]
    KeyAlone,
    #[error("the path given with {0} is not UTF-8, so it cannot be stored with the run; rename the file")]
    Path(&'static str),
}

impl TransportSpec {
    pub(crate) fn is_http2(&self) -> bool {
        self.http2 || self.streams.is_some()
    }

    /// Checks that the options can be combined, and returns the TLS settings; `None` for an `http` target.
    pub(crate) fn checked(
        &self,
        target: &Target,
        pipeline: Option<u64>,
        keep_alive: bool,
    ) -> Result<Option<TlsSpec>, TransportError> {
        let tls = &self.tls;
        Err(match (tls.given(), tls.unstorable()) {
            _ if self.is_http2() && pipeline.is_some() => TransportError::Pipeline,
            _ if self.is_http2() && !keep_alive => TransportError::KeepAlive,
            (Some(option), _) if !target.is_secure() => TransportError::Unencrypted(option),
            _ if tls.insecure && tls.cacert.is_some() => TransportError::Unverified,
            _ if tls.key.is_some() && tls.cert.is_none() => TransportError::KeyAlone,
            (_, Some(option)) => TransportError::Path(option),
            _ => return Ok(target.is_secure().then(|| tls.clone())),
        })
    }
}

/// Checks the Connection headers of HTTP/1.1 requests: without keep-alive every request asks to close, and none does if requests
/// are pipelined.
pub(crate) fn check_closing<'a>(
    requests: impl IntoIterator<Item = &'a [(String, String)]>,
    keep_alive: bool,
    depth: u16,
) -> Result<(), TransportError> {
    for headers in requests {
        match closes(headers) {
            true if depth > 1 => return Err(TransportError::ClosedPipeline),
            false if !keep_alive => return Err(TransportError::KeptOpen),
            _ => {}
        }
    }
    Ok(())
}

fn closes(headers: &[(String, String)]) -> bool {
    let asks = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("Connection") && asks_to_close(value.as_bytes())
    };
    headers.iter().any(asks)
}

#[cfg(test)]
mod tests;
