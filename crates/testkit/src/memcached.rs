//! The real memcached.

use std::net::SocketAddr;

use crate::server::{Server, ServerError, command, user};

/// A running memcached; killed and waited for when dropped.
pub struct Memcached(Server);

impl Memcached {
    /// Starts memcached with two threads on a free port of 127.0.0.1 and waits until it accepts.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start() -> Result<Self, ServerError> {
        Server::start(|_, address| {
            let mut memcached = command("memcached");
            memcached.args(["-l", "127.0.0.1", "-p", &address.port().to_string(), "-U", "0", "-t", "2"]);
            // It refuses to run as root unless that is asked for.
            memcached.args(["-u", &user()]);
            Ok(memcached)
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
