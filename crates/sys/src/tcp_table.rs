//! The TCP sockets of a network namespace, from sock_diag(7).
//!
//! `/proc/net/tcp` lists the same sockets at some ten times the cost, and without the limits of accept queues.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::sock_diag::{SockDiag, number};

/// The message type of a request with `struct inet_diag_req`, and of its answers: `TCPDIAG_GETSOCK`.
const TCP_SOCKETS: u16 = 18;
/// Length of `struct inet_diag_req`.
const REQUEST_BYTES: usize = 60;
/// Length of `struct inet_diag_msg`, without the attributes that may follow it.
const ANSWER_BYTES: usize = 72;
/// The bits of the states ESTABLISHED, number 1 in the kernel's `tcp_states.h`, TIME_WAIT, number 6, and LISTEN, number 10.
const ESTABLISHED: u32 = 1 << 1;
const TIME_WAIT: u32 = 1 << 6;
const LISTENING: u32 = 1 << 10;

/// One TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSocket {
    pub local: SocketAddr,
    /// The address of the other end; unspecified for a listener.
    pub remote: SocketAddr,
    /// Number of bytes received and not yet read; for a listener, number of connections not yet accepted.
    pub receive_queue: u32,
    /// Number of bytes sent and not yet acknowledged; for a listener, the maximum length of its accept queue.
    pub send_queue: u32,
    /// Its inode, as in `/proc/PID/fd`; zero while no process has accepted it.
    pub inode: u32,
}

/// Lists the TCP sockets of one network namespace.
#[derive(Debug)]
pub struct TcpTable(SockDiag);

impl TcpTable {
    /// Opens the network namespace that a file such as `/proc/1234/ns/net` stands for; `None` means this process's own.
    ///
    /// # Errors
    /// When the namespace may not be entered, which takes `CAP_SYS_ADMIN`, or the kernel has no such list.
    pub fn open(namespace: Option<&Path>) -> io::Result<Self> {
        SockDiag::open(namespace).map(Self)
    }

    /// Returns all listening sockets.
    ///
    /// # Errors
    /// When the kernel's answer is not as expected.
    pub fn listening(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(LISTENING)
    }

    /// Returns all established connections, including those that no process has accepted yet.
    ///
    /// # Errors
    /// When the kernel's answer is not as expected.
    pub fn established(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(ESTABLISHED)
    }

    /// Returns all connections in TIME_WAIT, which this side closed first; their port stays in use for a minute.
    ///
    /// # Errors
    /// When the kernel's answer is not as expected.
    pub fn in_time_wait(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(TIME_WAIT)
    }

    fn all(&mut self, states: u32) -> io::Result<Vec<TcpSocket>> {
        let mut found = Vec::new();
        self.0.dump(TCP_SOCKETS, &request(states), |answer| found.extend(socket(answer)))?;
        Ok(found)
    }
}

/// Builds a request for all TCP sockets in one of `states`. This older form covers both address families in one request. With
/// the newer one, `SOCK_DIAG_BY_FAMILY`, the kernel would walk all buckets of its table once for each family, and a large
/// machine has some 500,000 buckets.
fn request(states: u32) -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    request[52..56].copy_from_slice(&states.to_ne_bytes());
    request
}

/// Parses one `struct inet_diag_msg`.
fn socket(answer: &[u8]) -> Option<TcpSocket> {
    if answer.len() < ANSWER_BYTES {
        return None;
    }
    let address = |port: usize, ip: usize| {
        let port = u16::from_be_bytes([answer[port], answer[port + 1]]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&answer[ip..ip + 16]);
        let ip: IpAddr = match i32::from(answer[0]) {
            libc::AF_INET => [bytes[0], bytes[1], bytes[2], bytes[3]].into(),
            _ => bytes.into(),
        };
        SocketAddr::new(ip, port)
    };
    Some(TcpSocket {
        local: address(4, 8),
        remote: address(6, 24),
        receive_queue: number(answer, 56),
        send_queue: number(answer, 60),
        inode: number(answer, 68),
    })
}

