//! Finds the watched processes of a host, and holds the data that several collectors need of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use plimsoll_record::Source;
use plimsoll_units::{Clock, Instant, RealClock};

use super::owners::SocketOwners;
use super::stat::SmallFiles;
use super::table::{Process, ProcessTable};
use super::threads::Threads;
use crate::collector::{Missing, Read, missing};
use crate::cost::{Pace, thread_cpu};
use crate::net::snapshot::SocketSnapshot;
use crate::net::tcp_table::{Socket, TcpTable};
use crate::net::unix_table::{UnixSockets, UnixTable};
use crate::round::Round;

/// Processes come and go, and connections to dependencies appear under load. So the watched processes are discovered again at this
/// interval, taking at most 1/1500 of the time.
const DISCOVERY_INTERVAL: Duration = Duration::from_secs(3);
const DISCOVERY_PARTS: u32 = 1500;
/// Connections are listed with every sample, as long as that takes at most 1/1500 of the time.
const CONNECTIONS_PARTS: u32 = 1500;
/// The most tiers followed from one to the next in one discovery.
const MAX_TIERS: usize = 8;
/// The most watched processes.
const MAX_MEMBERS: usize = 256;

/// The length to which the kernel cuts a program's name (`TASK_COMM_LEN` without the terminating zero).
const NAME_BYTES: usize = 15;

/// The processes of a host whose threads, descriptors and connections are read: those given here, their children, and the processes on the
/// same machine that they have connections to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Ports that the processes listen on.
    pub ports: Vec<u16>,
    pub pids: Vec<u32>,
    /// Names of programs as the kernel keeps them: cut to the first fifteen bytes.
    pub names: Vec<String>,
    /// Every process that serves other machines, except the one that started this process. For a machine where it is unknown which process
    /// gets the load.
    pub serving: bool,
}

impl Watched {
    /// Whether no process is to be watched.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty() && self.pids.is_empty() && self.names.is_empty() && !self.serving
    }

    /// Whether a process is given by its id or name.
    fn names(&self, pid: u32, name: &str) -> bool {
        // Replaces bytes in the same way as the reader of names does.
        let read = |byte: &u8| if byte.is_ascii() { *byte } else { b'?' };
        let kept = |typed: &String| typed.as_bytes().iter().take(NAME_BYTES).map(read).eq(name.bytes());
        self.pids.contains(&pid) || self.names.iter().any(kept)
    }
}

/// A tracker that several collectors share.
#[derive(Debug, Clone)]
pub(crate) struct SharedTracker(Arc<Mutex<ProcessTracker>>);

impl SharedTracker {
    pub(crate) fn new(tracker: ProcessTracker) -> Self {
        Self(Arc::new(Mutex::new(tracker)))
    }

    /// Returns the folder `/proc` and a list of the watched processes that is kept up to date, for use by another thread.
    pub(crate) fn shared_members(&self) -> (PathBuf, Arc<Mutex<Vec<Process>>>) {
        let tracker = self.0.lock();
        (tracker.proc.clone(), Arc::clone(&tracker.shared_members))
    }

    /// Returns the tracker, refreshed once in each round.
    pub(crate) fn refreshed(&self) -> MutexGuard<'_, ProcessTracker> {
        let mut tracker = self.0.lock();
        tracker.refresh(RealClock.now());
        tracker
    }
}

/// The watched processes of one host with their threads and connections.
#[derive(Debug)]
pub(crate) struct ProcessTracker {
    pub(crate) proc: PathBuf,
    pub(crate) files: SmallFiles,
    watched: Watched,
    /// Whether every process of the host is watched.
    watches_all: bool,
    pub(crate) table: ProcessTable,
    tcp: TcpTable,
    unix: UnixTable,
    owners: SocketOwners,
    pub(crate) members: BTreeMap<u32, Process>,
    /// Processes that should be watched, but exceed [`MAX_MEMBERS`].
    pub(crate) overflow: BTreeSet<u32>,
    /// The watched process that was last seen to have a connection to each address.
    openers: HashMap<SocketAddr, u32>,
    /// Processes that a watched process had a connection to, with their start times.
    followed: BTreeMap<u32, u64>,
    threads: BTreeMap<u32, (u64, Threads)>,
    sockets: Result<SocketSnapshot, Missing>,
    /// The watched processes, for a thread that samples them on its own.
    shared_members: Arc<Mutex<Vec<Process>>>,
    discovery: Pace,
    connections: Pace,
    reading: Pace,
    /// Whether the threads were read in this round.
    threads_are_read: bool,
    round: Round,
    /// The round of the last refresh.
    refreshed: Option<u64>,
    /// When the processes were last discovered.
    pub(crate) discovered: Option<Instant>,
    /// Why no process was found.
    trouble: Option<Missing>,
}

