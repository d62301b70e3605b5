//! The unix sockets of a host: listeners, and the connections to them.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use plimsoll_sys::UnixSocket;

use super::tcp_table::{is_refusal, not_listed, opened};
use crate::collector::Missing;

/// Sockets that most services of a machine use for housekeeping, and never for requests.
const HOUSEKEEPING: [&str; 7] = [
    "/run/systemd/",
    "/run/dbus/",
    "/var/run/dbus/",
    "/run/user/",
    "/run/nscd/",
    "/var/run/nscd/",
    "@/tmp/dbus-",
];

/// A listening unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listening {
    /// Its path, or `@` and its name in the abstract namespace.
    pub(crate) name: String,
    pub(crate) inode: u64,
    /// Connections not yet accepted, and the maximum of these.
    pub(crate) queue: u64,
    pub(crate) queue_limit: u64,
    /// Accepted connections that are still open, and those of them with bytes that no process has read yet.
    pub(crate) established: u64,
    pub(crate) unread: u64,
}

/// Listeners, and the connections to them.
#[derive(Debug, Default)]
pub(crate) struct UnixSockets {
    pub(crate) listening: Vec<Listening>,
    /// The inodes of the sockets that connected, each with the index of its listener.
    outbound: Vec<(u64, usize)>,
    /// The inodes of sockets whose other end is in another network namespace, such as of containers that share a socket's folder.
    abroad: Vec<u64>,
}

impl UnixSockets {
    fn new(sockets: &[UnixSocket]) -> Self {
        let named = |socket: &UnixSocket| {
            let name = socket.name.clone()?;
            let ours = HOUSEKEEPING.iter().any(|beginning| name.starts_with(beginning));
            (!ours).then_some(name)
        };
        let mut listening: Vec<Listening> = Vec::new();
        for socket in sockets.iter().filter(|socket| socket.listening) {
            listening.extend(named(socket).map(|name| Listening {
                name,
                inode: socket.inode.into(),
                queue: socket.receive_queue.into(),
                queue_limit: socket.queue_limit.into(),
                established: 0,
                unread: 0,
            }));
        }
        let at: HashMap<String, usize> =
            listening.iter().enumerate().map(|(index, one)| (one.name.clone(), index)).collect();
        let mut outbound = Vec::new();
        // The accepted end of a connection has the listener's name; the other end is the one that connected.
        for socket in sockets.iter().filter(|socket| !socket.listening) {
            let Some(index) = socket.name.as_ref().and_then(|name| at.get(name)) else { continue };
            listening[*index].established += 1;
            listening[*index].unread += u64::from(socket.receive_queue > 0);
            outbound.extend(socket.peer.filter(|peer| *peer != 0).map(|peer| (peer.into(), *index)));
        }
        for socket in sockets.iter().filter(|socket| socket.listening) {
            let Some(index) = socket.name.as_ref().and_then(|name| at.get(name)) else { continue };
            outbound.extend(socket.pending.iter().map(|inode| (u64::from(*inode), *index)));
        }
        Self { listening, outbound, abroad: abroad(sockets) }
    }

    /// Returns the inode of each socket that connected, with its listener; `None` if that is in another network namespace.
    pub(crate) fn outbound(&self) -> impl Iterator<Item = (u64, Option<&Listening>)> {
        let here = self.outbound.iter().map(|(inode, index)| (*inode, Some(&self.listening[*index])));
        here.chain(self.abroad.iter().map(|inode| (*inode, None)))
    }
}

/// Returns the sockets whose other end is not listed: the kernel lists the sockets of one network namespace.
fn abroad(sockets: &[UnixSocket]) -> Vec<u64> {
    let ends = sockets.iter().flat_map(|socket| socket.peer.iter().chain(&socket.pending));
    let ends: HashSet<u32> = ends.copied().collect();
    let connected = |socket: &&UnixSocket| {
        let is_client = !socket.listening && socket.name.is_none() && socket.peer.is_some();
        is_client && !socket.shut && !ends.contains(&socket.inode)
    };
    sockets.iter().filter(connected).map(|socket| socket.inode.into()).collect()
}

