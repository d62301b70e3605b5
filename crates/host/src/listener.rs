//! The queues of the ports that watched processes listen on.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use plimsoll_record::Reading;

use crate::lookout::{Lookout, SharedLookout};
use crate::sight::Sight;
use crate::source::{Counters, Missing, Source, of_host};
use crate::tcp_table::Socket;

/// Of each address that a watched process listens on: `pid` of the one that opened it, connections in its `queue` that
/// nobody has accepted yet, `queue_limit` of them where that is told; connections that are `established`, accepted or
/// not, and those of them with bytes that nobody has read yet, `unread`. All are levels; the last two are left out while
/// there are so many connections that listing them has to wait.
#[derive(Debug)]
pub(crate) struct Listener {
    lookout: SharedLookout,
}

impl Listener {
    pub(crate) fn new(lookout: SharedLookout) -> Self {
        Self { lookout }
    }
}

/// All sockets that listen on one address together: several can, to share its connections.
#[derive(Debug, Default)]
struct Queue {
    holders: Vec<u32>,
    waiting: u64,
    limit: Option<u64>,
    established: u64,
    unread: u64,
}

impl Queue {
    fn add(&mut self, socket: &Socket, holders: &[u32]) {
        self.holders.extend(holders);
        self.waiting += socket.unread;
        if let Some(limit) = socket.queue_limit {
            *self.limit.get_or_insert(0) += limit;
        }
    }

    /// Processes that were given the socket by their parent hold it too: the one that opened it is nobody's child of
    /// them, and the first.
    fn opener(&self, lookout: &Lookout) -> Option<u32> {
        let parent = |pid: &u32| lookout.roster().0.entries().get(pid).map(|entry| entry.parent);
        let first = |pid: &&u32| parent(pid).is_some_and(|parent| !self.holders.contains(&parent));
        self.holders.iter().filter(first).min().copied()
    }

    fn counters(&self, lookout: &Lookout, looked: bool) -> Counters {
        let levels = [
            ("pid", self.opener(lookout).map(u64::from)),
            ("queue", Some(self.waiting)),
            ("queue_limit", self.limit),
            ("established", looked.then_some(self.established)),
            ("unread", looked.then_some(self.unread)),
        ];
        levels.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// The listeners to be told of.
fn queues(lookout: &Lookout) -> Result<BTreeMap<SocketAddr, Queue>, Missing> {
    let (sight, holders) = lookout.connections()?;
    let mut queues: BTreeMap<SocketAddr, Queue> = BTreeMap::new();
    for socket in sight.listening() {
        let holders = holders.of(socket.inode);
        let ours = holders.iter().any(|pid| lookout.members().contains_key(pid));
        if ours || lookout.is_watched_port(socket.local.port()) {
            queues.entry(socket.local).or_default().add(socket, holders);
        }
    }
    count_connections(sight, &mut queues);
    Ok(queues)
}

fn count_connections(sight: &Sight, queues: &mut BTreeMap<SocketAddr, Queue>) {
    for socket in sight.established().unwrap_or_default() {
        let at = sight.listener_at(socket.local);
        if let Some(queue) = at.and_then(|at| queues.get_mut(&at)) {
            queue.established += 1;
            queue.unread += u64::from(socket.unread > 0);
        }
    }
}

impl Source for Listener {
    fn name(&self) -> &'static str {
        "listener"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let lookout = self.lookout.look();
        let queues = match queues(&lookout) {
            Ok(queues) => queues,
            Err(missing) => return of_host(Err(missing)),
        };
        let looked = lookout.connections().is_ok_and(|(sight, _)| sight.established().is_some());
        let told = |(at, queue): (SocketAddr, Queue)| {
            (at.to_string(), Reading::Ok(queue.counters(&lookout, looked)))
        };
        queues.into_iter().map(told).collect()
    }
}
