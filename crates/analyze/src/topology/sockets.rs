//! What hosts told of their sockets over a run.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use plimsoll_record::{Counters, HostSample, Reading};

use super::Door;

/// What stands before the name of a unix socket.
const UNIX: &str = "unix:";

/// An address with a port; one of IPv4 that is written as one of IPv6 is the same.
pub(super) fn address(text: &str) -> Option<SocketAddr> {
    let parted = || {
        let (host, port) = text.rsplit_once(':')?;
        Some(SocketAddr::new(host.parse().ok()?, port.parse().ok()?))
    };
    let address: SocketAddr = text.parse().ok().or_else(parted)?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// The other end of connections.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    Tcp(SocketAddr),
    /// The name of a unix socket on the same host.
    Unix(String),
}

impl Peer {
    /// An address such as `10.0.0.1:80` or `unix:/run/app.sock`.
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(UNIX) {
            Some(name) => Some(Self::Unix(name.to_owned())),
            None => address(text).map(Self::Tcp),
        }
    }

    pub(super) fn door(&self) -> Door {
        match self {
            Self::Tcp(address) => Door::Port(address.port()),
            Self::Unix(name) => Door::Unix(name.clone()),
        }
    }
}

/// The process that a subject such as `1234 nginx` names.
fn process(subject: &str) -> Option<(u32, &str)> {
    let (pid, name) = subject.split_once(' ')?;
    Some((pid.parse().ok()?, name))
}

/// A process: its host and number.
type Key<'a> = (&'a str, u32);

/// Everything that was seen, of each the last or the most.
#[derive(Debug, Default)]
pub(super) struct Sockets<'a> {
    /// Who listens.
    listeners: BTreeMap<(&'a str, SocketAddr), u32>,
    /// Who listens on unix sockets, by host and name.
    unix_listeners: BTreeMap<(&'a str, &'a str), u32>,
    /// What processes are called.
    names: BTreeMap<Key<'a>, &'a str>,
    /// What processes are connected to, with the most connections at a time.
    peers: BTreeMap<Key<'a>, BTreeMap<Peer, u64>>,
    /// For each process that listens, itself and those of its name that do not.
    families: BTreeMap<Key<'a>, BTreeSet<u32>>,
}

impl<'a> Sockets<'a> {
    pub(super) fn seen(samples: &'a [HostSample]) -> Self {
        let mut seen = Self::default();
        for sample in samples {
            if let Reading::Ok(counters) = &sample.reading {
                match sample.source.as_str() {
                    "listener" => seen.listener(&sample.host, &sample.subject, counters),
                    "peers" => seen.peer(&sample.host, &sample.subject, counters),
                    "process" => seen.name(&sample.host, &sample.subject),
                    _ => {}
                }
            }
        }
        seen.gather_families();
        seen
    }

    fn listener(&mut self, host: &'a str, subject: &'a str, counters: &Counters) {
        let pid = counters.get("pid").and_then(|pid| u32::try_from(*pid).ok());
        match (subject.strip_prefix(UNIX), address(subject), pid) {
            (Some(name), _, Some(pid)) => self.unix_listeners.insert((host, name), pid),
            (None, Some(address), Some(pid)) => self.listeners.insert((host, address), pid),
            _ => None,
        };
    }

    fn name(&mut self, host: &'a str, subject: &'a str) {
        if let Some((pid, name)) = process(subject) {
            self.names.insert((host, pid), name);
        }
    }

    fn peer(&mut self, host: &'a str, subject: &'a str, counters: &'a Counters) {
        self.name(host, subject);
        let Some((pid, _)) = process(subject) else { return };
        let peers = self.peers.entry((host, pid)).or_default();
        for (peer, count) in counters {
            // Other keys say more about the same connections.
            if let Some(peer) = Peer::parse(peer).filter(|_| *count > 0) {
                let most = peers.entry(peer).or_default();
                *most = (*most).max(*count);
            }
        }
    }

    /// Of a server of several processes one is told to listen. The others belong to the process of their name that listens and
    /// came before them, for children come after their parent; or else to any of their name.
    fn gather_families(&mut self) {
        let tcp = self.listeners.iter().map(|((host, _), pid)| (*host, *pid));
        let unix = self.unix_listeners.iter().map(|((host, _), pid)| (*host, *pid));
        let listening: BTreeSet<Key<'a>> = tcp.chain(unix).collect();
        self.families = listening.iter().map(|key| (*key, BTreeSet::from([key.1]))).collect();
        for ((host, pid), name) in self.names.iter().filter(|(key, _)| !listening.contains(key)) {
            let alike = |key: &&Key<'a>| key.0 == *host && self.names.get(*key) == Some(name);
            let before = listening.iter().filter(alike).rfind(|key| key.1 < *pid);
            if let Some(leader) = before.or_else(|| listening.iter().find(alike)) {
                self.families.entry(*leader).or_default().insert(*pid);
            }
        }
    }

    /// The listeners of a host on a port, with their process.
    pub(super) fn listeners(&self, port: u16) -> impl Iterator<Item = (&'a str, SocketAddr, u32)> {
        let on_port = self.listeners.iter().filter(move |((_, address), _)| address.port() == port);
        on_port.map(|((host, address), pid)| (*host, *address, *pid))
    }

    /// The process of a host that listens on a unix socket.
    pub(super) fn unix_listener(&self, host: &str, name: &str) -> Option<u32> {
        self.unix_listeners.get(&(host, name)).copied()
    }

    /// What a process is called.
    pub(super) fn process(&self, host: &str, pid: u32) -> Option<String> {
        self.names.get(&(host, pid)).map(|name| (*name).to_owned())
    }

    /// A process that listens, and those that belong to it.
    pub(super) fn family(&self, host: &str, pid: u32) -> Vec<u32> {
        self.families.get(&(host, pid)).into_iter().flatten().copied().collect()
    }

    /// What processes of a host are connected to, in the order of addresses, with the most connections at a time.
    pub(super) fn peers(&self, host: &str, pids: &[u32]) -> BTreeMap<Peer, u64> {
        let mut sum = BTreeMap::new();
        for (peer, count) in pids.iter().filter_map(|pid| self.peers.get(&(host, *pid))).flatten() {
            *sum.entry(peer.clone()).or_default() += count;
        }
        sum
    }
}
