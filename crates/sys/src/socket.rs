//! Stream sockets that never block.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::route::{Destination, Route};

/// Requested length of the accept queue. The kernel limits it to `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

// States of a TCP socket, as the kernel numbers them (`include/net/tcp_states.h`).
const TCP_CLOSE: u8 = 7;
const TCP_CLOSE_WAIT: u8 = 8;

/// The state of a connected socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketState {
    /// Both sides may send.
    Open,
    /// The peer has closed its side in an orderly way.
    PeerClosed,
    /// Reset, or closed on both sides.
    Dead,
}

fn new_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

fn new_tcp_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    new_socket(if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })
}

/// Binds to an address and leaves the choice of the port to connect. By then the kernel knows the destination and may choose a
/// port that is already used for other destinations. Without this option each port serves only one connection.
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

/// Binds to an address and a port. The port may be in use by a connection to another destination, or be in TIME_WAIT; connect
/// then fails if the pair of addresses is in use.
fn bind_whole(socket: &OwnedFd, source: &SocketAddr) -> io::Result<()> {
    net::sockopt::set_socket_reuseaddr(socket, true)?;
    Ok(net::bind(socket, source)?)
}

/// One stream socket, connected or connecting; closed when dropped.
#[derive(Debug)]
pub struct Socket {
    socket: OwnedFd,
    discards: bool,
}

impl Socket {
    /// Begins to connect. The socket becomes writable when the attempt has succeeded or failed; [`Socket::connected`] returns
    /// the result.
    ///
    /// # Errors
    /// Errors known at once: no descriptor, no local port, no route, and for some addresses a refusal. A unix socket fails at
    /// once or not at all; `WouldBlock` means that its accept queue is full.
    pub fn open(route: &Route) -> io::Result<Self> {
        let socket = Self::prepare(route)?;
        match net::connect(&socket.socket, &route.destination.address()?) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a socket for a route, bound to its source and not connected.
    ///
    /// # Errors
    /// No descriptor, or a source that is not this machine's or whose port is in use.
    pub fn prepare(route: &Route) -> io::Result<Self> {
        let address = match &route.destination {
            Destination::Unix(_) => {
                return Ok(Self { socket: new_socket(AddressFamily::UNIX)?, discards: false });
            }
            Destination::Tcp(address) => *address,
        };
        let socket = new_tcp_socket(address)?;
        // Each request is written as a whole, so Nagle's algorithm could only delay it.
        net::sockopt::set_tcp_nodelay(&socket, true)?;
        match &route.source {
            None => {}
            Some(source) if source.port() == 0 => bind_address_alone(&socket, source)?,
            Some(source) => bind_whole(&socket, source)?,
        }
        Ok(Self { socket, discards: true })
    }

    /// True if [`Socket::discard`] works on this socket, which is so for TCP.
    #[inline]
    pub fn discards(&self) -> bool {
        self.discards
    }

    /// The socket's state, from TCP_INFO. It does not depend on how much has been read.
    pub fn state(&self) -> SocketState {
        // SAFETY: tcp_info is plain integers, for which all-zero bytes are a valid value.
        let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let fd = self.socket.as_raw_fd();
        let pointer = (&raw mut info).cast();
        // SAFETY: `info` is valid for writes of `length` bytes for the whole call.
        let result =
            unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, pointer, &raw mut length) };
        match info.tcpi_state {
            _ if result != 0 => SocketState::Open,
            TCP_CLOSE => SocketState::Dead,
            TCP_CLOSE_WAIT => SocketState::PeerClosed,
            _ => SocketState::Open,
        }
    }

    pub(crate) fn as_raw(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Returns `Ok` if connecting succeeded; call it once the socket is writable.
    ///
    /// # Errors
    /// Why the socket is not connected.
    pub fn connected(&self) -> io::Result<()> {
        Ok(net::sockopt::socket_error(&self.socket)??)
    }

    /// Reads bytes that have arrived. Zero bytes mean that the peer has closed.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived; otherwise why the connection broke.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(net::recv(&self.socket, buffer, RecvFlags::empty())?.0)
    }

    /// Discards at most `count` received bytes; returns their number. Zero means that the peer has closed. Only TCP can
    /// discard: see [`Socket::discards`].
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived; otherwise why the connection broke.
    #[inline]
    pub fn discard(&self, count: usize) -> io::Result<usize> {
        // SAFETY: with MSG_TRUNC a TCP socket discards instead of writing (tcp(7)), so the pointer is never
        // used; null makes a kernel that would use it fail with EFAULT instead of writing anywhere.
        let done =
            unsafe { libc::recv(self.socket.as_raw_fd(), std::ptr::null_mut(), count, libc::MSG_TRUNC) };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }

    /// Writes the bytes that fit into the socket's buffer; returns their number.
    ///
    /// # Errors
    /// `WouldBlock` if nothing fits; otherwise why the connection broke.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(&self.socket, bytes, SendFlags::NOSIGNAL)?)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<Socket> for OwnedFd {
    fn from(connection: Socket) -> Self {
        connection.socket
    }
}

/// A listening TCP socket; closed when dropped.
#[derive(Debug)]
pub struct Listener(OwnedFd);

impl Listener {
    /// Listens on this address; for port 0 the kernel chooses a free port.
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

    /// The address it listens on, with the actual port.
    ///
    /// # Errors
    /// When the kernel returns an address that is not IP, which it does not for a socket created here.
    pub fn address(&self) -> io::Result<SocketAddr> {
        SocketAddr::try_from(net::getsockname(&self.0)?).map_err(io::Error::from)
    }

