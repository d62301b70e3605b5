//! Why a run could not begin.

use std::io;
use std::net::IpAddr;

use plimsoll_engine::EngineError;
use plimsoll_sys::Destination;
use plimsoll_tls::TlsFailure;

use super::security::SecurityError;
use crate::limit::Limit;

/// Why a run could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The host's name stands for no address.
    #[error(
        "dns: `{host}` does not resolve ({source}); check the name, use an address, or give one with --resolve"
    )]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A source address is not this machine's.
    #[error("connections cannot come from {address}: it is not an address of this machine; {remedy}")]
    Source {
        address: IpAddr,
        /// What to do.
        remedy: &'static str,
    },
    /// The host has addresses, but none that the sources can reach.
    #[error(
        "`{host}` has no {family} address as the source addresses have; give --source-ip of the other family too"
    )]
    Family {
        /// The name.
        host: String,
        /// IPv4 or IPv6.
        family: &'static str,
    },
    /// No address took a connection.
    #[error("{kind}: {peer} does not take a connection ({source}); {remedy}")]
    Connect {
        /// The failure's name.
        kind: &'static str,
        /// The address tried last.
        peer: Destination,
        /// What the system said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// Connections cannot be encrypted as the plan wants it.
    #[error("tls: {0}")]
    Security(#[from] SecurityError),
    /// The engine could not make the first connection.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// TLS failed on the first connection.
    #[error("{kind}: {peer}: {failure}")]
    Tls {
        /// The failure's name.
        kind: &'static str,
        /// The address.
        peer: Destination,
        /// What went wrong, and what to do.
        failure: TlsFailure,
    },
    /// The first connection broke before its handshake was done.
    #[error("tls_handshake: {peer} did not complete the TLS handshake: {reason}")]
    Handshake {
        /// The address.
        peer: Destination,
        /// What happened, and what to do.
        reason: &'static str,
    },
    /// The target does not speak HTTP/2.
    #[error(
        "h2_protocol: {peer} does not speak HTTP/2: {reason}; leave out --http2 and --streams, or enable HTTP/2 \
         on this port of the server"
    )]
    NoHttp2 {
        /// The address.
        peer: Destination,
        /// What it does instead.
        reason: String,
    },
    /// The one request before the load failed.
    #[error("{kind}: the first request to {peer} has no answer: {meaning}; {remedy}")]
    FirstRequest {
        /// The failure's name.
        kind: &'static str,
        /// The address.
        peer: Destination,
        /// What happened.
        meaning: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The user ended it before it began.
    #[error("interrupted before any load was made")]
    Interrupted,
    /// The plan needs more than this machine gives, of one thing or of several.
    #[error("{}", in_words(.0))]
    Limits(Vec<Limit>),
}

/// All limits that a plan meets, so that lifting the first does not only show the next.
fn in_words(limits: &[Limit]) -> String {
    limits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}
