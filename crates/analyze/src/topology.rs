//! Which processes on which hosts a request passes, found by following connections from the target's listener.
//!
//! Hosts tell who listens and what their processes are connected to (samples `listener` and `peers`). The target's
//! address leads to a listener, its process to the addresses that it is connected to, and so on. Where nothing is looked at,
//! an address is all there is, and the way ends.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_plan::Plan;
use plimsoll_record::Run;

use places::Places;
use sockets::{Peer, Sockets};

mod places;
mod sockets;

/// The most tiers that are followed: a process that is connected to half the world is not worth more.
const TIERS_MAX: usize = 64;

/// The processes that requests pass, the target first and each before those that it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The processes.
    pub tiers: Vec<TierNode>,
}

/// A process, with its children of the same name, that requests reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierNode {
    /// The name of its host; where nothing is looked at, its address.
    pub host: String,
    /// The name of the process; `None` where it is not known.
    pub process: Option<String>,
    /// The process and its children, as far as they are known.
    pub pids: Vec<u32>,
    /// Where it is reached.
    pub door: Door,
    /// How many connections away from the load generator it is, from 1.
    pub depth: u32,
    /// What it is connected to.
    pub downstream: Vec<TierEdge>,
}

/// Where a process is reached by others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// A TCP port.
    Port(u16),
    /// A unix socket: its path, or its name after an `@`.
    Unix(String),
}

/// The connections from one tier to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierEdge {
    /// The index of the other tier.
    pub to: usize,
    /// The most of them that were seen established at a time, summed over processes.
    pub connections: u64,
}

/// What tells tiers apart: the process that listens, or the address where that is not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Process { host: String, pid: u32 },
    Address { host: String, door: Door },
}

impl Topology {
    /// True if anything is known of a tier beyond its address.
    pub fn is_known(&self) -> bool {
        self.tiers.iter().any(|tier| tier.process.is_some())
    }

    /// The tiers by how many connections they are away from the generator, the nearest first.
    pub fn levels(&self) -> Vec<Vec<&TierNode>> {
        let deepest = self.tiers.iter().map(|tier| tier.depth).max().unwrap_or(0);
        (1..=deepest).map(|depth| self.tiers.iter().filter(|tier| tier.depth == depth).collect()).collect()
    }
}

/// The processes that the requests of a run passed; the plan is the one it was made from.
pub fn topology(run: &Run, plan: &Plan) -> Topology {
    let sockets = Sockets::seen(&run.hosts);
    let places = Places { plan, local: run.manifest.preflight.local, sockets: &sockets };
    let mut walk = Walk { sockets: &sockets, places, known: BTreeMap::new(), topology: Topology::default() };
    for address in &run.manifest.preflight.addresses {
        // A unix socket has no address that could be followed.
        if let Some(address) = sockets::address(address) {
            walk.enter(&Peer::Tcp(address));
        }
    }
    walk.follow_all();
    walk.topology
}

struct Walk<'a> {
    sockets: &'a Sockets<'a>,
    places: Places<'a>,
    known: BTreeMap<Identity, usize>,
    topology: Topology,
}

impl Walk<'_> {
    fn enter(&mut self, target: &Peer) {
        let identity = self.identity(None, target);
        self.tier(identity, target, 1);
    }

    /// Breadth first, so that each tier's depth is the shortest way to it.
    fn follow_all(&mut self) {
        let mut waiting: VecDeque<usize> = (0..self.topology.tiers.len()).collect();
        while let Some(index) = waiting.pop_front() {
            let before = self.topology.tiers.len();
            self.follow(index);
            waiting.extend(before..self.topology.tiers.len());
        }
    }

    fn follow(&mut self, index: usize) {
        let TierNode { host, pids, depth, .. } = self.topology.tiers[index].clone();
        for (peer, connections) in self.sockets.peers(&host, &pids) {
            let identity = self.identity(Some(&host), &peer);
            let Some(to) = self.tier(identity, &peer, depth + 1).filter(|to| *to != index) else { continue };
            let edges = &mut self.topology.tiers[index].downstream;
            match edges.iter_mut().find(|edge| edge.to == to) {
                Some(edge) => edge.connections += connections,
                None => edges.push(TierEdge { to, connections }),
            }
        }
    }

    fn identity(&self, from: Option<&str>, peer: &Peer) -> Identity {
        let listener = match peer {
            Peer::Tcp(address) => self.places.listener(from, *address),
            // A unix socket does not lead out of its host.
            Peer::Unix(name) => {
                from.and_then(|host| Some((host.to_owned(), self.sockets.unix_listener(host, name)?)))
            }
        };
        let host = || match peer {
            Peer::Tcp(address) => self.places.host_name(from, *address),
            Peer::Unix(_) => from.unwrap_or_default().to_owned(),
        };
        match listener {
            Some((host, pid)) => Identity::Process { host, pid },
            None => Identity::Address { host: host(), door: peer.door() },
        }
    }

    /// The index of a tier, which is added if it is new; `None` if there are too many.
    fn tier(&mut self, identity: Identity, peer: &Peer, depth: u32) -> Option<usize> {
        if let Some(index) = self.known.get(&identity) {
            return Some(*index);
        }
        if self.topology.tiers.len() >= TIERS_MAX {
            return None;
        }
        let (host, process, pids) = match &identity {
            Identity::Process { host, pid } => {
                (host.clone(), self.sockets.process(host, *pid), self.sockets.family(host, *pid))
            }
            Identity::Address { host, .. } => (host.clone(), None, Vec::new()),
        };
        let door = peer.door();
        self.topology.tiers.push(TierNode { host, process, pids, door, depth, downstream: Vec::new() });
        self.known.insert(identity, self.topology.tiers.len() - 1);
        Some(self.topology.tiers.len() - 1)
    }
}
