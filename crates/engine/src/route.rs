//! Chooses the route of each connection: its destination, local address and local port.
//!
//! By default the kernel searches a free local port at every connect. It finds one at once until half of the port range is
//! in use for one destination. Beyond that, each connect walks over thousands of ports, and finally none is left. So
//! connections are spread before that happens:
//!
//! - over the source addresses of `--source-ip`, if given;
//! - for a target on the IPv4 loopback, over 127.0.0.0/8, one address after another;
//! - otherwise over ports that each worker chooses from its own share of the range.
//!
//! This module does no I/O, and does not allocate after the start.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;

use plimsoll_plan::{IpRange, Portion, Shard};
use plimsoll_sys::{Destination, Route};

use sources::{Sources, loopback_source};

mod sources;

/// Maximum number of local addresses tried for one connection before it counts as failed. The distance between tries grows,
/// so this many find free ports in any range.
const MAX_TRIES: u32 = 32;

/// A worker's share of the connections and of the ports.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub(crate) shard: Shard,
    /// The worker's portion of the load.
    pub(crate) portion: Portion,
    /// Initial connections of the workers before this one.
    pub(crate) connections_before: u32,
    /// Initial connections of this worker.
    pub(crate) connections: u32,
    /// Maximum number of connections of this worker.
    pub(crate) own_max: u32,
    /// Maximum number of connections of all workers.
    pub(crate) max_connections: u32,
    /// The range of local ports that the kernel picks from.
    pub(crate) ports: RangeInclusive<u16>,
}

/// The routes of one worker's connections.
#[derive(Debug)]
pub(crate) struct Routes {
    lanes: Vec<Lane>,
    connections_before: usize,
    /// The local port of each slot, for destinations whose ports are chosen here.
    in_use: Vec<Option<LocalPort>>,
}

/// The routes to one destination.
#[derive(Debug)]
struct Lane {
    destination: Destination,
    origin: Origin,
    opened: u64,
}

/// How the local addresses of connections to one destination are chosen.
#[derive(Debug)]
enum Origin {
    /// The kernel chooses.
    Anywhere,
    /// Addresses of the IPv4 loopback in turn; each is used for `openings` connections in a row.
    Loopback { openings: u64, shard: Shard },
    /// The given addresses in turn, with ports chosen by the kernel.
    Addresses { sources: Sources, start: u64 },
    /// Both addresses and ports are chosen here.
    Ports { sources: Sources, ports: Ports },
}

impl Routes {
    /// Routes to `destinations`, at least one. Each uses the `sources` of its own address family; without any, it uses the default
    /// choice of addresses.
    pub(crate) fn new(destinations: &[Destination], sources: &[IpRange], share: &Share) -> Self {
        let per_lane = u64::from(share.max_connections).div_ceil(destinations.len().max(1) as u64);
        let lane = |destination: &Destination| Lane {
            destination: destination.clone(),
            origin: Origin::new(destination, sources, share, per_lane),
            opened: 0,
        };
        let lanes: Vec<Lane> = destinations.iter().map(lane).collect();
        let chooses_ports = lanes.iter().any(|lane| matches!(lane.origin, Origin::Ports { .. }));
        let slots = if chooses_ports { share.own_max.max(1) } else { 0 };
        let connections_before = share.connections_before as usize;
        Self { lanes, connections_before, in_use: vec![None; slots as usize] }
    }

    /// Connects a slot by its next route. If the local address is in use, tries other routes.
    ///
    /// # Errors
    /// The last error of `connect`.
    pub(crate) fn open(
        &mut self,
        slot: usize,
        mut connect: impl FnMut(&Route) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut tries = 1;
        loop {
            let result = connect(&self.next(slot));
            match &result {
                Err(error) if self.try_another(slot, error, tries) => tries += 1,
                _ => return result,
            }
        }
    }

    /// Decides after `tries` failures, the last with `error`, whether to try another route: only if the local address is in
    /// use. If true, the next route is a different one.
    pub(crate) fn try_another(&mut self, slot: usize, error: &io::Error, tries: u32) -> bool {
        let more = is_in_use(error) && tries < self.tries_max(slot);
        if more {
            self.skip(slot, tries);
        }
        more
    }

    /// Returns the next route of this slot, whose connection is closed. A slot keeps its destination; destinations are
    /// distributed round-robin over the connections of all workers.
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
                let local = self.in_use.get_mut(slot).and_then(|in_use| {
                    *in_use = ports.exchange(in_use.take());
                    *in_use
                });
                local.map(|local| SocketAddr::new(sources.nth(local.source.into()), local.port))
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
                u32::try_from(sources.count()).unwrap_or(u32::MAX).min(MAX_TRIES)
            }
            Origin::Ports { .. } => MAX_TRIES,
        }
    }

    /// Skips local addresses after one was found in use.
    fn skip(&mut self, slot: usize, tries: u32) {
        let index = self.lane_index(slot);
        let lane = &mut self.lanes[index];
        match &mut lane.origin {
            Origin::Anywhere | Origin::Addresses { .. } => {}
            // All ports of this source are in use, so the rest of its connections would fail as well.
            Origin::Loopback { openings, .. } => lane.opened += *openings,
            Origin::Ports { ports, .. } => ports.skip(tries),
        }
    }
}

/// True if the error means that this local address is in use, while another may be free.
fn is_in_use(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}

impl Origin {
    fn new(destination: &Destination, sources: &[IpRange], share: &Share, connections: u64) -> Self {
        let Some(address) = destination.tcp() else { return Self::Anywhere };
        let port_count = share.ports.len() as u64;
        let sources = Sources::new(sources, address.ip());
        if sources.is_none() && is_loopback4(address.ip()) {
            return Self::Loopback { openings: (port_count / 4).max(1), shard: share.shard };
        }
        let source_count = sources.as_ref().map_or(1, Sources::count);
        if connections.div_ceil(source_count) > port_count / 2 {
            let any = || Sources::only(unspecified(address.ip()));
            let ports = Ports::new(source_count, &share.ports, share.portion);
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

/// A port of one of several sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LocalPort {
    /// Index of the source.
    source: u32,
    port: u16,
}

/// One worker's ports to one destination that are free as far as it knows. The ports that have been free for longest come
/// first, because the kernel keeps a closed connection in TIME_WAIT for a minute.
#[derive(Debug)]
struct Ports {
    free: VecDeque<LocalPort>,
}

impl Ports {
    /// This worker's share of the port range, for each source; no two workers share a port.
    fn new(sources: u64, range: &RangeInclusive<u16>, portion: Portion) -> Self {
        let sources = u32::try_from(sources).unwrap_or(u32::MAX);
        let port = |number| range.clone().nth(usize::try_from(number).ok()?);
        let own = portion.dealt().map_while(port);
        let free = own.flat_map(|port| (0..sources).map(move |source| LocalPort { source, port })).collect();
        Self { free }
    }

    /// Takes back the port of a closed connection, if there was one, and returns another; `None` if all are in use.
    fn exchange(&mut self, closed: Option<LocalPort>) -> Option<LocalPort> {
        self.free.extend(closed);
        self.free.pop_front()
    }

    /// Skips ports after `tries` failures. Ports in use are often adjacent, such as those of another run, so each skip is twice
    /// as long as the last.
    fn skip(&mut self, tries: u32) {
        if !self.free.is_empty() {
            let far = 1_usize.checked_shl(tries).unwrap_or(usize::MAX) - 1;
            let count = self.free.len();
            self.free.rotate_left(far % count);
        }
    }
}

#[cfg(test)]
mod tests;
