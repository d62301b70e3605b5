//! An address where nothing listens.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A port of 127.0.0.1 that refuses connections for as long as this process lives, the same at each call.
///
/// The port is taken by a socket that never listens. Were it only free, another process could come to listen there,
/// or a client be given it as its own port and connect to itself.
///
/// # Panics
/// When no port is free.
#[expect(clippy::expect_used, reason = "a test without its address has nothing to show")]
pub fn refused_address() -> SocketAddr {
    static HELD: OnceLock<(OwnedFd, SocketAddr)> = OnceLock::new();
    HELD.get_or_init(|| take_port().expect("a free port on 127.0.0.1")).1
}

fn take_port() -> std::io::Result<(OwnedFd, SocketAddr)> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = SocketAddr::try_from(getsockname(&socket)?)?;
    Ok((socket, address))
}
