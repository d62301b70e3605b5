//! Stream sockets that never block.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::peer::{Peer, Route};

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

fn new_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

fn new_tcp_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    new_socket(if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })
}

/// Binds to an address whose port is left open until connect, when the kernel knows the destination: it may
/// then give out a port that serves other destinations already. Without this each port serves only once.
fn bind_address_alone(socket: &OwnedFd, source: &SocketAddr) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the pointer is to an int that lives through the call, and the length is that of an int. IPv6
    // sockets take this option at the level of IPv4 too (ip(7)).
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            length,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(net::bind(socket, source)?)
}

/// Binds to an address with a port of our choosing. The port may be that of a connection to somewhere else or
/// of one that was closed lately; connect then tells whether the two ends together are free.
fn bind_whole(socket: &OwnedFd, source: &SocketAddr) -> io::Result<()> {
    net::sockopt::set_socket_reuseaddr(socket, true)?;
    Ok(net::bind(socket, source)?)
}

/// One connection, open or being opened; closed when dropped.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    discards: bool,
}

impl Connection {
    /// Begins to connect. The socket becomes writable when that has ended, well or not:
    /// [`Connection::connected`] tells which.
    ///
    /// # Errors
    /// What can be told at once: no descriptor, no local port, no route, and for some addresses a refusal. Of
    /// a unix socket everything is told at once; `WouldBlock` is an accept backlog that is full.
    pub fn open(route: &Route) -> io::Result<Self> {
        let connection = Self::prepare(route)?;
        match net::connect(&connection.socket, &route.destination.address()?) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(connection),
            Err(error) => Err(error.into()),
        }
    }

    /// The socket for a route, bound to its source and not connected yet.
    ///
    /// # Errors
    /// No descriptor, or a source that is not this machine's or whose port is in use.
    pub fn prepare(route: &Route) -> io::Result<Self> {
        let address = match &route.destination {
            Peer::Unix(_) => {
                return Ok(Self { socket: new_socket(AddressFamily::UNIX)?, discards: false });
            }
            Peer::Tcp(address) => *address,
        };
        let socket = new_tcp_socket(address)?;
        // A request is written whole and its answer awaited: Nagle's algorithm could only delay it.
        net::sockopt::set_tcp_nodelay(&socket, true)?;
        match &route.source {
            None => {}
            Some(source) if source.port() == 0 => bind_address_alone(&socket, source)?,
            Some(source) => bind_whole(&socket, source)?,
        }
        Ok(Self { socket, discards: true })
    }

    /// True if [`Connection::discard`] works here: on TCP.
    #[inline]
    pub fn discards(&self) -> bool {
        self.discards
    }

    /// What is left of the connection, whatever has been read from it.
    pub fn life(&self) -> Life {
        // SAFETY: tcp_info is plain integers, for which all-zero bytes are a valid value.
        let mut state: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let fd = self.socket.as_raw_fd();
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
        self.socket.as_raw_fd()
    }

    /// How the connecting ended; call it once the socket is writable.
    ///
    /// # Errors
    /// Why it is not connected.
    pub fn connected(&self) -> io::Result<()> {
        Ok(net::sockopt::socket_error(&self.socket)??)
    }

    /// Reads what is there: zero bytes mean that the peer has closed.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; otherwise why the connection broke.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(net::recv(&self.socket, buffer, RecvFlags::empty())?.0)
    }

    /// Throws away at most `count` bytes of what is there and says how many: zero mean that the peer has closed.
    /// Only TCP does that; on a unix socket use [`Connection::receive`].
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; otherwise why the connection broke.
    #[inline]
    pub fn discard(&self, count: usize) -> io::Result<usize> {
        // SAFETY: with MSG_TRUNC a TCP socket discards instead of writing (tcp(7)), so the pointer is never
        // used; null makes a kernel that would use it fail with EFAULT instead of writing anywhere.
        let done =
            unsafe { libc::recv(self.socket.as_raw_fd(), std::ptr::null_mut(), count, libc::MSG_TRUNC) };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }

    /// Writes what fits and says how much that was.
    ///
    /// # Errors
    /// `WouldBlock` if nothing fits; otherwise why the connection broke.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(&self.socket, bytes, SendFlags::NOSIGNAL)?)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<Connection> for OwnedFd {
    fn from(connection: Connection) -> Self {
        connection.socket
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
        let socket = new_tcp_socket(address)?;
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
        Ok(Connection { socket, discards: true })
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
    new_tcp_socket(address).is_ok_and(|socket| net::bind(&socket, &address).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poll;
    use std::io::Write;
    use std::path::Path;
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

    fn accept_one(poll: &mut Poll, listener: &Listener) -> (Connection, SocketAddr) {
        wait_for(poll, |ready| ready.token == 1 && ready.readiness.readable);
        let server = listener.accept().unwrap();
        let peer = net::getpeername(&server).unwrap().unwrap().try_into().unwrap();
        (server, peer)
    }

    #[test]
    fn a_connection_comes_from_the_source_that_was_asked_for() {
        let listener = Listener::bind(LOOPBACK).unwrap();
        let mut poll = Poll::new().unwrap();
        poll.watch_listener(&listener, 1).unwrap();
        let destination = Peer::Tcp(listener.address().unwrap());
        let source: SocketAddr = "127.0.0.9:0".parse().unwrap();
        let route = Route { destination: destination.clone(), source: Some(source) };
        let _client = Connection::open(&route).unwrap();
        let (_server, seen) = accept_one(&mut poll, &listener);
        assert_eq!(seen.ip(), source.ip());
        // The port that the kernel chose is in use at this source, and free at another.
        let route = |ip: [u8; 4]| Route {
            destination: destination.clone(),
            source: Some(SocketAddr::from((ip, seen.port()))),
        };
        let _other = Connection::open(&route([127, 0, 0, 10])).unwrap();
        assert_eq!(accept_one(&mut poll, &listener).1, SocketAddr::from(([127, 0, 0, 10], seen.port())));
        let taken = Connection::open(&route([127, 0, 0, 9])).unwrap_err();
        assert!(
            matches!(taken.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable),
            "{taken}"
        );
    }

    #[test]
    fn one_port_that_is_asked_for_serves_two_destinations() {
        let listeners = [Listener::bind(LOOPBACK).unwrap(), Listener::bind(LOOPBACK).unwrap()];
        let first = Connection::open(&listeners[0].address().unwrap().into()).unwrap();
        let free: SocketAddr = net::getsockname(&first).unwrap().try_into().unwrap();
        let source = Some(SocketAddr::from(([127, 0, 0, 11], free.port())));
        let open = |listener: &Listener| {
            let destination = Peer::Tcp(listener.address().unwrap());
            Connection::open(&Route { destination, source }).unwrap()
        };
        let _both = [open(&listeners[0]), open(&listeners[1])];
    }

    #[test]
    fn a_unix_socket_takes_connections_until_its_backlog_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        net::bind(&listener, &net::SocketAddrUnix::new(&path).unwrap()).unwrap();
        net::listen(&listener, 1).unwrap();
        let route = Peer::Unix(path.as_path().into()).into();
        let mut open = Vec::new();
        let full = loop {
            match Connection::open(&route) {
                Ok(connection) => open.push(connection),
                Err(error) => break error,
            }
            assert!(open.len() < 10, "a backlog of one holds two");
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        let server = std::os::unix::net::UnixStream::from(net::accept(&listener).unwrap());
        (&server).write_all(b"hello").unwrap();
        let mut buffer = [0; 16];
        assert_eq!(open[0].receive(&mut buffer).unwrap(), 5);
        assert!(!open[0].discards());
    }

    #[test]
    fn a_path_too_long_for_a_unix_socket_is_refused() {
        let path = format!("/tmp/{}", "x".repeat(200));
        assert!(Connection::open(&Peer::Unix(Path::new(&path).into()).into()).is_err());
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
