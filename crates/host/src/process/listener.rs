//! The accept queues of the addresses that watched processes listen on.

use std::collections::BTreeMap;

use plimsoll_record::metric::listener;
use plimsoll_record::{Address, CounterSet, Source, Subject};

use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Missing, Read};
use crate::net::snapshot::Connections;

/// Returns a collector of each TCP or unix address that a watched process listens on. In a round in which listing connections would
/// exceed its share of CPU time, their counts are left out.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    Collector::subjects(Source::Listener, move || {
        let tracker = tracker.refreshed();
        let listed = tracker.sockets()?.0.is_whole();
        let read = |(address, queue): (Address<'_>, Queue)| {
            Read::new(Source::Listener, Subject::Address(address), Ok(queue.counters(&tracker, listed)))
        };
        Ok(queues(&tracker)?.into_iter().map(read).collect())
    })
}

/// All sockets that listen on one address; several can share its connections.
#[derive(Default)]
struct Queue {
    owners: Vec<u32>,
    waiting: u64,
    limit: Option<u64>,
    connections: Connections,
}

impl Queue {
    fn add(&mut self, owners: &[u32], (waiting, limit): (u64, Option<u64>), connections: Connections) {
        self.owners.extend(owners);
        self.waiting += waiting;
        if let Some(limit) = limit {
            *self.limit.get_or_insert(0) += limit;
        }
        self.connections.established += connections.established;
        self.connections.unread += connections.unread;
    }

    /// Returns the process that opened the socket. Children inherit their parent's sockets, so that is the first owner whose parent is not
    /// an owner.
    fn opener(&self, tracker: &ProcessTracker) -> Option<u32> {
        let parent = |pid: &u32| tracker.table.processes.get(pid).map(|process| process.parent);
        let first = |pid: &&u32| parent(pid).is_some_and(|parent| !self.owners.contains(&parent));
        self.owners.iter().filter(first).min().copied()
    }

    fn counters(&self, tracker: &ProcessTracker, listed: bool) -> CounterSet {
        CounterSet::from([
            (listener::PID, self.opener(tracker).map(u64::from)),
            (listener::QUEUE, Some(self.waiting)),
            (listener::QUEUE_LIMIT, self.limit),
            (listener::ESTABLISHED, listed.then_some(self.connections.established)),
            (listener::UNREAD, listed.then_some(self.connections.unread)),
        ])
    }
}

/// Returns the listeners to report, by address.
fn queues(tracker: &ProcessTracker) -> Result<BTreeMap<Address<'_>, Queue>, Missing> {
    let (sockets, owners) = tracker.sockets()?;
    let mut queues: BTreeMap<Address<'_>, Queue> = BTreeMap::new();
    let is_ours = |owners: &[u32]| owners.iter().any(|pid| tracker.members.contains_key(pid));
    for (socket, connections) in sockets.listening() {
        let owners = owners.of(socket.inode);
        if is_ours(owners) || tracker.is_watched_port(socket.local.port()) {
            let queue = queues.entry(Address::Tcp(socket.local)).or_default();
            queue.add(owners, (socket.unread, socket.queue_limit), connections);
        }
    }
    for socket in &sockets.unix.listening {
        let owners = owners.of(socket.inode);
        if is_ours(owners) {
            let connections = Connections { established: socket.established, unread: socket.unread };
            let queue = queues.entry(Address::Unix(&socket.name)).or_default();
            queue.add(owners, (socket.queue, Some(socket.queue_limit)), connections);
        }
    }
    Ok(queues)
}