/// The size of the accept queue of the listener at this address on this machine; the sum over listeners that share the port
/// (`SO_REUSEPORT`). `None` if there is none, or the kernel does not report it.
pub fn accept_backlog(address: SocketAddr) -> Option<u64> {
    let listeners = TcpTable::open(None).and_then(|mut table| table.listening()).ok()?;
    let at = |ip: IpAddr| {
        let same = listeners.iter().filter(|listener| listener.local == SocketAddr::new(ip, address.port()));
        let mut backlogs = same.map(|listener| u64::from(listener.send_queue)).peekable();
        backlogs.peek().is_some().then(|| backlogs.sum())
    };
    // A listener on the unspecified IPv6 address usually accepts IPv4 too.
    let any6 = IpAddr::from(Ipv6Addr::UNSPECIFIED);
    let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { any6 };
    [address.ip(), any, any6].into_iter().find_map(at)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt as _;

    use rustix::net::{self, AddressFamily, SocketType};

    use super::*;

    fn inode(socket: &impl std::os::fd::AsRawFd) -> u32 {
        let link = format!("/proc/self/fd/{}", socket.as_raw_fd());
        u32::try_from(std::fs::metadata(link).unwrap().ino()).unwrap()
    }

    #[test]
    fn a_connection_not_yet_accepted_waits_in_the_accept_queue_with_its_bytes() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let local = listener.local_addr().unwrap();
            let mut client = TcpStream::connect(local).unwrap();
            client.write_all(b"hello").unwrap();
            let mut table = TcpTable::open(None).unwrap();
            let listening = table.listening().unwrap();
            let found = listening.iter().find(|socket| socket.local == local).unwrap();
            assert_eq!((found.receive_queue, found.inode), (1, inode(&listener)));
            assert!(found.send_queue > 1, "the limit of the queue");
            let established = table.established().unwrap();
            let accepted = established.iter().find(|socket| socket.local == local).unwrap();
            assert_eq!((accepted.receive_queue, accepted.inode), (5, 0));
            assert_eq!(accepted.remote, client.local_addr().unwrap());
            let ours = established.iter().find(|socket| socket.remote == local).unwrap();
            assert_eq!(ours.inode, inode(&client));
        }
    }

    #[test]
    fn a_connection_that_this_side_closed_first_keeps_its_port_in_time_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote = listener.local_addr().unwrap();
        let client = TcpStream::connect(remote).unwrap();
        let local = client.local_addr().unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(std::io::Read::read(&mut accepted, &mut [0]).unwrap(), 0);
        drop(accepted);
        assert_eq!(std::io::Read::read(&mut &client, &mut [0]).unwrap(), 0, "both ends are closed");
        drop(client);
        let closed = TcpTable::open(None).unwrap().in_time_wait().unwrap();
        assert!(closed.iter().any(|socket| (socket.local, socket.remote) == (local, remote)), "{closed:?}");
    }

    #[test]
    fn the_namespace_of_this_process_is_one_that_can_be_entered() {
        match TcpTable::open(Some(Path::new("/proc/self/ns/net"))) {
            Ok(mut table) => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let local = listener.local_addr().unwrap();
                assert!(table.listening().unwrap().iter().any(|socket| socket.local == local));
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }

    fn listen(address: &str, backlog: i32) -> (std::os::fd::OwnedFd, u16) {
        let address: SocketAddr = address.parse().unwrap();
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket(family, SocketType::STREAM, None).unwrap();
        net::bind(&socket, &address).unwrap();
        net::listen(&socket, backlog).unwrap();
        let bound: SocketAddr = net::getsockname(&socket).unwrap().try_into().unwrap();
        (socket, bound.port())
    }

    #[test]
    fn the_backlog_is_the_one_the_listener_asked_for() {
        let (_socket, port) = listen("127.0.0.1:0", 37);
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 1], port))), Some(37));
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 2], port))), None);
    }

    #[test]
    fn a_listener_on_every_address_is_found_by_any_of_them() {
        let (_socket, port) = listen("0.0.0.0:0", 41);
        assert_eq!(accept_backlog(SocketAddr::from(([127, 0, 0, 3], port))), Some(41));
    }
}
