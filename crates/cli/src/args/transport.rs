//! Flags about the protocols between Plimsoll and the target: TLS and HTTP/2.

use std::path::PathBuf;

use plimsoll_plan::TransportSpec;
use plimsoll_units::parse_count;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "TLS and HTTP/2")]
pub(crate) struct TransportArgs {
    /// Trust the certificates in this PEM file instead of the system's authorities; a server's own may be among them
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Client certificate in PEM, for servers that demand one
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the client certificate in PEM [default: in the file of --cert]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Accept any server certificate: the server may not be the one that you named
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Make a full TLS handshake on each connection instead of resuming earlier sessions
    #[arg(long)]
    pub(crate) no_resumption: bool,
    /// Use HTTP/2: negotiated within TLS (ALPN) for https://, with prior knowledge for http://
    #[arg(long)]
    pub(crate) http2: bool,
    /// Requests in flight on each HTTP/2 connection; implies --http2 [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) streams: Option<u64>,
}

impl TransportArgs {
    /// Overrides the protocols of a plan with the flags that were given.
    pub(crate) fn apply_to(&self, transport: &mut TransportSpec) {
        let tls = &mut transport.tls;
        for (given, planned) in
            [(&self.cacert, &mut tls.cacert), (&self.cert, &mut tls.cert), (&self.key, &mut tls.key)]
        {
            if given.is_some() {
                planned.clone_from(given);
            }
        }
        tls.insecure |= self.insecure;
        tls.resumption &= !self.no_resumption;
        transport.http2 |= self.http2;
        transport.streams = self.streams.or(transport.streams);
    }
}
