//! TCP sockets that never block.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Connections waiting to be accepted. The kernel lowers it to `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

// States of a TCP socket, as the kernel numbers them (`include/net/tcp_states.h`).
const TCP_CLOSE: u8 = 7;
const TCP_CLOSE_WAIT: u8 = 8;

/// What is left of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Both sides may send.
    Open,
    /// The peer has closed its side in order.
    PeerClosed,
    /// It was reset, or has ended on both sides.
    Dead,
}

/// The way a connection takes: where it goes, and where it comes from if that is not left to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it goes.
    pub destination: SocketAddr,
    /// The local address; port 0 leaves the port to the kernel.
    pub source: Option<SocketAddr>,
}

impl From<SocketAddr> for Route {
    fn from(destination: SocketAddr) -> Self {
        Self { destination, source: None }
    }
}

fn new_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// One TCP connection, open or being opened; closed when dropped.
#[derive(Debug)]
pub struct Connection(OwnedFd);

impl Connection {
    /// Begins to connect. The socket becomes writable when that has ended, well or not:
    /// [`Connection::connected`] tells which.
    ///
    /// # Errors
    /// What can be told at once: no descriptor, no local port, no route, and for some addresses a refusal.
    pub fn open(route: &Route) -> io::Result<Self> {
        let connection = Self::unconnected(route)?;
        match net::connect(&connection.0, &route.destination) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(connection),
            Err(error) => Err(error.into()),
        }
    }

    /// A socket fit for the route, which somebody else is to connect.
    ///
    /// # Errors
    /// What can be told without connecting: no descriptor, or a source that cannot be bound.
    pub fn unconnected(route: &Route) -> io::Result<Self> {
        let socket = new_socket(route.destination)?;
        // A request is written whole and its answer awaited: Nagle's algorithm could only delay it.
        net::sockopt::set_tcp_nodelay(&socket, true)?;
        if let Some(source) = route.source {
            net::bind(&socket, &source)?;
        }
        Ok(Self(socket))
    }

    /// What is left of the connection, whatever has been read from it.
    pub fn life(&self) -> Life {
        // SAFETY: tcp_info is plain integers, for which all-zero bytes are a valid value.
        let mut state: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let fd = self.0.as_raw_fd();
        let pointer = (&raw mut state).cast();
        // SAFETY: `state` is valid for writes of `length` bytes for the whole call.
        let result =
            unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, pointer, &raw mut length) };
        match state.tcpi_state {
            _ if result != 0 => Life::Open,
            TCP_CLOSE => Life::Dead,
            TCP_CLOSE_WAIT => Life::PeerClosed,
            _ => Life::Open,
        }
    }

    /// The descriptor's number.
    pub(crate) fn as_raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// How the connecting ended; call it once the socket is writable.
    ///
    /// # Errors
    /// Why it is not connected.
    pub fn connected(&self) -> io::Result<()> {
        Ok(net::sockopt::socket_error(&self.0)??)
    }

    /// Reads what is there: zero bytes mean that the peer has closed.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; otherwise why the connection broke.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(net::recv(&self.0, buffer, RecvFlags::empty())?.0)
    }

    /// Throws away at most `count` bytes of what is there and says how many: zero mean that the peer has closed.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; otherwise why the connection broke.
    #[inline]
    pub fn discard(&self, count: usize) -> io::Result<usize> {
        // SAFETY: with MSG_TRUNC a TCP socket discards instead of writing (tcp(7)), so the pointer is never
        // used; null makes a kernel that would use it fail with EFAULT instead of writing anywhere.
        let done = unsafe { libc::recv(self.0.as_raw_fd(), std::ptr::null_mut(), count, libc::MSG_TRUNC) };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }

    /// Writes what fits and says how much that was.
    ///
    /// # Errors
    /// `WouldBlock` if nothing fits; otherwise why the connection broke.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A listening TCP socket; closed when dropped.
#[derive(Debug)]
pub struct Listener(OwnedFd);

impl Listener {
    /// Listens on this address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is not this machine's, is in use, or needs a privilege.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = new_socket(address)?;
        net::sockopt::set_socket_reuseaddr(&socket, true)?;
        net::bind(&socket, &address)?;
        net::listen(&socket, BACKLOG)?;
        Ok(Self(socket))
    }

    /// The address it listens on, with the port that was taken.
    ///
    /// # Errors
    /// When the kernel gives an address that is not IP, which it does not for a socket made here.
    pub fn address(&self) -> io::Result<SocketAddr> {
        SocketAddr::try_from(net::getsockname(&self.0)?).map_err(io::Error::from)
    }

    /// Takes one waiting connection.
    ///
    /// # Errors
    /// `WouldBlock` if none waits; otherwise why none can be taken, such as no descriptor left.
    pub fn accept(&self) -> io::Result<Connection> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let (socket, _) = net::acceptfrom_with(&self.0, flags)?;
        net::sockopt::set_tcp_nodelay(&socket, true)?;
        Ok(Connection(socket))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// True if the address is one of this machine's own: only those can be bound.
pub fn is_local(address: IpAddr) -> bool {
    let address = SocketAddr::new(address, 0);
    new_socket(address).is_ok_and(|socket| net::bind(&socket, &address).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poll;
    use std::time::Duration;

    const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    fn wait_for(poll: &mut Poll, wanted: impl Fn(crate::Ready) -> bool) {
        for _ in 0..1000 {
            poll.wait(Duration::from_millis(10)).unwrap();
            while let Some(ready) = poll.next_ready() {
                if wanted(ready) {
                    return;
                }
            }
        }
        panic!("nothing became ready");
    }

    #[test]
    fn bytes_cross_a_connection_and_its_end_is_seen() {
        let listener = Listener::bind(LOOPBACK).unwrap();
        let mut poll = Poll::new().unwrap();
        poll.watch_listener(&listener, 1).unwrap();
        let client = Connection::open(&listener.address().unwrap().into()).unwrap();
        poll.watch(&client, 2).unwrap();
        wait_for(&mut poll, |ready| ready.token == 1 && ready.readiness.readable);
        let server = listener.accept().unwrap();
        client.connected().unwrap();
        assert_eq!(server.send(b"hello").unwrap(), 5);
        wait_for(&mut poll, |ready| ready.token == 2 && ready.readiness.readable);
        let mut buffer = [0; 16];
        assert_eq!(client.receive(&mut buffer).unwrap(), 5);
        assert_eq!(client.receive(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(server);
        wait_for(&mut poll, |ready| ready.token == 2 && ready.readiness.readable);
        assert_eq!(client.receive(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_refused_connection_says_so() {
        let address = Listener::bind(LOOPBACK).unwrap().address().unwrap();
        let mut poll = Poll::new().unwrap();
        let refused = match Connection::open(&address.into()) {
            Err(error) => error,
            Ok(client) => {
                poll.watch(&client, 3).unwrap();
                wait_for(&mut poll, |ready| ready.readiness.writable);
                client.connected().unwrap_err()
            }
        };
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn only_own_addresses_are_local() {
        assert!(is_local(LOOPBACK.ip()));
        // 192.0.2.0/24 is set apart for documentation (RFC 5737), so no machine has it.
        assert!(!is_local(IpAddr::from([192, 0, 2, 1])));
    }
}
