//! What is spoken over connections as typed: HTTP/1.1 or HTTP/2, with or without TLS.

use crate::{Target, TlsSpec};

/// The protocols of a plan, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransportSpec {
    /// HTTP/2 is spoken.
    pub http2: bool,
    /// Requests under way on each HTTP/2 connection, if given; that asks for HTTP/2 too.
    pub streams: Option<u64>,
    /// TLS, for an `https` target.
    pub tls: TlsSpec,
}

/// Protocols that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// Pipelining is HTTP/1.1's.
    #[error(
        "--pipeline is for HTTP/1.1; over HTTP/2 give the number of requests on a connection with --streams"
    )]
    Pipeline,
    /// HTTP/2 has no connection for each request.
    #[error(
        "--no-keepalive is for HTTP/1.1: an HTTP/2 connection serves one request after another; \
         leave out --no-keepalive, or --http2 and --streams"
    )]
    KeepAlive,
    /// TLS is asked for in part.
    #[error("{0} is about TLS, and the URL begins with http://; write https://, or leave out {0}")]
    Unencrypted(&'static str),
    /// Authorities that are not used.
    #[error("--insecure accepts any certificate, so --cacert has no effect; leave out one of them")]
    Unverified,
    /// A key of nothing.
    #[error("--key is the key of a client certificate; give the certificate with --cert")]
    KeyAlone,
    /// A path that a run file cannot hold.
    #[error("the path given with {0} is not UTF-8, so it cannot be stored with the run; rename the file")]
    Path(&'static str),
}

impl TransportSpec {
    /// True if HTTP/2 is spoken.
    pub(crate) fn is_http2(&self) -> bool {
        self.http2 || self.streams.is_some()
    }

    /// The requests under way on each connection, if either protocol's number is given.
    pub(crate) fn depth(&self, pipeline: Option<u64>) -> Option<u64> {
        self.streams.or(pipeline)
    }

    /// Checks that the parts fit together; gives TLS as it will be used, if it is.
    pub(crate) fn checked(
        &self,
        target: &Target,
        pipeline: Option<u64>,
        keep_alive: bool,
    ) -> Result<Option<TlsSpec>, TransportError> {
        if self.is_http2() && pipeline.is_some() {
            return Err(TransportError::Pipeline);
        }
        if self.is_http2() && !keep_alive {
            return Err(TransportError::KeepAlive);
        }
        let tls = &self.tls;
        match tls.given() {
            Some(option) if !target.is_secure() => return Err(TransportError::Unencrypted(option)),
            _ if tls.insecure && tls.cacert.is_some() => return Err(TransportError::Unverified),
            _ if tls.key.is_some() && tls.cert.is_none() => return Err(TransportError::KeyAlone),
            _ => {}
        }
        if let Some(option) = tls.unstorable() {
            return Err(TransportError::Path(option));
        }
        Ok(target.is_secure().then(|| tls.clone()))
    }
}

#[cfg(test)]
mod tests;
