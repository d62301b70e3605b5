//! The queues of the ports that watched processes listen on.

use std::collections::BTreeMap;

use plimsoll_record::Reading;

use crate::lookout::{Lookout, SharedLookout};
use crate::sight::Load;
use crate::source::{Counters, Missing, Source, of_host};

/// Of each address that a watched process listens on, also of a unix socket (`unix:/run/app.sock`): `pid` of the one that
/// opened it, connections in its `queue` that nobody has accepted yet, `queue_limit` of them where that is told;
/// connections that are `established`, accepted or not, and those of them with bytes that nobody has read yet, `unread`.
/// All are levels; the last two are left out while there are so many connections that listing them has to wait.
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
    fn add(&mut self, holders: &[u32], (waiting, limit): (u64, Option<u64>), load: Load) {
        self.holders.extend(holders);
        self.waiting += waiting;
        if let Some(limit) = limit {
            *self.limit.get_or_insert(0) += limit;
        }
        self.established += load.established;
        self.unread += load.unread;
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
fn queues(lookout: &Lookout) -> Result<BTreeMap<String, Queue>, Missing> {
    let (sight, holders) = lookout.connections()?;
    let mut queues: BTreeMap<String, Queue> = BTreeMap::new();
    let is_ours = |holders: &[u32]| holders.iter().any(|pid| lookout.members().contains_key(pid));
    for (socket, load) in sight.listening() {
        let holders = holders.of(socket.inode);
        if is_ours(holders) || lookout.is_watched_port(socket.local.port()) {
            let queue = queues.entry(socket.local.to_string()).or_default();
            queue.add(holders, (socket.unread, socket.queue_limit), load);
        }
    }
    for socket in sight.unix().listening() {
        let holders = holders.of(socket.inode);
        if is_ours(holders) {
            let load = Load { established: socket.established, unread: socket.unread };
            let queue = queues.entry(unix_address(&socket.name)).or_default();
            queue.add(holders, (socket.queue, Some(socket.queue_limit)), load);
        }
    }
    Ok(queues)
}

/// How the address of a unix socket is told.
pub(crate) fn unix_address(name: &str) -> String {
    format!("unix:{name}")
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
        let looked = lookout.connections().is_ok_and(|(sight, _)| sight.is_whole());
        let told = |(at, queue): (String, Queue)| (at, Reading::Ok(queue.counters(&lookout, looked).into()));
        queues.into_iter().map(told).collect()
    }
}
