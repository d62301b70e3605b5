//! The two ends of a connection.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustix::net::addr::SocketAddrArg;
use rustix::net::{SocketAddrAny, SocketAddrUnix};

/// The destination of a connection. Cloning does not allocate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Tcp(SocketAddr),
    /// A unix stream socket in the file system.
    Unix(Arc<Path>),
}

impl Destination {
    /// The address in the kernel's form.
    ///
    /// # Errors
    /// When a unix socket's path is too long (108 bytes) or contains a zero byte.
    pub(crate) fn address(&self) -> io::Result<SocketAddrAny> {
        match self {
            Self::Tcp(address) => Ok(address.as_any()),
            Self::Unix(path) => Ok(SocketAddrUnix::new(&**path)?.as_any()),
        }
    }

    /// The TCP address; `None` for a unix socket.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Destination {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// The destination of a connection, and its local address unless the kernel chooses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub destination: Destination,
    /// The local address; port 0 leaves the port to the kernel. A unix socket has none.
    pub source: Option<SocketAddr>,
}

impl From<Destination> for Route {
    fn from(destination: Destination) -> Self {
        Self { destination, source: None }
    }
}

impl From<SocketAddr> for Route {
    fn from(destination: SocketAddr) -> Self {
        Destination::Tcp(destination).into()
    }
}