impl ProcessTracker {
    /// Creates a tracker of the processes `watched`, or of all in the network namespace of the process `net_pid`.
    pub(crate) fn new(root: &Path, net_pid: Option<u32>, watched: &Watched, round: &Round) -> Self {
        Self {
            proc: root.join("proc"),
            files: SmallFiles::new(),
            watched: if net_pid.is_some() { Watched::default() } else { watched.clone() },
            watches_all: net_pid.is_some(),
            table: ProcessTable::new(root, net_pid),
            tcp: TcpTable::new(root, net_pid),
            unix: UnixTable::new(root, net_pid),
            owners: SocketOwners::new(root),
            members: BTreeMap::new(),
            overflow: BTreeSet::new(),
            openers: HashMap::new(),
            followed: BTreeMap::new(),
            threads: BTreeMap::new(),
            sockets: Ok(SocketSnapshot::default()),
            shared_members: Arc::default(),
            discovery: Pace::new(DISCOVERY_INTERVAL, DISCOVERY_PARTS),
            connections: Pace::new(Duration::ZERO, CONNECTIONS_PARTS),
            reading: Pace::of_each_sample(),
            threads_are_read: false,
            round: round.clone(),
            refreshed: None,
            discovered: None,
            trouble: None,
        }
    }

    /// Returns the folders of the watched processes in `/proc`.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.members.keys().map(|pid| self.proc.join(pid.to_string())).collect()
    }

    /// Whether the threads were read in this round. They are not if that would exceed the share of CPU time; their values are then those of
    /// an earlier round.
    pub(crate) fn has_read_threads(&self) -> bool {
        self.threads_are_read
    }

    pub(crate) fn threads(&self, pid: u32) -> Option<&Threads> {
        self.threads.get(&pid).map(|(_, threads)| threads)
    }

    /// Returns the sockets and their owners.
    pub(crate) fn sockets(&self) -> Result<(&SocketSnapshot, &SocketOwners), Missing> {
        self.sockets.as_ref().map(|sockets| (sockets, &self.owners)).map_err(Clone::clone)
    }

    /// Returns the watched process that opened a connection. A connection for a single request is often closed before its owner
    /// is found. It is then attributed to the process that has the other connections to the same address.
    pub(crate) fn opener(&self, socket: &Socket) -> Option<u32> {
        let owners = self.owners.of(socket.inode);
        let member = owners.iter().find(|pid| self.members.contains_key(pid));
        member.or_else(|| self.openers.get(&socket.remote).filter(|_| owners.is_empty())).copied()
    }

    pub(crate) fn is_watched_port(&self, port: u16) -> bool {
        self.watched.ports.contains(&port)
    }

    /// Returns the read of a source when no process is watched: absent, or failed if the processes are hidden from this user.
    pub(crate) fn no_members(&self, source: Source) -> Vec<Read> {
        Read::host(source, Err(self.trouble.clone().unwrap_or(Missing::Absent)))
    }

    fn refresh(&mut self, now: Instant) {
        let round = self.round.number();
        if self.refreshed.replace(round) == Some(round) {
            return;
        }
        let mut sockets = self.list_sockets(now);
        if self.discovery.is_due(now) {
            let began = thread_cpu();
            self.discover(now, &sockets);
            self.discovery.done(now, thread_cpu() - began);
        }
        if let Ok(sockets) = &mut sockets {
            self.find_owners(now, sockets);
        }
        self.sockets = sockets;
        self.threads_are_read = self.reading.is_due(now);
        if self.threads_are_read {
            self.read_threads(now);
        }
    }

    /// Lists the current sockets. Connections are left out if listing them again would exceed the share of CPU time.
    fn list_sockets(&mut self, now: Instant) -> Result<SocketSnapshot, Missing> {
        if self.watched.is_empty() && !self.watches_all {
            return Ok(SocketSnapshot::default());
        }
        let listening = self.tcp.listening()?;
        if !self.connections.is_due(now) {
            return Ok(SocketSnapshot::new(listening, None, UnixSockets::default()));
        }
        let began = thread_cpu();
        let established = self.tcp.established();
        // If listing unix sockets fails once, the TCP sockets are still known.
        let unix = self.unix.sockets().unwrap_or_default();
        self.connections.done(now, thread_cpu() - began);
        Ok(SocketSnapshot::new(listening, Some(established?), unix))
    }

    fn discover(&mut self, now: Instant, sockets: &Result<SocketSnapshot, Missing>) {
        if let Err(error) = self.table.refresh(&mut self.files) {
            self.trouble = Some(missing(&self.proc, &error));
            return;
        }
        self.discovered = Some(now);
        let chosen = match sockets {
            Ok(sockets) => self.choose(now, sockets),
            Err(_) => self.named_and_known(),
        };
        let member = |pid: &u32| Some((*pid, self.table.processes.get(pid)?.clone()));
        self.overflow = self.too_many(&chosen);
        self.members = chosen.difference(&self.overflow).filter_map(member).collect();
        self.openers.retain(|_, pid| self.members.contains_key(pid));
        self.trouble = self.hidden(sockets);
        *self.shared_members.lock() = self.members.values().cloned().collect();
    }

    /// Returns the chosen processes beyond the limit. Children of other chosen processes are dropped first, then those that ran least.
    fn too_many(&self, chosen: &BTreeSet<u32>) -> BTreeSet<u32> {
        let rank = |pid: &u32| {
            let process = self.table.processes.get(pid)?;
            Some((chosen.contains(&process.parent), Reverse(process.cpu_ticks), *pid))
        };
        let mut ranked: Vec<(bool, Reverse<u64>, u32)> = chosen.iter().filter_map(rank).collect();
        ranked.sort_unstable();
        ranked.into_iter().skip(MAX_MEMBERS).map(|(.., pid)| pid).collect()
    }

    /// Returns why no process is found although a socket listens on a watched port.
    fn hidden(&self, sockets: &Result<SocketSnapshot, Missing>) -> Option<Missing> {
        let sockets = match sockets {
            Ok(sockets) => sockets,
            Err(missing) => return Some(missing.clone()),
        };
        let mut ports = sockets.listening().map(|(socket, _)| socket.local.port());
        let port = ports.find(|port| self.is_watched_port(*port))?;
        self.members.is_empty().then(|| {
            Missing::Failed(format!(
                "could not see which process listens on port {port}: its descriptors are closed to this user; \
                 run as root or as that process's user, or name the process by its id"
            ))
        })
    }

    /// Returns the processes that are given by id or name.
    fn named(&self) -> BTreeSet<u32> {
        let names = |process: &&Process| self.watches_all || self.watched.names(process.pid, &process.name);
        self.table.processes.values().filter(names).map(|process| process.pid).collect()
    }

    /// Returns the processes given by id or name, and those already watched. Without a list of sockets, no others can be found.
    fn named_and_known(&self) -> BTreeSet<u32> {
        let lives = |one: &&Process| self.table.started_ticks(one.pid) == Some(one.started_ticks);
        let mut chosen = self.named();
        chosen.extend(self.members.values().filter(lives).map(|process| process.pid));
        chosen
    }

    /// Returns all processes to be watched.
    fn choose(&mut self, now: Instant, sockets: &SocketSnapshot) -> BTreeSet<u32> {
        let mut chosen = self.named();
        let listening = sockets.listening().map(|(socket, _)| socket);
        let on_port = listening.filter(|socket| self.watched.ports.contains(&socket.local.port()));
        let needed = on_port.map(|socket| socket.inode).collect();
        chosen.extend(self.listeners(now, sockets, &needed));
        if self.watched.serving {
            self.add_serving(now, sockets);
        }
        let table = &self.table;
        self.followed.retain(|pid, started| table.started_ticks(*pid) == Some(*started));
        chosen.extend(self.followed.keys());
        self.table.add_descendants(&mut chosen);
        self.follow(now, sockets, &mut chosen);
        chosen
    }

    /// Adds the processes that serve other machines to the followed ones, except the server that started this process and its
    /// children. The init process does not count as that server: it is an ancestor of every process, and holds the sockets of
    /// socket-activated servers.
    fn add_serving(&mut self, now: Instant, sockets: &SocketSnapshot) {
        let mut ancestors = self.table.ancestors(std::process::id());
        ancestors.retain(|pid| self.table.is_watchable(*pid));
        let mut serving = sockets.serving();
        let found = self.listeners(now, sockets, &serving);
        serving.retain(|inode| !self.owners.of(*inode).iter().any(|pid| ancestors.contains(pid)));
        let serves = |pid: &u32| serving.iter().any(|inode| self.owners.of(*inode).contains(pid));
        let started = |pid: u32| Some((pid, self.table.started_ticks(pid)?));
        self.followed.extend(found.into_iter().filter(serves).filter_map(started));
    }

    /// Returns the owners of the listening sockets in `needed`.
    fn listeners(&mut self, now: Instant, sockets: &SocketSnapshot, needed: &HashSet<u64>) -> Vec<u32> {
        let table = &self.table;
        let pids = table.processes.keys().copied();
        self.owners.find_listeners(now, needed, &sockets.listening_inodes(), pids);
        let owners = needed.iter().flat_map(|inode| self.owners.of(*inode)).copied();
        owners.filter(|pid| table.is_watchable(*pid)).collect()
    }

    /// Adds the processes on this machine that the chosen ones have connections to, and so on through further tiers.
    fn follow(&mut self, now: Instant, sockets: &SocketSnapshot, chosen: &mut BTreeSet<u32>) {
        let again = self.list_unowned_again(sockets);
        let mut searched: BTreeSet<u32> = match again {
            Some(_) => BTreeSet::new(),
            None => self.members.keys().copied().collect(),
        };
        let sockets = again.as_ref().unwrap_or(sockets);
        let outbound = sockets.outbound_inodes();
        for _ in 0..MAX_TIERS {
            self.owners.find_in(&outbound, chosen.difference(&searched).copied());
            searched.extend(chosen.iter());
            let needed = sockets
                .local_dependencies(|inode| self.owners.of(inode).iter().any(|pid| chosen.contains(pid)));
            let found = self.listeners(now, sockets, &needed);
            let known = chosen.len();
            for pid in found {
                self.followed.extend(self.table.started_ticks(pid).map(|started| (pid, started)));
                chosen.insert(pid);
            }
            self.table.add_descendants(chosen);
            if chosen.len() == known {
                return;
            }
        }
    }

    /// Lists the sockets again if connections within this machine have no known owner: a connection for a single request is
    /// closed before the processes are listed.
    fn list_unowned_again(&mut self, sockets: &SocketSnapshot) -> Option<SocketSnapshot> {
        let is_unowned = |inode: u64| self.owners.of(inode).is_empty() && !self.owners.is_foreign(inode);
        if sockets.local_dependencies(is_unowned).is_empty() {
            return None;
        }
        let (listening, established) = (self.tcp.listening().ok()?, self.tcp.established().ok()?);
        Some(SocketSnapshot::new(listening, Some(established), self.unix.sockets().ok()?))
    }

    /// Finds the owners of the listed sockets among the watched processes.
    fn find_owners(&mut self, now: Instant, sockets: &mut SocketSnapshot) {
        let mut inodes = sockets.outbound_inodes();
        inodes.extend(sockets.listening_inodes());
        if sockets.is_whole() {
            let processes = &self.table.processes;
            self.owners.keep(&inodes, |pid| processes.contains_key(&pid));
        }
        sockets.attributed = self.owners.find_watched(now, &inodes, self.members.keys().copied());
        for socket in sockets.outbound() {
            let owner = self.owners.of(socket.inode).iter().find(|pid| self.members.contains_key(pid));
            self.openers.extend(owner.map(|pid| (socket.remote, *pid)));
        }
    }

    /// Reads the threads, and records the cost. The very first read is not recorded: only it reads the name of each thread, so
    /// its cost says nothing about later reads.
    fn read_threads(&mut self, now: Instant) {
        let (is_first, began) = (self.threads.is_empty(), thread_cpu());
        self.refresh_threads();
        if !is_first {
            self.reading.done(now, thread_cpu() - began);
        }
    }

    fn refresh_threads(&mut self) {
        let members = &self.members;
        let same = |pid: &u32, started: u64| members.get(pid).is_some_and(|one| one.started_ticks == started);
        self.threads.retain(|pid, (started, _)| same(pid, *started));
        for member in members.values() {
            let (_, threads) =
                self.threads.entry(member.pid).or_insert((member.started_ticks, Threads::default()));
            let read = threads.refresh(&self.proc.join(member.pid.to_string()), &mut self.files);
            // A process that ended stays a member until the next discovery, but no longer has threads.
            if read.is_err() {
                self.threads.remove(&member.pid);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
