//! A snapshot of a host's sockets, with each connection assigned to its listener.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};

use super::tcp_table::Socket;
use super::unix_table::UnixSockets;

/// Counts of the established connections to one listening socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Connections {
    pub(crate) established: u64,
    /// Connections with bytes that no process has read yet.
    pub(crate) unread: u64,
}

/// Listeners and established connections. Each connection is classified only once, since there may be tens of thousands.
#[derive(Debug, Default)]
pub(crate) struct SocketSnapshot {
    listening: Vec<Socket>,
    /// The listeners of each port, as indexes into `listening`.
    ports: HashMap<u16, Vec<usize>>,
    established: Option<Vec<Socket>>,
    /// The connections to each listener, in the order of `listening`.
    connections: Vec<Connections>,
    /// The connections opened from this host, as indexes into `established`.
    outbound: Vec<usize>,
    /// The listening unix sockets, and the connections to them.
    pub(crate) unix: UnixSockets,
    /// Whether the owners of the outbound connections have been determined, as far as these are watched processes.
    pub(crate) attributed: bool,
}

impl SocketSnapshot {
    /// `established` is `None` if the connections were not listed.
    pub(crate) fn new(listening: Vec<Socket>, established: Option<Vec<Socket>>, unix: UnixSockets) -> Self {
        let mut ports: HashMap<u16, Vec<usize>> = HashMap::new();
        for (index, socket) in listening.iter().enumerate() {
            ports.entry(socket.local.port()).or_default().push(index);
        }
        let connections = vec![Connections::default(); listening.len()];
        let mut snapshot = Self { listening, ports, connections, unix, ..Self::default() };
        snapshot.classify(established.as_deref().unwrap_or_default());
        snapshot.established = established;
        snapshot
    }

    /// Sorts connections into inbound and outbound. A listening address is never the origin of a connection, so a connection whose
    /// local end belongs to no listener was opened from here.
    fn classify(&mut self, established: &[Socket]) {
        for (index, socket) in established.iter().enumerate() {
            match self.listener_index(socket.local) {
                Some(listener) => {
                    let connections = &mut self.connections[listener];
                    connections.established += 1;
                    connections.unread += u64::from(socket.unread > 0);
                }
                None => self.outbound.push(index),
            }
        }
    }

    /// Returns the listening TCP sockets with their connections. If several share one address, the first has the connections of all.
    pub(crate) fn listening(&self) -> impl Iterator<Item = (&Socket, Connections)> {
        self.listening.iter().zip(self.connections.iter().copied())
    }

    /// Returns the inodes of all listening sockets.
    pub(crate) fn listening_inodes(&self) -> HashSet<u64> {
        let unix = self.unix.listening.iter().map(|socket| socket.inode);
        self.listening.iter().map(|socket| socket.inode).chain(unix).collect()
    }

    /// Whether the connections were listed.
    pub(crate) fn is_whole(&self) -> bool {
        self.established.is_some()
    }

    /// Whether the connections were listed, and it is known which of them belong to watched processes.
    pub(crate) fn is_attributed(&self) -> bool {
        self.attributed && self.is_whole()
    }

    /// Returns the address of the listener that accepts connections to `address`: the one bound to it, else the one bound to all
    /// addresses of its family, else the one bound to all of IPv6, which usually accepts IPv4 too.
    fn listener_at(&self, address: SocketAddr) -> Option<SocketAddr> {
        self.listener_index(address).map(|index| self.listening[index].local)
    }

    fn listener_index(&self, address: SocketAddr) -> Option<usize> {
        let rank = |ip: IpAddr| match ip {
            _ if ip == address.ip() => Some(0),
            _ if !ip.is_unspecified() => None,
            _ if ip.is_ipv4() == address.is_ipv4() => Some(1),
            IpAddr::V6(_) => Some(2),
            IpAddr::V4(_) => None,
        };
        let candidates = self.ports.get(&address.port())?.iter();
        candidates
            .filter_map(|index| Some((rank(self.listening[*index].local.ip())?, *index)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, index)| index)
    }

    /// Returns the TCP connections opened from this host.
    pub(crate) fn outbound(&self) -> impl Iterator<Item = &Socket> {
        let established = self.established.as_deref().unwrap_or_default();
        self.outbound.iter().map(|index| &established[*index])
    }

    /// Returns the inodes of all sockets whose connection was opened from this host.
    pub(crate) fn outbound_inodes(&self) -> HashSet<u64> {
        let tcp = self.outbound().map(|socket| socket.inode).filter(|inode| *inode != 0);
        tcp.chain(self.unix.outbound().map(|(inode, _)| inode)).collect()
    }

