//! The real node_exporter of Prometheus.

use std::net::SocketAddr;

use crate::server::{Server, ServerError, command};

/// A running node_exporter; killed and waited for when dropped.
pub struct NodeExporter(Server);

impl NodeExporter {
    /// Starts it on a free port of 127.0.0.1 and waits until it accepts.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start() -> Result<Self, ServerError> {
        Server::start(|_, address| {
            let mut exporter = command("prometheus-node-exporter");
            exporter.arg(format!("--web.listen-address={address}"));
            Ok(exporter)
        })
        .map(Self)
    }

    /// Its page.
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.0.address())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}
