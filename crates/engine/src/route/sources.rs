//! The local addresses of connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use plimsoll_plan::{IpRange, Shard};

/// The addresses of one family, indexed in sequence.
#[derive(Debug)]
pub(super) struct Sources {
    ranges: Vec<IpRange>,
    count: u64,
    /// The first address, or the only one if there are no ranges.
    first: IpAddr,
}

impl Sources {
    /// Keeps the ranges of the destination's address family; `None` if there are none.
    pub(super) fn new(ranges: &[IpRange], destination: IpAddr) -> Option<Self> {
        let same_family = |range: &&IpRange| range.first().is_ipv4() == destination.is_ipv4();
        let ranges: Vec<IpRange> = ranges.iter().filter(same_family).copied().collect();
        let first = ranges.first()?.first();
        let count = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.count()));
        Some(Self { ranges, count, first })
    }

    /// A single address.
    pub(super) fn only(address: IpAddr) -> Self {
        Self { ranges: Vec::new(), count: 1, first: address }
    }

    /// Number of addresses, at least one.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the address at this index; the sequence wraps around.
    pub(super) fn nth(&self, index: u64) -> IpAddr {
        let mut left = index % self.count;
        for range in &self.ranges {
            match range.nth(left) {
                Some(address) => return address,
                None => left -= range.count(),
            }
        }
        self.first
    }
}

/// Returns the source address of this worker's connection number `opened` to the loopback; `None` leaves it to the kernel,
/// which uses 127.0.0.1. The first `openings` connections of all workers use that. After them each worker walks through its
/// own addresses, so that one source has enough ports, and its closed connections leave TIME_WAIT before it is used again.
pub(super) fn loopback_source(opened: u64, openings: u64, shard: Shard) -> Option<SocketAddr> {
    // All of 127.0.0.0/8 except 127.0.0.0, 127.0.0.1 and the broadcast address.
    const OTHERS: u64 = (1 << 24) - 3;
    let later = opened.checked_sub(openings / u64::from(shard.of.max(1)))?;
    let turn = (later / openings) * u64::from(shard.of) + u64::from(shard.index);
    let address = Ipv4Addr::new(127, 0, 0, 2).to_bits() + (turn % OTHERS) as u32;
    Some(SocketAddr::new(Ipv4Addr::from_bits(address).into(), 0))
}
