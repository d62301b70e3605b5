//! The real Redis.

use std::net::SocketAddr;

use crate::server::{Server, ServerError, command};

/// A running Redis that keeps nothing; killed and waited for when dropped.
pub struct Redis(Server);

impl Redis {
    /// Starts Redis on a free port of 127.0.0.1, with these settings in addition to those for that (`&["--maxclients", "10"]`), and
    /// waits until it accepts.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start(settings: &[&str]) -> Result<Self, ServerError> {
        Server::start(|folder, address| {
            let mut redis = command("redis-server");
            redis.args(["--port", &address.port().to_string(), "--bind", "127.0.0.1", "--save", ""]);
            redis.arg("--dir").arg(folder).args(settings);
            Ok(redis)
        })
        .map(Self)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.pid()
    }
}
