//! The sockets that hosts reported over a run.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use plimsoll_record::metric::{listener, process};
use plimsoll_record::{Address, Source, Subject};

use super::Endpoint;
use crate::hosts::track::{Span, Track};
use crate::hosts::tracks::Hosts;

/// The endpoint of an address.
pub(super) fn endpoint(address: Address<'_>) -> Endpoint {
    match address {
        Address::Tcp(address) => Endpoint::Port(address.port()),
        Address::Unix(name) => Endpoint::Unix(name.to_owned()),
    }
}

/// A listener on an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener<'a> {
    pub(super) host: String,
    /// The address it listens on, which may stand for all of its host.
    pub(super) address: Address<'a>,
    /// Its process, if the host reports that.
    pub(super) pid: Option<u32>,
}

impl Listener<'_> {
    pub(super) fn ip(&self) -> Option<IpAddr> {
        match self.address {
            Address::Tcp(address) => Some(address.ip()),
            Address::Unix(_) => None,
        }
    }
}

/// A process: its host and number.
type Key<'a> = (&'a str, u32);

/// The process that listens on one address of a host.
#[derive(Debug)]
struct Listening<'a> {
    pid: Option<u32>,
    track: &'a Track<'a>,
}

/// Connections of one process to one address.
#[derive(Debug)]
struct Peer<'a> {
    track: &'a Track<'a>,
    /// The address as the host wrote it.
    written: &'a str,
    most: u64,
}

/// All processes and sockets that were reported.
#[derive(Debug, Default)]
pub(super) struct Sockets<'a> {
    listening: BTreeMap<(&'a str, Address<'a>), Listening<'a>>,
    names: BTreeMap<Key<'a>, &'a str>,
    parents: BTreeMap<Key<'a>, u32>,
    peers: BTreeMap<Key<'a>, BTreeMap<Address<'a>, Peer<'a>>>,
    /// For each process that listens, itself and the processes that belong to it.
    families: BTreeMap<Key<'a>, BTreeSet<u32>>,
}

impl<'a> Sockets<'a> {
    pub(super) fn seen(hosts: &'a Hosts<'a>) -> Self {
        let mut seen = Self::default();
        for host in hosts.names() {
            hosts.of(host, Source::Waiting).for_each(|(subject, _)| seen.name(host, subject));
            hosts
                .of(host, Source::Process)
                .for_each(|(subject, track)| seen.note_process(host, subject, track));
            hosts.of(host, Source::Listener).for_each(|(subject, track)| seen.listener(host, subject, track));
            hosts.of(host, Source::Peers).for_each(|(subject, track)| seen.peers_of(host, subject, track));
        }
        seen.gather_families();
        seen
    }

    fn listener(&mut self, host: &'a str, subject: Subject<'a>, track: &'a Track<'a>) {
        let pid = track.last(listener::PID).map(|pid| pid as u32);
        if let Subject::Address(address) = subject {
            self.listening.insert((host, address), Listening { pid, track });
        }
    }

    fn note_process(&mut self, host: &'a str, subject: Subject<'a>, track: &'a Track<'a>) {
        self.name(host, subject);
        if let (Some(pid), Some(parent)) = (subject.pid(), track.last_number(process::PARENT)) {
            self.parents.insert((host, pid), parent as u32);
        }
    }

    fn name(&mut self, host: &'a str, subject: Subject<'a>) {
        if let Subject::Process { pid, name } = subject {
            self.names.insert((host, pid), name);
        }
    }

    fn peers_of(&mut self, host: &'a str, subject: Subject<'a>, track: &'a Track<'a>) {
        self.name(host, subject);
        let Some(pid) = subject.pid() else { return };
        let peers = self.peers.entry((host, pid)).or_default();
        for written in track.made_names() {
            let most = track.most_made(written).unwrap_or(0.0) as u64;
            // A name that is no address is of another version.
            if let Some(address) = Address::parse(written).filter(|_| most > 0) {
                peers.insert(address, Peer { track, written, most });
            }
        }
    }

