//! The unix sockets of a network namespace, from sock_diag(7). `/proc/net/unix` does not show which two are connected.

use std::io;
use std::path::Path;

use crate::sock_diag::{SockDiag, number};

/// The message type of a request with `struct unix_diag_req`, and of its answers: `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// Length of `struct unix_diag_req`.
const REQUEST_BYTES: usize = 24;
/// Length of `struct unix_diag_msg`, before its attributes.
const ANSWER_BYTES: usize = 16;
/// Length of `struct nlattr`, before its value.
const ATTRIBUTE_BYTES: usize = 4;
/// The bits of the states ESTABLISHED, number 1 in the kernel's `tcp_states.h`, and LISTEN, number 10.
const STATES: u32 = 1 << 1 | LISTENING;
const LISTENING: u32 = 1 << 10;
/// The attributes to list, `UDIAG_SHOW_NAME`, `_PEER`, `_ICONS` and `_RQLEN`, and their numbers, `UNIX_DIAG_NAME` and so on.
const SHOWN: u32 = 0x01 | 0x04 | 0x08 | 0x10;
const NAME: u16 = 0;
const PEER: u16 = 2;
const PENDING: u16 = 3;
const QUEUE: u16 = 4;
const SHUTDOWN: u16 = 6;
/// Both directions are shut down, because the other end is closed or by shutdown(2).
const SHUT_BOTH: u8 = 3;

/// One unix socket, listening or connected, of a type that keeps bytes in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnixSocket {
    /// True for a listening socket.
    pub listening: bool,
    /// Its path, or `@` followed by its abstract name; an accepted socket has the listener's name. `None` if it is unnamed, as
    /// most connecting sockets are.
    pub name: Option<String>,
    /// Its inode, as in `/proc/PID/fd`. The accepting end is not listed before a process has accepted it.
    pub inode: u32,
    /// The inode of the other end; zero if it has none, because it is closed or not accepted yet.
    pub peer: Option<u32>,
    /// True if both directions are shut down: nothing can be received from the other end or sent to it.
    pub shut: bool,
    /// For a listener, the inodes of the sockets that connected to it and are not accepted yet.
    pub pending: Vec<u32>,
    /// Number of unread bytes; for a listener, number of connections not yet accepted.
    pub receive_queue: u32,
    /// For a listener, the maximum length of its accept queue.
    pub queue_limit: u32,
}

/// Lists the unix sockets of one network namespace.
#[derive(Debug)]
pub struct UnixTable(SockDiag);

impl UnixTable {
    /// Opens the network namespace that a file such as `/proc/1234/ns/net` stands for; `None` means this process's own.
    ///
    /// # Errors
    /// When the namespace may not be entered, which takes `CAP_SYS_ADMIN`, or the kernel has no such list.
    pub fn open(namespace: Option<&Path>) -> io::Result<Self> {
        SockDiag::open(namespace).map(Self)
    }

    /// Returns all listening and connected sockets except datagram sockets.
    ///
    /// # Errors
    /// When the kernel's answer is not as expected, or the kernel was built without this list.
    pub fn sockets(&mut self) -> io::Result<Vec<UnixSocket>> {
        let mut found = Vec::new();
        self.0.dump(BY_FAMILY, &request(), |answer| found.extend(socket(answer)))?;
        Ok(found)
    }
}

fn request() -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    request[0] = libc::AF_UNIX as u8;
    request[4..8].copy_from_slice(&STATES.to_ne_bytes());
    request[12..16].copy_from_slice(&SHOWN.to_ne_bytes());
    request
}

/// Parses one `struct unix_diag_msg` with its attributes.
fn socket(answer: &[u8]) -> Option<UnixSocket> {
    if answer.len() < ANSWER_BYTES || i32::from(answer[1]) == libc::SOCK_DGRAM {
        return None;
    }
    let listening = 1_u32.checked_shl(answer[2].into()) == Some(LISTENING);
    let mut socket = UnixSocket { listening, inode: number(answer, 4), ..UnixSocket::default() };
    let mut rest = &answer[ANSWER_BYTES..];
    while rest.len() >= ATTRIBUTE_BYTES {
        let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]]));
        let value = rest.get(ATTRIBUTE_BYTES..length)?;
        match u16::from_ne_bytes([rest[2], rest[3]]) {
            NAME => socket.name = name(value),
            PEER if value.len() >= 4 => socket.peer = Some(number(value, 0)),
            SHUTDOWN => socket.shut = value.first() == Some(&SHUT_BOTH),
            PENDING => socket.pending = (0..value.len() / 4).map(|index| number(value, 4 * index)).collect(),
            QUEUE if value.len() >= 8 => {
                (socket.receive_queue, socket.queue_limit) = (number(value, 0), number(value, 4));
            }
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(socket)
}

/// Parses a name. A path ends with a zero byte or with the value; an abstract name begins with a zero byte.
fn name(value: &[u8]) -> Option<String> {
    let (sign, name) = match value.split_first()? {
        (0, name) => ("@", name),
        _ => ("", value.split(|byte| *byte == 0).next()?),
    };
    Some(format!("{sign}{}", String::from_utf8_lossy(name)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    use super::*;

    fn inode(socket: &impl AsRawFd) -> u32 {
        let link = format!("/proc/self/fd/{}", socket.as_raw_fd());
        u32::try_from(std::fs::metadata(link).unwrap().ino()).unwrap()
    }

    #[test]
    fn both_ends_of_a_connection_are_listed_with_their_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let waiting = UnixStream::connect(&path).unwrap();
        let sockets = UnixTable::open(None).unwrap().sockets().unwrap();
        let found = |inode: u32| sockets.iter().find(|socket| socket.inode == inode).unwrap();
        let listens = found(inode(&listener));
        assert!(listens.listening && listens.queue_limit > 1, "{listens:?}");
        assert_eq!((listens.name.as_deref(), listens.receive_queue), (path.to_str(), 1));
        assert_eq!(listens.pending, [inode(&waiting)]);
        assert!(!found(inode(&waiting)).shut);
        let server = found(inode(&accepted));
        assert_eq!((server.listening, server.name.as_deref()), (false, path.to_str()));
        assert_eq!(server.peer, Some(inode(&client)));
        let ours = found(inode(&client));
        assert_eq!((ours.name.as_deref(), ours.peer), (None, Some(inode(&accepted))));
        drop(accepted);
        let sockets = UnixTable::open(None).unwrap().sockets().unwrap();
        let left = sockets.iter().find(|socket| socket.inode == inode(&client)).unwrap();
        assert!(left.shut && left.peer == Some(0), "{left:?}");
    }

    #[test]
    fn a_name_without_a_file_begins_with_a_sign() {
        use std::os::linux::net::SocketAddrExt as _;
        let name = format!("plimsoll-{}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let sockets = UnixTable::open(None).unwrap().sockets().unwrap();
        let found = sockets.iter().find(|socket| socket.inode == inode(&listener)).unwrap();
        assert_eq!(found.name, Some(format!("@{name}")));
    }

    #[test]
    fn broken_answers_are_no_sockets_or_have_no_attributes() {
        for length in 0..100 {
            let zeros = socket(&vec![0; length]);
            assert!(zeros.is_none_or(|socket| socket.peer.is_none()), "{length}");
            assert!(socket(&vec![0xff; length]).is_none_or(|socket| socket.name.is_none()), "{length}");
        }
    }
}
