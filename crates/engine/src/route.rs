//! Which way each connection takes: to which of several destinations, and from which local address and port.
//!
//! Left to itself the kernel looks for a free local port at every connect. It finds one at once until half of the
//! range is in use for one destination; beyond that each connect walks over thousands of ports, and at the end of
//! the range there is none. So the ways are spread before that happens:
//!
//! - over the source addresses that were asked for, if any were;
//! - on the loopback of IPv4 over 127.0.0.0/8 by itself, one address after another;
//! - elsewhere by choosing the ports here, each worker its own.
//!
//! Nothing here does I/O, and nothing takes memory once it is made.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;

use plimsoll_plan::{IpRange, Shard};
use plimsoll_sys::{Peer, Route};

use ports::{Place, Ports};
use sources::{Sources, loopback_source};

mod ports;
mod sources;

/// Local ends that are tried for one connection before it counts as failed. The tries go further apart each time,
/// so this many find what is left of any range.
const TRIES_MAX: u32 = 32;

/// A worker's part of the connections and of what they need.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    /// The worker.
    pub(crate) shard: Shard,
    /// Connections that the workers before this one begin with.
    pub(crate) connections_before: u32,
    /// The most connections of all workers together.
    pub(crate) connections_most: u32,
    /// The local ports that the kernel picks from.
    pub(crate) ports: RangeInclusive<u16>,
}

/// The ways of one worker's connections.
#[derive(Debug)]
pub(crate) struct Routes {
    lanes: Vec<Lane>,
    connections_before: usize,
    /// What each slot holds of ports that are chosen here.
    held: Vec<Option<Place>>,
}

/// The ways to one destination.
#[derive(Debug)]
struct Lane {
    destination: Peer,
    origin: Origin,
    opened: u64,
}

/// Where the connections to one destination come from.
#[derive(Debug)]
enum Origin {
    /// The kernel chooses.
    Anywhere,
    /// The addresses of the IPv4 loopback in turn; each serves `openings` before the next one comes.
    Loopback { openings: u64, shard: Shard },
    /// Addresses that were asked for, in turn, on ports of the kernel's choice.
    Addresses { sources: Sources, start: u64 },
    /// Addresses and ports, both chosen here.
    Ports { sources: Sources, ports: Ports },
}

impl Routes {
    /// Ways to these destinations, at least one, from these sources; from anywhere if there are none of a
    /// destination's family.
    pub(crate) fn new(destinations: &[Peer], sources: &[IpRange], share: &Share) -> Self {
        let per_lane = u64::from(share.connections_most).div_ceil(destinations.len().max(1) as u64);
        let lane = |destination: &Peer| Lane {
            destination: destination.clone(),
            origin: Origin::of(destination, sources, share, per_lane),
            opened: 0,
        };
        let lanes: Vec<Lane> = destinations.iter().map(lane).collect();
        let chooses_ports = lanes.iter().any(|lane| matches!(lane.origin, Origin::Ports { .. }));
        let slots = if chooses_ports { share.shard.part_of(share.connections_most).max(1) } else { 0 };
        let connections_before = share.connections_before as usize;
        Self { lanes, connections_before, held: vec![None; slots as usize] }
    }

    /// Opens a connection for a slot by the next way, and by others if the local end of one is taken.
    ///
    /// # Errors
    /// What `connect` said last.
    pub(crate) fn open(
        &mut self,
        slot: usize,
        mut connect: impl FnMut(&Route) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut tries = 1;
        loop {
            let result = connect(&self.next(slot));
            match &result {
                Err(error) if self.goes_on(slot, error, tries) => tries += 1,
                _ => return result,
            }
        }
    }

    /// True if another way may be tried after so many that failed, the last one like this: its local end is taken.
    /// The next way is another one then.
    pub(crate) fn goes_on(&mut self, slot: usize, error: &io::Error, tries: u32) -> bool {
        let more = is_taken(error) && tries < self.tries_max(slot);
        if more {
            self.leap(slot, tries);
        }
        more
    }

    /// The next way for this slot, whose connection is closed. A slot keeps its destination for good; destinations
    /// are dealt out in turn over the connections of all workers.
    pub(crate) fn next(&mut self, slot: usize) -> Route {
        let index = self.lane_index(slot);
        let lane = &mut self.lanes[index];
        let opened = lane.opened;
        lane.opened += 1;
        let source = match &mut lane.origin {
            Origin::Anywhere => None,
            Origin::Loopback { openings, shard, .. } => loopback_source(opened, *openings, *shard),
            Origin::Addresses { sources, start } => Some(SocketAddr::new(sources.nth(*start + opened), 0)),
            Origin::Ports { sources, ports } => {
                let held = self.held.get_mut(slot).and_then(|held| {
                    *held = ports.exchange(held.take());
                    *held
                });
                held.map(|place| SocketAddr::new(sources.nth(place.source.into()), place.port))
            }
        };
        Route { destination: lane.destination.clone(), source }
    }

    fn lane_index(&self, slot: usize) -> usize {
        (self.connections_before + slot) % self.lanes.len()
    }

    fn tries_max(&self, slot: usize) -> u32 {
        match &self.lanes[self.lane_index(slot)].origin {
            Origin::Anywhere => 1,
            Origin::Loopback { .. } => 2,
            Origin::Addresses { sources, .. } => {
                u32::try_from(sources.count()).unwrap_or(u32::MAX).min(TRIES_MAX)
            }
            Origin::Ports { .. } => TRIES_MAX,
        }
    }

    /// Goes on from a local end that is taken.
    fn leap(&mut self, slot: usize, tries: u32) {
        let index = self.lane_index(slot);
        let lane = &mut self.lanes[index];
        match &mut lane.origin {
            Origin::Anywhere | Origin::Addresses { .. } => {}
            // All of this source is in use: what is left of its turn would fail as well.
            Origin::Loopback { openings, .. } => lane.opened += *openings,
            Origin::Ports { ports, .. } => ports.leap(tries),
        }
    }
}

/// True if the error says that this local end cannot be had, while another may.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}

impl Origin {
    fn of(destination: &Peer, sources: &[IpRange], share: &Share, connections: u64) -> Self {
        let Some(address) = destination.tcp() else { return Self::Anywhere };
        let port_count = share.ports.len() as u64;
        let sources = Sources::new(sources, address.ip());
        if sources.is_none() && is_loopback4(address.ip()) {
            return Self::Loopback { openings: (port_count / 4).max(1), shard: share.shard };
        }
        let source_count = sources.as_ref().map_or(1, Sources::count);
        if connections.div_ceil(source_count) > port_count / 2 {
            let any = || Sources::only(unspecified(address.ip()));
            let ports = Ports::new(source_count, &share.ports, share.shard);
            return Self::Ports { sources: sources.unwrap_or_else(any), ports };
        }
        let start = u64::from(share.connections_before);
        sources.map_or(Self::Anywhere, |sources| Self::Addresses { sources, start })
    }
}

fn is_loopback4(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(address) if address.is_loopback())
}

fn unspecified(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

#[cfg(test)]
mod tests;
