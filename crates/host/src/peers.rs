//! Whom the watched processes have opened connections to.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use plimsoll_record::Reading;

use crate::lookout::{Lookout, SharedLookout};
use crate::source::{Counters, Missing, Source, of_host};

/// Peers of one process that are told of, those with the most connections.
const PEERS_MAX: usize = 64;

/// Of each watched process that opened connections the number of those that are established, by the address of the other
/// end. All are levels. While connections are so many that listing them has to wait, nothing is told.
#[derive(Debug)]
pub(crate) struct Peers {
    lookout: SharedLookout,
    /// Processes that had a peer before: that they have none any more is told too.
    told: BTreeSet<u32>,
}

impl Peers {
    pub(crate) fn new(lookout: SharedLookout) -> Self {
        Self { lookout, told: BTreeSet::new() }
    }
}

/// The number of connections to each peer.
type Counts = BTreeMap<SocketAddr, u64>;

/// The number of connections by process and peer; `None` while that is not known.
fn connections(lookout: &Lookout) -> Result<Option<BTreeMap<u32, Counts>>, Missing> {
    let (sight, holders) = lookout.connections()?;
    let Some(outbound) = sight.attributed_outbound() else { return Ok(None) };
    let mut peers: BTreeMap<u32, Counts> = BTreeMap::new();
    for socket in outbound {
        if let Some(pid) = holders.of(socket.inode).iter().find(|pid| lookout.members().contains_key(pid)) {
            *peers.entry(*pid).or_default().entry(socket.remote).or_default() += 1;
        }
    }
    Ok(Some(peers))
}

fn counters(peers: Counts) -> Counters {
    let mut peers: Vec<(SocketAddr, u64)> = peers.into_iter().collect();
    peers.sort_by_key(|(peer, count)| (std::cmp::Reverse(*count), *peer));
    peers.into_iter().take(PEERS_MAX).map(|(peer, count)| (peer.to_string(), count)).collect()
}

impl Source for Peers {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let lookout = self.lookout.look();
        let mut peers = match connections(&lookout) {
            Ok(Some(peers)) => peers,
            Ok(None) => return Vec::new(),
            Err(missing) => return of_host(Err(missing)),
        };
        self.told.extend(peers.keys());
        self.told.retain(|pid| lookout.members().contains_key(pid));
        let told = self.told.iter().filter_map(|pid| lookout.members().get(pid));
        told.map(|member| {
            let peers = peers.remove(&member.pid).unwrap_or_default();
            (member.subject(), Reading::Ok(counters(peers)))
        })
        .collect()
    }
}
