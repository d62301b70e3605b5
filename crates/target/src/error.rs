//! Why the server could not run.

use std::io;
use std::net::SocketAddr;

/// Why the server could not be set up, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The address cannot be listened on.
    #[error(
        "could not listen on {address} ({reason}); name an address of this machine and a port that is free \
         (port 0 takes any free one)"
    )]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the kernel said.
        reason: io::Error,
    },
    /// Readiness cannot be waited for.
    #[error(
        "could not wait for connections with epoll ({reason}); check the limit of open files (`ulimit -n`)"
    )]
    Wait {
        /// What the kernel said.
        reason: io::Error,
    },
}
