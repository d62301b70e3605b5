//! One connection made in the plainest way, by a route as the load takes it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::IpRange;
use plimsoll_sys::{Peer, Poll, Route, Socket};
use plimsoll_units::{Clock, RealClock};

/// An open connection that waits for its bytes.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn new(connection: Socket, peer: &Peer) -> io::Result<Self> {
        let socket = OwnedFd::from(connection);
        let stream = match peer {
            Peer::Tcp(_) => Self::Tcp(socket.into()),
            Peer::Unix(_) => Self::Unix(socket.into()),
        };
        match &stream {
            Self::Tcp(stream) => stream.set_nonblocking(false)?,
            Self::Unix(stream) => stream.set_nonblocking(false)?,
        }
        Ok(stream)
    }

    /// Bounds each read and each write from now on.
    pub(crate) fn set_timeout(&self, longest: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(longest))?;
                stream.set_write_timeout(Some(longest))
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(longest))?;
                stream.set_write_timeout(Some(longest))
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The route to a peer from the first source of its family.
pub(crate) fn route(peer: &Peer, sources: &[IpRange]) -> Route {
    let source = peer.tcp().and_then(|address| {
        let range = sources.iter().find(|range| range.first().is_ipv4() == address.is_ipv4())?;
        Some(SocketAddr::new(range.first(), 0))
    });
    Route { destination: peer.clone(), source }
}

/// Connects, waiting at most this long; a signal that sets `interrupted` ends the waiting.
pub(crate) fn reach(route: &Route, longest: Duration, interrupted: &AtomicBool) -> io::Result<Stream> {
    let connection = Socket::open(route)?;
    let mut poll = Poll::new()?;
    poll.watch(&connection, 0)?;
    let deadline = RealClock.now() + longest;
    while poll.next_ready().is_none() {
        let left = deadline.since(RealClock.now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // A signal may reach another thread, so it is looked for from time to time.
        poll.wait(left.min(Duration::from_millis(50)))?;
    }
    connection.connected()?;
    Stream::new(connection, &route.destination)
}