    /// Assigns the processes of a server to the one of them that is reported to listen. A process belongs to its parent if that has
    /// its name and listens. Otherwise it belongs to the listening process of its name that came before it, because children come
    /// after their parent; or else to any of its name, or to a listening parent of another name.
    fn gather_families(&mut self) {
        let listening: BTreeSet<Key<'a>> = self
            .listening
            .iter()
            .filter_map(|((host, _), listening)| Some((*host, listening.pid?)))
            .collect();
        self.families = listening.iter().map(|key| (*key, BTreeSet::from([key.1]))).collect();
        for ((host, pid), name) in self.names.iter().filter(|(key, _)| !listening.contains(key)) {
            let alike = |key: &&Key<'a>| key.0 == *host && self.names.get(*key) == Some(name);
            let parent = self.parents.get(&(*host, *pid)).and_then(|parent| listening.get(&(*host, *parent)));
            let before = || listening.iter().filter(alike).rfind(|key| key.1 < *pid);
            let any = || listening.iter().find(alike);
            if let Some(leader) = parent.filter(alike).or_else(before).or_else(any).or(parent) {
                self.families.entry(*leader).or_default().insert(*pid);
            }
        }
    }

    /// What listens on a TCP port, on any host.
    pub(super) fn listeners(&self, port: u16) -> impl Iterator<Item = Listener<'a>> {
        let on_port = move |address: &Address<'_>| matches!(address, Address::Tcp(one) if one.port() == port);
        let found = self.listening.iter().filter(move |((_, address), _)| on_port(address));
        found.map(|((host, address), listening)| Listener {
            host: (*host).to_owned(),
            address: *address,
            pid: listening.pid,
        })
    }

    /// What listens on a unix socket of a host.
    pub(super) fn unix_listener(&self, host: &str, address: Address<'a>) -> Option<Listener<'a>> {
        let found = self.listening.iter().find(|(key, _)| key.0 == host && key.1 == address);
        found.map(|(_, listening)| Listener { host: host.to_owned(), address, pid: listening.pid })
    }

    /// The name of a process.
    pub(super) fn process(&self, host: &str, pid: u32) -> Option<String> {
        self.names.get(&(host, pid)).map(|name| (*name).to_owned())
    }

    /// A process that listens, and the processes that belong to it.
    pub(super) fn family(&self, host: &str, pid: u32) -> Vec<u32> {
        self.families.get(&(host, pid)).into_iter().flatten().copied().collect()
    }

    /// The tracks of all listeners of these processes, and of the listener at this address.
    pub(super) fn listener_tracks(
        &self,
        host: &str,
        pids: &[u32],
        at: Option<Address<'_>>,
    ) -> Vec<&'a Track<'a>> {
        let ours = |(key, listening): &(&(&str, Address<'_>), &Listening<'_>)| {
            key.0 == host && (listening.pid.is_some_and(|pid| pids.contains(&pid)) || Some(key.1) == at)
        };
        self.listening.iter().filter(ours).map(|(_, listening)| listening.track).collect()
    }

    /// True if the host listed the connections of any of these processes.
    pub(super) fn lists_peers(&self, host: &str, pids: &[u32]) -> bool {
        pids.iter().any(|pid| self.peers.contains_key(&(host, *pid)))
    }

    /// The addresses that processes of a host are connected to, in order, each with the most connections at a time.
    pub(super) fn peers(&self, host: &str, pids: &[u32]) -> BTreeMap<Address<'a>, u64> {
        let mut sum = BTreeMap::new();
        for (address, peer) in pids.iter().filter_map(|pid| self.peers.get(&(host, *pid))).flatten() {
            *sum.entry(*address).or_default() += peer.most;
        }
        sum
    }

    /// The mean number of connections of these processes to an address within a span.
    pub(super) fn connections(
        &self,
        host: &str,
        pids: &[u32],
        address: Address<'_>,
        span: Span,
    ) -> Option<f64> {
        let of_pids = pids.iter().filter_map(|pid| self.peers.get(&(host, *pid))?.get(&address));
        of_pids.filter_map(|peer| peer.track.mean_made(peer.written, span)).reduce(|a, b| a + b)
    }
}
