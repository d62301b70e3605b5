//! The addresses that the watched processes have opened connections to.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::{Address, CounterSet, Source};

use super::table::Process;
use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Missing, Read};

/// The most peers reported per process, those with the most connections.
const MAX_PEERS: usize = 64;

/// Stands for the name of a unix socket in another network namespace, where the kernel does not show the name.
const ELSEWHERE: &str = "(another network namespace)";

/// Returns a collector of the established connections that each watched process opened, by the address of the other end. In a round in
/// which listing connections would exceed its share of CPU time, it reports nothing.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    // Processes that had a peer before. Once they have none, that is reported too.
    let mut reported = BTreeSet::new();
    Collector::subjects(Source::Peers, move || {
        let tracker = tracker.refreshed();
        let Some(mut peers) = connections(&tracker)? else { return Ok(Vec::new()) };
        reported.extend(peers.keys());
        reported.retain(|pid| tracker.members.contains_key(pid));
        let read = |process: &Process| {
            let peers = peers.remove(&process.pid).unwrap_or_default();
            Read::new(Source::Peers, process.subject(), Ok(counters(peers)))
        };
        Ok(reported.iter().filter_map(|pid| tracker.members.get(pid)).map(read).collect())
    })
}

/// The number of connections to each peer.
type Counts<'a> = BTreeMap<Address<'a>, u64>;

/// Returns the number of connections by process and peer; `None` while it is unknown.
fn connections(tracker: &ProcessTracker) -> Result<Option<BTreeMap<u32, Counts<'_>>>, Missing> {
    let (sockets, owners) = tracker.sockets()?;
    let member = |inode| owners.of(inode).iter().find(|pid| tracker.members.contains_key(pid)).copied();
    if !sockets.is_attributed() {
        return Ok(None);
    }
    let mut peers: BTreeMap<u32, Counts<'_>> = BTreeMap::new();
    let tcp = sockets.outbound().map(|socket| (tracker.opener(socket), Address::Tcp(socket.remote)));
    let unix = sockets.unix.outbound();
    let unix = unix.map(|(inode, listening)| {
        (member(inode), Address::Unix(listening.map_or(ELSEWHERE, |one| &one.name)))
    });
    for (pid, peer) in tcp.chain(unix) {
        if let Some(pid) = pid {
            *peers.entry(pid).or_default().entry(peer).or_default() += 1;
        }
    }
    Ok(Some(peers))
}

fn counters(peers: Counts<'_>) -> CounterSet {
    let mut peers: Vec<(String, u64)> =
        peers.into_iter().map(|(peer, count)| (peer.to_string(), count)).collect();
    peers.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let mut counters = CounterSet::default();
    peers.into_iter().take(MAX_PEERS).for_each(|(peer, count)| counters.put_made(peer, count));
    counters
}
