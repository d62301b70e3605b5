//! Whom the watched processes have opened connections to.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::Reading;

use crate::listener::unix_address;
use crate::lookout::{Lookout, SharedLookout};
use crate::source::{Counters, Missing, Source, of_host};

/// Peers of one process that are told of, those with the most connections.
const PEERS_MAX: usize = 64;

/// Of each watched process that opened connections the number of those that are established, by the address of the other
/// end, be it `10.0.0.1:80` or `unix:/run/app.sock`. All are levels. While connections are so many that listing them has to
/// wait, nothing is told.
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
type Counts = BTreeMap<String, u64>;

/// The number of connections by process and peer; `None` while that is not known.
fn connections(lookout: &Lookout) -> Result<Option<BTreeMap<u32, Counts>>, Missing> {
    let (sight, holders) = lookout.connections()?;
    if !sight.is_attributed() {
        return Ok(None);
    }
    let mut peers: BTreeMap<u32, Counts> = BTreeMap::new();
    let mut count = |inode: u64, peer: &dyn Fn() -> String| {
        if let Some(pid) = holders.of(inode).iter().find(|pid| lookout.members().contains_key(pid)) {
            *peers.entry(*pid).or_default().entry(peer()).or_default() += 1;
        }
    };
    sight.outbound().for_each(|socket| count(socket.inode, &|| socket.remote.to_string()));
    sight.unix().outbound().for_each(|(inode, listening)| count(inode, &|| unix_address(&listening.name)));
    Ok(Some(peers))
}

fn counters(peers: Counts) -> Counters {
    let mut peers: Vec<(String, u64)> = peers.into_iter().collect();
    peers.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    peers.into_iter().take(PEERS_MAX).collect()
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
            (member.subject(), Reading::Ok(counters(peers).into()))
        })
        .collect()
    }
}
