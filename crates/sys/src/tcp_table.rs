//! The TCP sockets of a network namespace, asked of the kernel by sock_diag(7).
//!
//! The same stands in `/proc/net/tcp`, at some ten times the cost for each socket, and there without the limits of
//! accept queues.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Length of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Length of `struct inet_diag_req_v2`.
const REQUEST_BYTES: usize = 56;
/// Length of `struct inet_diag_msg`, without the attributes that may follow it.
const ANSWER_BYTES: usize = 72;
/// The type of both the request and its answers, `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// The bits of the states ESTABLISHED, number 1 in the kernel's `tcp_states.h`, TIME_WAIT, number 6, and LISTEN, number 10.
const ESTABLISHED: u32 = 1 << 1;
const TIME_WAIT: u32 = 1 << 6;
const LISTENING: u32 = 1 << 10;
/// Parts of one answer that are read, of up to 32 KiB each: they hold some million sockets.
const PARTS_MAX: usize = 4096;

/// One TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSocket {
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's; unspecified while it listens.
    pub remote: SocketAddr,
    /// Bytes received and not yet read; of one that listens, connections not yet accepted.
    pub receive_queue: u32,
    /// Bytes sent and not yet acknowledged; of one that listens, how many connections may wait to be accepted.
    pub send_queue: u32,
    /// Its inode, by which `/proc/PID/fd` names it; zero while no process has accepted it.
    pub inode: u32,
}

/// Asks for the TCP sockets of one network namespace.
#[derive(Debug)]
pub struct TcpTable {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// The number of the last request, which its answers carry.
    asked: u32,
}

impl TcpTable {
    /// The sockets of this process's own namespace.
    ///
    /// # Errors
    /// When the kernel gives no such socket.
    pub fn open() -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
        Ok(Self { socket, buffer: vec![0; 64 * 1024], asked: 0 })
    }

    /// The sockets of another network namespace, named by a file such as `/proc/1234/ns/net`. A socket stays in the
    /// namespace that it was made in, so that only a thread that ends at once has to go there.
    ///
    /// # Errors
    /// When the namespace may not be entered, which takes `CAP_SYS_ADMIN`, or gives no such socket.
    pub fn open_in(namespace: &Path) -> io::Result<Self> {
        let namespace = std::fs::File::open(namespace)?;
        let made = std::thread::Builder::new().name("namespace".to_owned()).spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            Self::open()
        })?;
        made.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace ended by a fault")))
    }

    /// All sockets that listen.
    ///
    /// # Errors
    /// When the kernel does not answer as it should.
    pub fn listening(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(LISTENING)
    }

    /// All established connections, also those that no process has accepted yet.
    ///
    /// # Errors
    /// When the kernel does not answer as it should.
    pub fn established(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(ESTABLISHED)
    }

    /// All connections that were closed from this side first, and hold their port for a minute.
    ///
    /// # Errors
    /// When the kernel does not answer as it should.
    pub fn in_time_wait(&mut self) -> io::Result<Vec<TcpSocket>> {
        self.all(TIME_WAIT)
    }

    /// A kernel without IPv6 refuses to tell of it, and has no such sockets.
    fn all(&mut self, states: u32) -> io::Result<Vec<TcpSocket>> {
        let mut found = Vec::new();
        self.dump(libc::AF_INET, states, &mut found)?;
        match self.dump(libc::AF_INET6, states, &mut found) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(found),
        }
    }

    fn dump(&mut self, family: i32, states: u32, found: &mut Vec<TcpSocket>) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        net::send(&self.socket, &request(family as u8, states, self.asked), SendFlags::empty())?;
        for _ in 0..PARTS_MAX {
            let (count, _) = net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            if read_part(&self.buffer[..count], self.asked, found)? {
                return Ok(());
            }
        }
        Err(io::Error::other("the kernel's list of TCP sockets does not end"))
    }
}

/// Asks for every TCP socket of a family in one of these states.
fn request(family: u8, states: u32, asked: u32) -> [u8; HEADER_BYTES + REQUEST_BYTES] {
    const LENGTH: usize = HEADER_BYTES + REQUEST_BYTES;
    let mut request = [0; LENGTH];
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[..4].copy_from_slice(&(LENGTH as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    request[8..12].copy_from_slice(&asked.to_ne_bytes());
    request[HEADER_BYTES] = family;
    request[HEADER_BYTES + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&states.to_ne_bytes());
    request
}

/// Reads the messages of one part that answer this request; true if it was the last one.
fn read_part(mut part: &[u8], asked: u32, found: &mut Vec<TcpSocket>) -> io::Result<bool> {
    while part.len() >= HEADER_BYTES {
        let length = number(part, 0) as usize;
        let kind = u16::from_ne_bytes([part[4], part[5]]);
        if length < HEADER_BYTES || length > part.len() {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        match i32::from(kind) {
            _ if number(part, 8) != asked => {}
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => return Err(refusal(&part[HEADER_BYTES..length])),
            _ if kind == BY_FAMILY => found.extend(socket(&part[HEADER_BYTES..length])),
            _ => {}
        }
        part = part.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// The error in a `struct nlmsgerr`, which stands there negated.
fn refusal(message: &[u8]) -> io::Error {
    if message.len() < 4 {
        return io::Error::from(io::ErrorKind::InvalidData);
    }
    io::Error::from_raw_os_error((number(message, 0) as i32).saturating_neg())
}

/// One `struct inet_diag_msg`.
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

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn inode(socket: &impl std::os::fd::AsRawFd) -> u32 {
        let link = format!("/proc/self/fd/{}", socket.as_raw_fd());
        u32::try_from(std::fs::metadata(link).unwrap().ino()).unwrap()
    }

    #[test]
    fn a_connection_nobody_accepted_waits_in_its_listeners_queue_with_what_it_sent() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let local = listener.local_addr().unwrap();
            let mut client = TcpStream::connect(local).unwrap();
            client.write_all(b"hello").unwrap();
            let mut table = TcpTable::open().unwrap();
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
    fn a_connection_that_was_closed_from_here_first_holds_its_port_in_time_wait() {
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
        let closed = TcpTable::open().unwrap().in_time_wait().unwrap();
        assert!(closed.iter().any(|socket| (socket.local, socket.remote) == (local, remote)), "{closed:?}");
    }

    #[test]
    fn the_namespace_of_this_process_is_one_that_can_be_entered() {
        match TcpTable::open_in(Path::new("/proc/self/ns/net")) {
            Ok(mut table) => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let local = listener.local_addr().unwrap();
                assert!(table.listening().unwrap().iter().any(|socket| socket.local == local));
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }

    #[test]
    fn broken_answers_hold_no_sockets() {
        let mut found = Vec::new();
        for length in 0..200 {
            for part in [vec![0xff; length], vec![0; length]] {
                let whole = read_part(&part, 0, &mut found).is_ok();
                assert_eq!(whole, length < HEADER_BYTES, "{length}");
            }
        }
        assert_eq!(found, []);
    }
}