/// The kernel's list of unix sockets. There is no fallback to files, which do not say which sockets are connected.
#[derive(Debug)]
pub(crate) struct UnixTable(Option<plimsoll_sys::UnixTable>);

impl UnixTable {
    /// Creates the table of the host whose file tree begins at `root`, or of the network namespace of its process `net_pid`.
    pub(crate) fn new(root: &Path, net_pid: Option<u32>) -> Self {
        Self(opened(root, net_pid, plimsoll_sys::UnixTable::open))
    }

    /// Returns the current sockets. A kernel that refuses this list, such as one built without it, counts as having no sockets and is not
    /// asked again.
    pub(crate) fn sockets(&mut self) -> Result<UnixSockets, Missing> {
        let asked = self.0.as_mut().map(plimsoll_sys::UnixTable::sockets);
        self.or_none(asked)
    }

    fn or_none(&mut self, asked: Option<io::Result<Vec<UnixSocket>>>) -> Result<UnixSockets, Missing> {
        match asked {
            Some(Ok(sockets)) => return Ok(UnixSockets::new(&sockets)),
            Some(Err(error)) if !is_refusal(&error) => return Err(not_listed("unix", &error)),
            Some(Err(_)) | None => self.0 = None,
        }
        Ok(UnixSockets::default())
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_kernel_without_the_list_is_not_asked_again_and_one_that_failed_is() {
        let mut table = UnixTable::new(Path::new("/"), None);
        assert!(table.0.is_some());
        let failed = table.or_none(Some(Err(Errno::NOBUFS.into())));
        assert!(matches!(failed, Err(Missing::Failed(_))) && table.0.is_some(), "{failed:?}");
        let none = table.or_none(Some(Err(Errno::NOENT.into()))).unwrap();
        assert!(none.listening.is_empty() && table.0.is_none());
        assert!(table.sockets().is_ok());
    }

    fn socket(name: Option<&str>, inode: u32, peer: Option<u32>, listening: bool) -> UnixSocket {
        let name = name.map(ToOwned::to_owned);
        let pending = if listening { vec![inode + 100] } else { Vec::new() };
        UnixSocket {
            listening,
            name,
            inode,
            peer,
            pending,
            shut: inode == 102,
            receive_queue: 3,
            queue_limit: 9,
        }
    }

    #[test]
    fn the_end_that_connected_belongs_to_the_listener_whose_name_the_other_end_has() {
        let (app, bus) = ("/run/app.sock", "/run/dbus/system_bus_socket");
        let sockets = [
            socket(Some(app), 1, None, true),
            socket(Some(bus), 2, None, true),
            socket(Some(app), 10, Some(11), false),
            socket(None, 11, Some(10), false),
            socket(Some(app), 12, Some(0), false),
            socket(Some(bus), 20, Some(21), false),
            socket(None, 21, Some(20), false),
            socket(None, 30, Some(31), false),
            socket(None, 31, Some(30), false),
            socket(None, 40, Some(99), false),
            socket(None, 41, None, false),
            socket(None, 101, Some(0), false),
            socket(None, 102, Some(0), false),
        ];
        let found = UnixSockets::new(&sockets);
        assert_eq!(found.listening.len(), 1, "the bus is housekeeping");
        let listens = &found.listening[0];
        assert_eq!((listens.queue, listens.queue_limit, listens.established), (3, 9, 2));
        let outbound: Vec<(u64, Option<&str>)> = found
            .outbound()
            .map(|(inode, listening)| (inode, listening.map(|one| one.name.as_str())))
            .collect();
        assert_eq!(
            outbound,
            [(11, Some(app)), (101, Some(app)), (40, None)],
            "a client that has gone is left out"
        );
    }
}
