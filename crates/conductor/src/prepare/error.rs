//! Errors of a run that could not begin.

use std::io;
use std::net::IpAddr;

use plimsoll_engine::EngineError;
use plimsoll_plan::AddressError;
use plimsoll_record::FailureKind;
use plimsoll_sys::Destination;
use plimsoll_tls::TlsFailure;

use super::security::SecurityError;
use crate::limit::Limit;

/// Why a run could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(
        "dns: `{host}` does not resolve ({source}); check the name, use an address, or give one with --resolve"
    )]
    Resolve { host: String, source: io::Error },
    /// Load may not go to the host's address.
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("connections cannot come from {address}: it is not an address of this machine; {remedy}")]
    Source { address: IpAddr, remedy: &'static str },
    #[error(
        "`{host}` has no {family} address as the source addresses have; give --source-ip of the other family too"
    )]
    Family { host: String, family: &'static str },
    #[error(
        "h2_no_streams: {peer} allows no request on a connection (SETTINGS_MAX_CONCURRENT_STREAMS is 0); raise the server's \
         limit on concurrent streams, or leave out --http2 and --streams"
    )]
    NoStreams { peer: Destination },
    /// The command that shows this error adds a hint for its kind.
    #[error("{}: {peer} does not take a connection ({source})", kind.name())]
    Connect {
        kind: FailureKind,
        /// The last address tried.
        peer: Destination,
        source: io::Error,
    },
    #[error("tls: {0}")]
    Security(#[from] SecurityError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{kind}: {peer}: {failure}{hint}")]
    Tls { kind: &'static str, peer: Destination, failure: TlsFailure, hint: &'static str },
    #[error("tls_handshake: {peer} did not complete the TLS handshake: {reason}{hint}")]
    Handshake { peer: Destination, reason: &'static str, hint: &'static str },
    #[error("{peer} speaks TLS; write {url}")]
    SpeaksTls { peer: Destination, url: String },
    #[error(
        "h2_not_spoken: {peer} does not speak HTTP/2: {reason}; leave out --http2 and --streams, or enable HTTP/2 \
         on this port of the server"
    )]
    NoHttp2 { peer: Destination, reason: String },
    /// The command that shows this error adds the meaning of its kind and a hint.
    #[error("{}: the first request to {peer} has no answer", kind.name())]
    FirstRequest { kind: FailureKind, peer: Destination },
    #[error("interrupted before any load was made")]
    Interrupted,
    #[error("{}", in_words(.0))]
    Limits(Vec<Limit>),
}

/// Lists all limits that a plan exceeds, so that raising one does not just reveal the next.
fn in_words(limits: &[Limit]) -> String {
    limits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}
