//! The sockets of a host at one moment, and which of them belong together.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};

use crate::tcp_table::Socket;

/// Listeners, and the connections that are established.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    listening: Vec<Socket>,
    /// Where the listeners of each port are, by their index.
    ports: HashMap<u16, Vec<usize>>,
    established: Option<Vec<Socket>>,
    attributed: bool,
}

impl Sight {
    /// `established` is `None` if the connections were not looked at.
    pub(crate) fn new(listening: Vec<Socket>, established: Option<Vec<Socket>>) -> Self {
        let mut ports: HashMap<u16, Vec<usize>> = HashMap::new();
        for (index, socket) in listening.iter().enumerate() {
            ports.entry(socket.local.port()).or_default().push(index);
        }
        Self { listening, ports, established, attributed: false }
    }

    pub(crate) fn listening(&self) -> &[Socket] {
        &self.listening
    }

    pub(crate) fn established(&self) -> Option<&[Socket]> {
        self.established.as_deref()
    }

    /// The holders of all outbound connections are known, as far as they are watched.
    pub(crate) fn set_attributed(&mut self, attributed: bool) {
        self.attributed = attributed;
    }

    /// Connections that were opened from here; `None` if they were not looked at, or it is not known whose they are.
    pub(crate) fn attributed_outbound(&self) -> Option<impl Iterator<Item = &Socket>> {
        (self.attributed && self.established.is_some()).then(|| self.outbound())
    }

    /// The address of the listener that takes the connections to this address: the one bound to it, else the one bound to
    /// all addresses of its family, else to those of IPv6, which usually takes IPv4 too.
    pub(crate) fn listener_at(&self, address: SocketAddr) -> Option<SocketAddr> {
        let rank = |ip: IpAddr| match ip {
            _ if ip == address.ip() => Some(0),
            _ if !ip.is_unspecified() => None,
            _ if ip.is_ipv4() == address.is_ipv4() => Some(1),
            IpAddr::V6(_) => Some(2),
            IpAddr::V4(_) => None,
        };
        let candidates = self.ports.get(&address.port())?.iter().map(|index| self.listening[*index].local);
        candidates
            .filter_map(|local| Some((rank(local.ip())?, local)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, local)| local)
    }

    /// What listens here does not connect from there: a connection whose own end no listener takes was opened from here.
    fn outbound(&self) -> impl Iterator<Item = &Socket> {
        let established = self.established.iter().flatten();
        established.filter(|socket| self.listener_at(socket.local).is_none())
    }

    /// The sockets of connections that were opened from here.
    pub(crate) fn outbound_inodes(&self) -> HashSet<u64> {
        self.outbound().map(|socket| socket.inode).filter(|inode| *inode != 0).collect()
    }

    /// The listeners on this machine that connections lead to which somebody `ours` opened. Whether the other end is
    /// here too shows in the list itself, which then has it as well.
    pub(crate) fn local_dependencies(&self, ours: impl Fn(u64) -> bool) -> HashSet<u64> {
        let outbound = self.outbound().filter(|socket| ours(socket.inode));
        let ends: HashSet<(SocketAddr, SocketAddr)> =
            outbound.map(|socket| (socket.remote, socket.local)).collect();
        let here =
            self.established.iter().flatten().filter(|socket| ends.contains(&(socket.local, socket.remote)));
        let at: HashSet<SocketAddr> = here.filter_map(|socket| self.listener_at(socket.local)).collect();
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
        let sight = Sight::new(listening, None);
        let at = |address: &str| sight.listener_at(address.parse().unwrap()).map(|found| found.to_string());
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
        let sight = Sight::new(listening, Some(established));
        assert_eq!(sight.outbound_inodes(), [11, 13, 14].into());
        assert_eq!(sight.local_dependencies(|inode| inode == 11), [2].into());
        assert_eq!(sight.local_dependencies(|inode| inode == 13), [].into(), "port 80 of another machine");
        assert_eq!(sight.local_dependencies(|_| false), [].into());
    }
}