    /// Accepts one waiting connection.
    ///
    /// # Errors
    /// `WouldBlock` if no connection waits; otherwise why none can be accepted, such as no descriptor left.
    pub fn accept(&self) -> io::Result<Socket> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let (socket, _) = net::acceptfrom_with(&self.0, flags)?;
        net::sockopt::set_tcp_nodelay(&socket, true)?;
        Ok(Socket { socket, discards: true })
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A port of 127.0.0.1 that is reserved for the caller until this is dropped, for a server that is about to start.
///
/// A socket that never listens holds the port with `SO_REUSEADDR`; a server that sets the same option, as servers do, can listen
/// there. If the port were only free, another process could listen there first, or a client could get it as its own local port
/// and connect to itself. Both would look like a server that accepts.
#[derive(Debug)]
pub struct ReservedPort {
    _held: OwnedFd,
    address: SocketAddr,
}

impl ReservedPort {
    /// Reserves a port that is not in use.
    ///
    /// # Errors
    /// When no port or no descriptor is left.
    pub fn take() -> io::Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let held = new_tcp_socket(any)?;
        net::sockopt::set_socket_reuseaddr(&held, true)?;
        net::bind(&held, &any)?;
        let address = SocketAddr::try_from(net::getsockname(&held)?)?;
        Ok(Self { _held: held, address })
    }

    /// The reserved address. Connections to it are refused until a server listens there.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port number.
    pub fn number(&self) -> u16 {
        self.address.port()
    }
}

/// True if a socket can be bound to the address.
pub(crate) fn can_bind(address: IpAddr) -> bool {
    let address = SocketAddr::new(address, 0);
    new_tcp_socket(address).is_ok_and(|socket| net::bind(&socket, &address).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::Poll;
    use std::io::Write;
    use std::path::Path;
    use std::time::Duration;

    const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    fn wait_for(poll: &mut Poll, expected: impl Fn(crate::poll::Ready) -> bool) {
        for _ in 0..1000 {
            poll.wait(Duration::from_millis(10)).unwrap();
            while let Some(ready) = poll.next_ready() {
                if expected(ready) {
                    return;
                }
            }
        }
        panic!("nothing became ready");
    }

    #[test]
    fn a_reserved_port_refuses_until_a_server_listens_there() {
        let port = ReservedPort::take().unwrap();
        let refused = std::net::TcpStream::connect(port.address()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let others: Vec<ReservedPort> = (0..500).map(|_| ReservedPort::take().unwrap()).collect();
        assert!(others.iter().all(|other| other.number() != port.number()));
        let _listener = Listener::bind(port.address()).unwrap();
        std::net::TcpStream::connect(port.address()).unwrap();
    }

    #[test]
    fn bytes_cross_a_connection_and_its_end_is_seen() {
        let listener = Listener::bind(LOOPBACK).unwrap();
        let mut poll = Poll::new().unwrap();
        poll.watch_listener(&listener, 1).unwrap();
        let client = Socket::open(&listener.address().unwrap().into()).unwrap();
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

    fn accept_one(poll: &mut Poll, listener: &Listener) -> (Socket, SocketAddr) {
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
        let destination = Destination::Tcp(listener.address().unwrap());
        let source: SocketAddr = "127.0.0.9:0".parse().unwrap();
        let route = Route { destination: destination.clone(), source: Some(source) };
        let _client = Socket::open(&route).unwrap();
        let (_server, seen) = accept_one(&mut poll, &listener);
        assert_eq!(seen.ip(), source.ip());
        // The port that the kernel chose is in use at this source, and free at another.
        let route = |ip: [u8; 4]| Route {
            destination: destination.clone(),
            source: Some(SocketAddr::from((ip, seen.port()))),
        };
        let _other = Socket::open(&route([127, 0, 0, 10])).unwrap();
        assert_eq!(accept_one(&mut poll, &listener).1, SocketAddr::from(([127, 0, 0, 10], seen.port())));
        let taken = Socket::open(&route([127, 0, 0, 9])).unwrap_err();
        assert!(
            matches!(taken.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable),
            "{taken}"
        );
    }

    #[test]
    fn one_port_that_is_asked_for_serves_two_destinations() {
        let listeners = [Listener::bind(LOOPBACK).unwrap(), Listener::bind(LOOPBACK).unwrap()];
        let first = Socket::open(&listeners[0].address().unwrap().into()).unwrap();
        let free: SocketAddr = net::getsockname(&first).unwrap().try_into().unwrap();
        let source = Some(SocketAddr::from(([127, 0, 0, 11], free.port())));
        let open = |listener: &Listener| {
            let destination = Destination::Tcp(listener.address().unwrap());
            Socket::open(&Route { destination, source }).unwrap()
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
        let route = Destination::Unix(path.as_path().into()).into();
        let mut open = Vec::new();
        let full = loop {
            match Socket::open(&route) {
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
        assert!(Socket::open(&Destination::Unix(Path::new(&path).into()).into()).is_err());
    }

    #[test]
    fn a_refused_connection_says_so() {
        let address = Listener::bind(LOOPBACK).unwrap().address().unwrap();
        let mut poll = Poll::new().unwrap();
        let refused = match Socket::open(&address.into()) {
            Err(error) => error,
            Ok(client) => {
                poll.watch(&client, 3).unwrap();
                wait_for(&mut poll, |ready| ready.readiness.writable);
                client.connected().unwrap_err()
            }
        };
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
