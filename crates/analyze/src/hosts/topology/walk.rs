//! The walk from the target's address along connections, from process to process.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_plan::Plan;
use plimsoll_record::metric::listener;
use plimsoll_record::{Address, Run, Source};

use super::flow::{Flow, Outflow, Tier, at_the_door};
use super::places::Places;
use super::sockets::{Listener, Sockets, endpoint};
use super::{Endpoint, TierNode};
use crate::hosts::tracks::StepSamples;

/// The most tiers that are followed: for a process with very many connections, more are not worth it.
const MAX_TIERS: usize = 64;

/// The identity of a tier: the process that listens, or the address where that is unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Process { host: String, pid: u32 },
    Address { host: String, endpoint: Endpoint },
}

/// The processes that the requests of a run passed, and the connections between them in each step.
pub(crate) fn flow(run: &Run, plan: &Plan, samples: &StepSamples<'_>) -> Flow {
    let sockets = Sockets::seen(samples.hosts);
    let places = Places { plan, local: run.manifest.preflight.local, sockets: &sockets };
    let mut walk = Walk { samples, sockets: &sockets, places, known: BTreeMap::new(), tiers: Vec::new() };
    for address in &run.manifest.preflight.addresses {
        // A unix socket has no address that could be followed.
        if let Some(address @ Address::Tcp(_)) = Address::parse(address) {
            walk.tier(None, address, 1);
        }
    }
    walk.follow_all();
    Flow { tiers: walk.tiers }
}

struct Walk<'a> {
    samples: &'a StepSamples<'a>,
    sockets: &'a Sockets<'a>,
    places: Places<'a>,
    known: BTreeMap<Identity, usize>,
    tiers: Vec<Tier>,
}

impl<'a> Walk<'a> {
    /// Walks breadth first, so that each tier's depth is the shortest path to it.
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
            let Some(to) = self.tier(Some(&host), peer, depth + 1) else {
                // Tiers beyond the last one that is followed are not counted, so that the counted connections are not all.
                self.tiers[index].out_known = false;
                continue;
            };
            if to != index {
                let more = self.samples.each(|span| self.sockets.connections(&host, &pids, peer, span));
                self.tiers[index].lead_to(to, most, Outflow { to, connections: more });
            }
        }
    }

    /// The index of the tier behind an address as seen from a host, or from the generator. Adds the tier if it is new;
    /// `None` if there are too many.
    fn tier(&mut self, from: Option<&str>, address: Address<'a>, depth: u32) -> Option<usize> {
        let listener = self.places.listener(from, address);
        let identity = match &listener {
            Some(Listener { host, pid: Some(pid), .. }) => {
                Identity::Process { host: host.clone(), pid: *pid }
            }
            Some(Listener { host, .. }) => {
                Identity::Address { host: host.clone(), endpoint: endpoint(address) }
            }
            None => {
                Identity::Address { host: self.places.host_name(from, address), endpoint: endpoint(address) }
            }
        };
        if let Some(index) = self.known.get(&identity) {
            return Some(*index);
        }
        if self.tiers.len() >= MAX_TIERS {
            return None;
        }
        self.tiers.push(self.new_tier(&identity, listener.as_ref(), address, depth));
        self.known.insert(identity, self.tiers.len() - 1);
        Some(self.tiers.len() - 1)
    }

    fn new_tier(
        &self,
        identity: &Identity,
        listener: Option<&Listener<'_>>,
        address: Address<'_>,
        depth: u32,
    ) -> Tier {
        let (host, process, pids) = match identity {
            Identity::Process { host, pid } => {
                (host, self.sockets.process(host, *pid), self.sockets.family(host, *pid))
            }
            Identity::Address { host, .. } => (host, None, Vec::new()),
        };
        let (host, endpoint) = (host.clone(), endpoint(address));
        let tracks = self.sockets.listener_tracks(&host, &pids, listener.map(|listener| listener.address));
        let gauge = |name| at_the_door(self.samples, &tracks, name);
        let (unread, queue, established) =
            (gauge(listener::UNREAD), gauge(listener::QUEUE), gauge(listener::ESTABLISHED));
        let listed = self.sockets.lists_peers(&host, &pids);
        let readable = || self.samples.hosts.failure(&host, Source::Peers).is_none();
        // Hosts list the processes that have opened connections, next to their listeners' state: a process whose listener was
        // observed and that is not listed has opened none.
        let out_known = listed || !pids.is_empty() && unread.iter().any(Option::is_some) && readable();
        let outside = listener.is_none().then(|| self.places.name_of(address));
        let node = TierNode { host, process, pids, endpoint, depth, downstream: Vec::new() };
        Tier { node, outside, unread, queue, established, out: Vec::new(), out_known }
    }
}