    /// Returns the inodes of the listeners on this machine that sockets of `ours` have connections to. The other end of a connection
    /// is on this machine if the list of connections contains that end as well.
    pub(crate) fn local_dependencies(&self, ours: impl Fn(u64) -> bool) -> HashSet<u64> {
        let outbound = self.outbound().filter(|socket| ours(socket.inode));
        let ends: HashSet<(SocketAddr, SocketAddr)> =
            outbound.map(|socket| (socket.remote, socket.local)).collect();
        let all = if ends.is_empty() { &[] } else { self.established.as_deref().unwrap_or_default() };
        let here = all.iter().filter(|socket| ends.contains(&(socket.local, socket.remote)));
        let at: HashSet<SocketAddr> = here.filter_map(|socket| self.listener_at(socket.local)).collect();
        let tcp =
            self.listening.iter().filter(|socket| at.contains(&socket.local)).map(|socket| socket.inode);
        let unix = self.unix.outbound().filter(|(inode, _)| ours(*inode));
        let unix = unix.filter_map(|(_, listening)| Some(listening?.inode));
        tcp.chain(unix).collect()
    }

    /// Returns the inodes of the listeners that have connections from other machines.
    pub(crate) fn serving(&self) -> HashSet<u64> {
        let here: HashSet<(SocketAddr, SocketAddr)> =
            self.outbound().map(|socket| (socket.remote, socket.local)).collect();
        let from_elsewhere = |socket: &&Socket| {
            !socket.remote.ip().is_loopback() && !here.contains(&(socket.local, socket.remote))
        };
        let established = self.established.iter().flatten().filter(from_elsewhere);
        let at: HashSet<SocketAddr> =
            established.filter_map(|socket| self.listener_at(socket.local)).collect();
        self.listening.iter().filter(|socket| at.contains(&socket.local)).map(|socket| socket.inode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(local: &str, remote: &str, inode: u64) -> Socket {
        let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
        Socket { local, remote, unread: 0, queue_limit: None, inode }
    }

    #[test]
    fn a_listener_of_the_address_itself_comes_before_one_of_all_addresses() {
        let listeners = [("0.0.0.0:80", 1), ("127.0.0.1:80", 2), ("[::]:81", 3), ("10.0.0.1:82", 4)];
        let listening = listeners.map(|(at, inode)| socket(at, "0.0.0.0:0", inode)).to_vec();
        let snapshot = SocketSnapshot::new(listening, None, UnixSockets::default());
        let at =
            |address: &str| snapshot.listener_at(address.parse().unwrap()).map(|found| found.to_string());
        assert_eq!(at("127.0.0.1:80").as_deref(), Some("127.0.0.1:80"));
        assert_eq!(at("10.0.0.9:80").as_deref(), Some("0.0.0.0:80"));
        assert_eq!(at("10.0.0.9:81").as_deref(), Some("[::]:81"));
        assert_eq!(at("10.0.0.9:82"), None);
    }

    #[test]
    fn a_dependency_is_here_only_if_its_end_of_the_connection_is() {
        let listening = vec![socket("0.0.0.0:80", "0.0.0.0:0", 1), socket("127.0.0.1:9000", "0.0.0.0:0", 2)];
        let established = vec![
            socket("10.0.0.1:80", "10.0.0.9:50000", 10),
            socket("127.0.0.1:40000", "127.0.0.1:9000", 11),
            socket("127.0.0.1:9000", "127.0.0.1:40000", 12),
            socket("10.0.0.1:40001", "10.0.0.7:80", 13),
            socket("127.0.0.1:40002", "127.0.0.1:9000", 14),
            socket("127.0.0.1:9000", "127.0.0.1:40002", 15),
        ];
        let snapshot = SocketSnapshot::new(listening, Some(established), UnixSockets::default());
        assert_eq!(snapshot.outbound_inodes(), [11, 13, 14].into());
        assert_eq!(snapshot.local_dependencies(|inode| inode == 11), [2].into());
        assert_eq!(snapshot.local_dependencies(|inode| inode == 13), [].into(), "port 80 of another machine");
        assert_eq!(snapshot.local_dependencies(|_| false), [].into());
        assert_eq!(snapshot.serving(), [1].into(), "10.0.0.9 is another machine");
        let established: Vec<u64> =
            snapshot.listening().map(|(_, connections)| connections.established).collect();
        assert_eq!(established, [1, 2]);
    }
}
