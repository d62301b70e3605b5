//! The table of a host's TCP sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use plimsoll_sys::TcpSocket;
use rustix::io::Errno;

use crate::collector::{Missing, text};

/// One TCP socket. An IPv4 address that an IPv6 socket uses is stored as an IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Bytes not yet read; for a listener, connections not yet accepted.
    pub(crate) unread: u64,
    /// For a listener, the maximum of connections that wait to be accepted; `None` if only files are read.
    pub(crate) queue_limit: Option<u64>,
    /// 0 until a process accepts the connection.
    pub(crate) inode: u64,
}

/// States in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";
const LISTENING: &str = "0A";

/// Lists the TCP sockets of a host.
#[derive(Debug)]
pub(crate) struct TcpTable {
    /// The kernel's own list; `None` once the kernel has refused it.
    pub(crate) kernel: Option<plimsoll_sys::TcpTable>,
    /// The folder of the files `tcp` and `tcp6`, which cost more to read and lack the queue limits.
    files: PathBuf,
}

impl TcpTable {
    /// Creates the table of the host whose file tree begins at `root`, or of the network namespace of its process `net_pid`.
    pub(crate) fn new(root: &Path, net_pid: Option<u32>) -> Self {
        let files = match net_pid {
            Some(pid) => root.join(format!("proc/{pid}/net")),
            None => root.join("proc/net"),
        };
        Self { kernel: opened(root, net_pid, plimsoll_sys::TcpTable::open), files }
    }

    pub(crate) fn listening(&mut self) -> Result<Vec<Socket>, Missing> {
        let all = |table: &mut plimsoll_sys::TcpTable| Ok(table.listening()?.iter().map(listener).collect());
        let asked = self.kernel.as_mut().map(all);
        self.or_files(asked, LISTENING)
    }

    pub(crate) fn established(&mut self) -> Result<Vec<Socket>, Missing> {
        let all =
            |table: &mut plimsoll_sys::TcpTable| Ok(table.established()?.iter().map(from_kernel).collect());
        let asked = self.kernel.as_mut().map(all);
        self.or_files(asked, ESTABLISHED)
    }

    /// Returns the kernel's answer, or the content of the files if the kernel was not asked. After a refusal it is not asked again.
    fn or_files(
        &mut self,
        asked: Option<io::Result<Vec<Socket>>>,
        state: &str,
    ) -> Result<Vec<Socket>, Missing> {
        match asked {
            Some(Ok(sockets)) => return Ok(sockets),
            Some(Err(error)) if !is_refusal(&error) => return Err(not_listed("TCP", &error)),
            Some(Err(_)) | None => self.kernel = None,
        }
        from_files(&self.files, state)
    }
}

/// Whether the kernel, or a sandbox around this process, has no such list at all, such as in containers whose kernel modules must not
/// be loaded. Any other error may be gone the next time.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    let refusals = [Errno::OPNOTSUPP, Errno::NOENT, Errno::INVAL, Errno::PERM, Errno::ACCESS];
    Errno::from_io_error(error).is_some_and(|errno| refusals.contains(&errno))
}

pub(super) fn not_listed(kind: &str, error: &io::Error) -> Missing {
    Missing::Failed(format!("could not list the {kind} sockets by sock_diag: {error}"))
}

/// Opens one of the kernel's lists of sockets. That works only on this machine, and only for a user who may enter the namespace.
pub(super) fn opened<T>(
    root: &Path,
    net_pid: Option<u32>,
    open: fn(Option<&Path>) -> io::Result<T>,
) -> Option<T> {
    let namespace = net_pid.map(|pid| root.join(format!("proc/{pid}/ns/net")));
    if root == Path::new("/") { open(namespace.as_deref()).ok() } else { None }
}

fn from_kernel(socket: &TcpSocket) -> Socket {
    Socket {
        local: canonical(socket.local),
        remote: canonical(socket.remote),
        unread: socket.receive_queue.into(),
        queue_limit: None,
        inode: socket.inode.into(),
    }
}

