//! Which processes on which hosts a request passes, found by following connections from the target's listener.
//!
//! Hosts tell who listens and what their processes are connected to (samples `listener` and `peers`). The target's
//! address leads to a listener, its process to the addresses that it is connected to, and so on. Where nothing is looked at,
//! an address is all there is, and the way ends.
//!
//! One walk gives both: the tiers as reports draw them, and how many connections lead through each of them step by step,
//! from which the verdict tells where requests wait.

mod flow;
mod places;
mod sockets;

use std::collections::{BTreeMap, VecDeque};

use plimsoll_plan::Plan;
use plimsoll_record::Run;

use crate::usage::Seen;
pub(crate) use flow::{Flow, Tier};
use flow::{Outflow, at_the_door};
use places::{Listener, Places};
use sockets::{Address, Sockets};

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

/// The processes that the requests of a run passed, and the connections between them in each step.
pub(crate) fn flow(run: &Run, plan: &Plan, seen: &Seen<'_>) -> Flow {
    let sockets = Sockets::seen(seen.hosts);
    let places = Places { plan, local: run.manifest.preflight.local, sockets: &sockets };
    let mut walk = Walk { seen, sockets: &sockets, places, known: BTreeMap::new(), tiers: Vec::new() };
    for address in &run.manifest.preflight.addresses {
        // A unix socket has no address that could be followed.
        if let Some(address) = sockets::address(address) {
            walk.tier(None, &Address::Tcp(address), 1);
        }
    }
    walk.follow_all();
    Flow { tiers: walk.tiers }
}

struct Walk<'a> {
    seen: &'a Seen<'a>,
    sockets: &'a Sockets<'a>,
    places: Places<'a>,
    known: BTreeMap<Identity, usize>,
    tiers: Vec<Tier>,
}

impl Walk<'_> {
    /// Breadth first, so that each tier's depth is the shortest way to it.
    fn follow_all(&mut self) {
        let mut waiting: VecDeque<usize> = (0..self.tiers.len()).collect();
        while let Some(index) = waiting.pop_front() {
            let before = self.tiers.len();
            self.follow(index);
            waiting.extend(before..self.tiers.len());
        }
    }

    fn follow(&mut self, index: usize) {
        let TierNode { host, pids, depth, .. } = self.tiers[index].node.clone();
        for (peer, most) in self.sockets.peers(&host, &pids) {
            let Some(to) = self.tier(Some(&host), &peer, depth + 1) else {
                // What is beyond the last tier that is followed is not counted, so that the rest is not all.
                self.tiers[index].out_known = false;
                continue;
            };
            if to != index {
                let more = self.seen.each(|span| self.sockets.connections(&host, &pids, &peer, span));
                self.tiers[index].lead_to(to, most, Outflow { to, connections: more });
            }
        }
    }

    /// The index of the tier behind an address as seen from a host, or from the generator; it is added if it is new.
    /// `None` if there are too many.
    fn tier(&mut self, from: Option<&str>, address: &Address, depth: u32) -> Option<usize> {
        let listener = self.places.listener(from, address);
        let identity = match &listener {
            Some(Listener { host, pid: Some(pid), .. }) => {
                Identity::Process { host: host.clone(), pid: *pid }
            }
            Some(Listener { host, .. }) => Identity::Address { host: host.clone(), door: address.door() },
            None => Identity::Address { host: self.places.host_name(from, address), door: address.door() },
        };
        if let Some(index) = self.known.get(&identity) {
            return Some(*index);
        }
        if self.tiers.len() >= TIERS_MAX {
            return None;
        }
        self.tiers.push(self.new_tier(&identity, listener.as_ref(), address, depth));
        self.known.insert(identity, self.tiers.len() - 1);
        Some(self.tiers.len() - 1)
    }

    fn new_tier(
        &self,
        identity: &Identity,
        listener: Option<&Listener>,
        address: &Address,
        depth: u32,
    ) -> Tier {
        let (host, process, pids) = match identity {
            Identity::Process { host, pid } => {
                (host, self.sockets.process(host, *pid), self.sockets.family(host, *pid))
            }
            Identity::Address { host, .. } => (host, None, Vec::new()),
        };
        let (host, door) = (host.clone(), address.door());
        let tracks = self.sockets.doors(&host, &pids, listener.map(|listener| &listener.address));
        let gauge = |name| at_the_door(self.seen, &tracks, name);
        let (unread, queue, established) = (gauge("unread"), gauge("queue"), gauge("established"));
        let listed = self.sockets.lists_peers(&host, &pids);
        let readable = || self.seen.hosts.failure(&host, "peers").is_none();
        // Hosts list the processes that have opened connections, beside their listeners' state: one whose listener was seen
        // and that is not listed has opened none.
        let out_known = listed || !pids.is_empty() && unread.iter().any(Option::is_some) && readable();
        let outside = listener.is_none().then(|| self.places.name_of(address));
        let node = TierNode { host, process, pids, door, depth, downstream: Vec::new() };
        Tier { node, outside, unread, queue, established, out: Vec::new(), out_known }
    }
}
