//! Checks whether an address accepts connections.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::IpRange;
use plimsoll_sys::{Destination, Poll, Route, Socket};
use plimsoll_units::{Clock, RealClock};

/// How often the interrupt flag is read: a signal may be delivered to another thread.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The route to a peer, from the first source address of its family.
fn route(peer: &Destination, sources: &[IpRange]) -> Route {
    let source = peer.tcp().and_then(|address| {
        let range = sources.iter().find(|range| range.first().is_ipv4() == address.is_ipv4())?;
        Some(SocketAddr::new(range.first(), 0))
    });
    Route { destination: peer.clone(), source }
}

/// Connects to a peer as the load will, and closes the connection; returns the time to connect.
///
/// Fails with `TimedOut` after `longest`, and with `Interrupted` when `interrupt` is set.
pub(crate) fn connect(
    peer: &Destination,
    sources: &[IpRange],
    longest: Duration,
    interrupt: &AtomicBool,
) -> io::Result<Duration> {
    let began = RealClock.now();
    let connection = Socket::open(&route(peer, sources))?;
    let mut poll = Poll::new()?;
    poll.watch(&connection, 0)?;
    while poll.next_ready().is_none() {
        let left = longest.saturating_sub(RealClock.now().since(began));
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        poll.wait(left.min(POLL_INTERVAL))?;
    }
    connection.connected()?;
    Ok(RealClock.now().since(began))
}
