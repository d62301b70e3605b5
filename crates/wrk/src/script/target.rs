//! What the command line says about the target, as far as scripts see it.

use std::net::SocketAddr;

/// The target of a run, in the pieces that a script finds in the table `wrk`.
#[derive(Clone, Debug, Default)]
pub struct ScriptTarget {
    /// `http` or `https`.
    pub scheme: String,
    /// The host without the brackets of an IPv6 address.
    pub host: String,
    /// The port, only if the URL names one: it is in the Host header only then.
    pub port: Option<u16>,
    /// Everything from the path to the end of the URL.
    pub path: String,
    /// Header fields given on the command line.
    pub headers: Vec<(String, String)>,
    /// Addresses to use for the host in place of what the resolver says; empty to ask the resolver.
    pub addresses: Vec<SocketAddr>,
}

impl ScriptTarget {
    /// The port as text, or the scheme that implies it.
    pub(crate) fn service(&self) -> String {
        self.port.map_or_else(|| self.scheme.clone(), |port| port.to_string())
    }
}
