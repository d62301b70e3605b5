//! An address where nothing listens.

use std::net::SocketAddr;
use std::sync::OnceLock;

use plimsoll_sys::ReservedPort;

/// A port of 127.0.0.1 that refuses connections for as long as this process lives, the same at each call.
///
/// # Panics
/// When no port is free.
#[expect(clippy::expect_used, reason = "a test without its address has nothing to show")]
pub fn refused_address() -> SocketAddr {
    static HELD: OnceLock<ReservedPort> = OnceLock::new();
    HELD.get_or_init(|| ReservedPort::take().expect("a free port on 127.0.0.1")).address()
}