fn listener(socket: &TcpSocket) -> Socket {
    Socket { queue_limit: Some(socket.send_queue.into()), ..from_kernel(socket) }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Reads the sockets of one state from files. A kernel without IPv6 has no `tcp6`.
fn from_files(net: &Path, state: &str) -> Result<Vec<Socket>, Missing> {
    let mut sockets = from_text(&text(&net.join("tcp"))?, state);
    match text(&net.join("tcp6")) {
        Ok(text) => sockets.extend(from_text(&text, state)),
        Err(Missing::Absent) => {}
        Err(failed) => return Err(failed),
    }
    Ok(sockets)
}

fn from_text(text: &str, state: &str) -> Vec<Socket> {
    text.lines().skip(1).filter_map(|line| from_line(line, state)).collect()
}

/// Parses one line (proc_net_tcp in the kernel's documentation).
fn from_line(line: &str, state: &str) -> Option<Socket> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, found) = (words.next()?, words.next()?, words.next()?);
    if found != state {
        return None;
    }
    let (_, unread) = words.next()?.split_once(':')?;
    Some(Socket {
        local: address(local)?,
        remote: address(remote)?,
        unread: u64::from_str_radix(unread, 16).ok()?,
        queue_limit: None,
        inode: words.nth(4)?.parse().ok()?,
    })
}

/// Parses an address. It is written as 32-bit numbers in the machine's byte order.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        _ => {
            let mut bytes = [0; 16];
            for (part, at) in bytes.chunks_exact_mut(4).zip((0..).step_by(8)) {
                part.copy_from_slice(&word(at)?);
            }
            bytes.into()
        }
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::collector::tests::tree;

    #[test]
    fn the_kernels_answer_and_its_files_agree() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        let mut kernel = TcpTable::new(Path::new("/"), None);
        let mut files = TcpTable { kernel: None, files: "/proc/self/net".into() };
        assert!(kernel.kernel.is_some());
        let find = |all: Vec<Socket>, local: SocketAddr| *all.iter().find(|one| one.local == local).unwrap();
        let ours = client.local_addr().unwrap();
        assert_eq!(find(kernel.established().unwrap(), ours), find(files.established().unwrap(), ours));
        let asked = find(kernel.listening().unwrap(), address);
        let read = find(files.listening().unwrap(), address);
        assert_eq!((asked.unread, asked.inode), (1, read.inode));
        assert_eq!(read, Socket { queue_limit: None, ..asked });
        assert!(asked.queue_limit.is_some_and(|limit| limit > 0));
    }

    #[test]
    fn where_the_kernel_refuses_its_files_serve_and_any_other_error_is_a_failure() {
        let line = "0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 0 0 0 4712 1 0";
        let root = tree(&[("net/tcp", &format!("head\n{line}\n"))]);
        let kernel = || plimsoll_sys::TcpTable::open(None).ok();
        let mut table = TcpTable { kernel: kernel(), files: root.path().join("net") };
        let mut asked =
            |errno: Errno| (table.or_files(Some(Err(errno.into())), LISTENING), table.kernel.is_some());
        let (failed, asks) = asked(Errno::NOBUFS);
        assert!(matches!(failed, Err(Missing::Failed(_))) && asks, "it is asked again: {failed:?}");
        for errno in [Errno::OPNOTSUPP, Errno::NOENT, Errno::INVAL] {
            let (listed, asks) = asked(errno);
            assert_eq!(listed.unwrap().iter().map(|socket| socket.inode).collect::<Vec<_>>(), [4_712]);
            assert!(!asks, "{errno}");
        }
        assert_eq!(table.listening().unwrap().len(), 1);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn an_address_of_ipv4_on_a_socket_of_ipv6_is_one_of_ipv4() {
        let head =
            "  sl  local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n";
        let tcp6 = format!(
            "{head}   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 \
             00000000:00000007 00:00000000 00000000 0 0 4711 1 0\n\
             1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A \
             00000000:00000003 00:00000000 00000000 0 0 4712 1 0\n"
        );
        let root = tree(&[("proc/9/net/tcp", head), ("proc/9/net/tcp6", &tcp6)]);
        let mut table = TcpTable::new(root.path(), Some(9));
        let [socket] = table.established().unwrap()[..] else { panic!("one connection") };
        assert_eq!(socket.local, "127.0.0.1:8080".parse().unwrap());
        assert_eq!((socket.remote.port(), socket.unread, socket.inode), (50_000, 7, 4_711));
        let [listener] = table.listening().unwrap()[..] else { panic!("one listener") };
        assert_eq!((listener.local, listener.unread), ("[::]:8080".parse().unwrap(), 3));
    }
}
