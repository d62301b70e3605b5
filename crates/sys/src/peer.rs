//! Both ends of a connection.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustix::net::addr::SocketAddrArg;
use rustix::net::{SocketAddrAny, SocketAddrUnix};

/// Where a connection goes. A clone takes no memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A unix stream socket in the file system.
    Unix(Arc<Path>),
}

impl Peer {
    /// The address in the kernel's form.
    ///
    /// # Errors
    /// When a unix socket's path is too long (108 bytes) or holds a zero.
    pub(crate) fn address(&self) -> io::Result<SocketAddrAny> {
        match self {
            Self::Tcp(address) => Ok(address.as_any()),
            Self::Unix(path) => Ok(SocketAddrUnix::new(&**path)?.as_any()),
        }
    }

    /// The TCP address, if it is one.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// The way a connection takes: where it goes, and where it comes from if that is not left to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it goes.
    pub destination: Peer,
    /// The local address; port 0 leaves the port to the kernel. A unix socket has none.
    pub source: Option<SocketAddr>,
}

impl From<Peer> for Route {
    fn from(destination: Peer) -> Self {
        Self { destination, source: None }
    }
}

impl From<SocketAddr> for Route {
    fn from(destination: SocketAddr) -> Self {
        Peer::Tcp(destination).into()
    }
}
