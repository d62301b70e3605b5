//! The lookout: finds the watched processes of a host, and keeps what several sources tell of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plimsoll_record::Reading;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::holders::Holders;
use crate::pace::Pace;
use crate::roster::{Roster, Scope};
use crate::round::Round;
use crate::sight::Sight;
use crate::small_files::SmallFiles;
use crate::source::{Missing, missing, reading};
use crate::tcp_table::TcpTable;
use crate::threads::Threads;
use crate::unix_table::{UnixSockets, UnixTable};
use crate::watched::Watched;

/// Processes come and go, and connections to dependencies appear under load: the processes are found anew this often, in
/// at most this part of the time.
const DISCOVER_EVERY: Duration = Duration::from_secs(3);
const DISCOVER_PARTS: u32 = 500;
/// The list of connections is read with every sample, while that takes no more than this part of the time.
const CONNECTIONS_PARTS: u32 = 500;
/// Tiers that are followed from one to the next at once.
const TIERS_MAX: usize = 8;
/// Processes that are watched at most.
const MEMBERS_MAX: usize = 256;

/// One watched process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) name: String,
    pub(crate) started_ticks: u64,
}

impl Member {
    /// The subject of its samples.
    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.pid, self.name)
    }
}

/// A lookout that several sources share.
#[derive(Debug, Clone)]
pub(crate) struct SharedLookout(Arc<Mutex<Lookout>>);

impl SharedLookout {
    pub(crate) fn new(lookout: Lookout) -> Self {
        Self(Arc::new(Mutex::new(lookout)))
    }

    /// The folder `/proc` and the watched processes in it, kept up to date for another thread.
    pub(crate) fn members_elsewhere(&self) -> (PathBuf, Arc<Mutex<Vec<Member>>>) {
        let lookout = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (lookout.proc.clone(), Arc::clone(&lookout.shared_members))
    }

    /// What is to be seen now.
    pub(crate) fn look(&self) -> MutexGuard<'_, Lookout> {
        let mut lookout = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lookout.look(RealClock.now());
        lookout
    }
}

/// The watched processes of one host with their threads and connections.
#[derive(Debug)]
pub(crate) struct Lookout {
    pub(crate) proc: PathBuf,
    pub(crate) files: SmallFiles,
    watched: Watched,
    /// Every process of the host is watched.
    everyone: bool,
    roster: Roster,
    table: TcpTable,
    unix: UnixTable,
    holders: Holders,
    members: BTreeMap<u32, Member>,
    /// Processes that belong to the watched ones, and are too many to be looked into.
    crowd: BTreeSet<u32>,
    /// Processes that a watched one had a connection to, with their starts.
    followed: BTreeMap<u32, u64>,
    threads: BTreeMap<u32, (u64, Threads)>,
    sight: Result<Sight, Missing>,
    /// The watched processes, for those who look on their own.
    shared_members: Arc<Mutex<Vec<Member>>>,
    discovery: Pace,
    connections: Pace,
    round: Round,
    /// The round in which was looked last.
    looked: Option<u64>,
    /// When the processes were last found.
    discovered: Option<Instant>,
    trouble: Option<Missing>,
}

impl Lookout {
    /// Looks for the watched processes of the machine.
    pub(crate) fn machine(root: &Path, watched: &Watched, round: &Round) -> Self {
        Self::new(root, Scope::Machine, watched, round)
    }

    /// Looks at all processes in the network namespace of this one.
    pub(crate) fn namespace(root: &Path, net_pid: u32, round: &Round) -> Self {
        Self::new(root, Scope::Namespace(net_pid), &Watched::default(), round)
    }

    fn new(root: &Path, scope: Scope, watched: &Watched, round: &Round) -> Self {
        let net_pid = match scope {
            Scope::Machine => None,
            Scope::Namespace(pid) => Some(pid),
        };
        Self {
            proc: root.join("proc"),
            files: SmallFiles::new(),
            watched: watched.clone(),
            everyone: net_pid.is_some(),
            roster: Roster::new(root, scope),
            table: TcpTable::new(root, net_pid),
            unix: UnixTable::new(root, net_pid),
            holders: Holders::new(root),
            members: BTreeMap::new(),
            crowd: BTreeSet::new(),
            followed: BTreeMap::new(),
            threads: BTreeMap::new(),
            sight: Ok(Sight::default()),
            shared_members: Arc::default(),
            discovery: Pace::new(DISCOVER_EVERY, DISCOVER_PARTS),
            connections: Pace::new(Duration::ZERO, CONNECTIONS_PARTS),
            round: round.clone(),
            looked: None,
            discovered: None,
            trouble: None,
        }
    }

    /// The watched processes, in the order of their numbers.
    pub(crate) fn members(&self) -> &BTreeMap<u32, Member> {
        &self.members
    }

    /// Processes that belong to the watched ones, and are too many to be looked into.
    pub(crate) fn crowd(&self) -> &BTreeSet<u32> {
        &self.crowd
    }

    /// Their folders in `/proc`.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.members.keys().map(|pid| self.proc.join(pid.to_string())).collect()
    }

    /// All processes of the host, and when they were read.
    pub(crate) fn roster(&self) -> (&Roster, Option<Instant>) {
        (&self.roster, self.discovered)
    }

    pub(crate) fn threads(&self, pid: u32) -> Option<&Threads> {
        self.threads.get(&pid).map(|(_, threads)| threads)
    }

    /// The connections, with those who hold them.
    pub(crate) fn connections(&self) -> Result<(&Sight, &Holders), Missing> {
        self.sight.as_ref().map(|sight| (sight, &self.holders)).map_err(Clone::clone)
    }

    /// Whether this port was asked for.
    pub(crate) fn is_watched_port(&self, port: u16) -> bool {
        self.watched.ports.contains(&port)
    }

    /// The reading where there is no process to tell of: it is absent, or it cannot be seen who it is.
    pub(crate) fn nobody(&self) -> Vec<(String, Reading)> {
        let why = self.trouble.clone().unwrap_or(Missing::Absent);
        vec![(String::new(), reading(Err(why)))]
    }

    fn look(&mut self, now: Instant) {
        let round = self.round.number();
        if self.looked.replace(round) == Some(round) {
            return;
        }
        let mut sight = self.see(now);
        if self.discovery.due(now) {
            let began = RealClock.now();
            self.discover(now, &sight);
            self.discovery.done(now, now + RealClock.now().since(began));
        }
        if let Ok(sight) = &mut sight {
            self.find_holders(now, sight);
        }
        self.sight = sight;
        self.read_threads();
    }

    /// The sockets as they are now. The established ones are left out when their list is so long that it has to wait.
    fn see(&mut self, now: Instant) -> Result<Sight, Missing> {
        if self.watched.is_empty() && !self.everyone {
            return Ok(Sight::default());
        }
        let listening = self.table.listening()?;
        if !self.connections.due(now) {
            return Ok(Sight::new(listening, None, UnixSockets::default()));
        }
        let began = RealClock.now();
        let established = self.table.established()?;
        let sight = Sight::new(listening, Some(established), self.unix.sockets());
        self.connections.done(now, now + RealClock.now().since(began));
        Ok(sight)
    }

    fn discover(&mut self, now: Instant, sight: &Result<Sight, Missing>) {
        if let Err(error) = self.roster.refresh(&mut self.files) {
            self.trouble = Some(missing(&self.proc, &error));
            return;
        }
        self.discovered = Some(now);
        let chosen = match sight {
            Ok(sight) => self.choose(now, sight),
            Err(_) => self.named(),
        };
        let member = |pid: &u32| {
            let entry = self.roster.entries().get(pid)?;
            let (name, started_ticks) = (entry.name.clone(), entry.started_ticks);
            Some((*pid, Member { pid: *pid, parent: entry.parent, name, started_ticks }))
        };
        self.crowd = self.too_many(&chosen);
        self.members = chosen.difference(&self.crowd).filter_map(member).collect();
        self.trouble = self.unseen(sight);
        let mut shared = self.shared_members.lock().unwrap_or_else(PoisonError::into_inner);
        *shared = self.members.values().cloned().collect();
    }

    /// Those of the chosen processes that cannot be looked into because there are too many: those that are somebody's
    /// child and ran least.
    fn too_many(&self, chosen: &BTreeSet<u32>) -> BTreeSet<u32> {
        let rank = |pid: &u32| {
            let entry = self.roster.entries().get(pid)?;
            Some((chosen.contains(&entry.parent), Reverse(entry.cpu_ticks), *pid))
        };
        let mut ranked: Vec<(bool, Reverse<u64>, u32)> = chosen.iter().filter_map(rank).collect();
        ranked.sort_unstable();
        ranked.into_iter().skip(MEMBERS_MAX).map(|(.., pid)| pid).collect()
    }

    /// Why nobody is found although somebody must be there.
    fn unseen(&self, sight: &Result<Sight, Missing>) -> Option<Missing> {
        let sight = match sight {
            Ok(sight) => sight,
            Err(missing) => return Some(missing.clone()),
        };
        let mut ports = sight.listening().map(|(socket, _)| socket.local.port());
        let port = ports.find(|port| self.is_watched_port(*port))?;
        self.members.is_empty().then(|| {
            Missing::Failed(format!(
                "could not see which process listens on port {port}: its descriptors are closed to this user; \
                 run as root or as that process's user, or name the process by its number"
            ))
        })
    }

    /// The processes that were named by number or name.
    fn named(&self) -> BTreeSet<u32> {
        let all = self.roster.entries().iter();
        all.filter(|(pid, entry)| self.everyone || self.watched.names(**pid, &entry.name))
            .map(|(pid, _)| *pid)
            .collect()
    }

    /// All processes that are to be watched.
    fn choose(&mut self, now: Instant, sight: &Sight) -> BTreeSet<u32> {
        let mut chosen = self.named();
        let listening = sight.listening().map(|(socket, _)| socket);
        let asked = listening.filter(|socket| self.watched.ports.contains(&socket.local.port()));
        let needed = asked.map(|socket| socket.inode).collect();
        chosen.extend(self.listeners(now, sight, &needed));
        if self.watched.serving {
            self.add_serving(now, sight);
        }
        let roster = &self.roster;
        let same = |pid: u32| roster.entries().get(&pid).map(|entry| entry.started_ticks);
        self.followed.retain(|pid, started| same(*pid) == Some(*started));
        chosen.extend(self.followed.keys());
        self.roster.add_descendants(&mut chosen);
        self.follow(now, sight, &mut chosen);
        chosen
    }

    /// Adds the processes that serve other machines to those that are followed, but for the server that this one was
    /// started by, with its children.
    fn add_serving(&mut self, now: Instant, sight: &Sight) {
        let ancestors = self.roster.ancestors(std::process::id());
        let mut serving = sight.serving();
        let found = self.listeners(now, sight, &serving);
        serving.retain(|inode| !self.holders.of(*inode).iter().any(|pid| ancestors.contains(pid)));
        let serves = |pid: &u32| serving.iter().any(|inode| self.holders.of(*inode).contains(pid));
        let started = |pid: u32| Some((pid, self.roster.entries().get(&pid)?.started_ticks));
        self.followed.extend(found.into_iter().filter(serves).filter_map(started));
    }

    /// The holders of listening sockets.
    fn listeners(&mut self, now: Instant, sight: &Sight, needed: &HashSet<u64>) -> Vec<u32> {
        let roster = &self.roster;
        self.holders.find(now, needed, &sight.listening_inodes(), roster.entries().keys().copied());
        let holders = needed.iter().flat_map(|inode| self.holders.of(*inode)).copied();
        holders.filter(|pid| roster.is_watchable(*pid)).collect()
    }

    /// Adds the processes on this machine that the chosen ones have connections to, and theirs.
    fn follow(&mut self, now: Instant, sight: &Sight, chosen: &mut BTreeSet<u32>) {
        let outbound = sight.outbound_inodes();
        let mut asked: BTreeSet<u32> = self.members.keys().copied().collect();
        for _ in 0..TIERS_MAX {
            self.holders.look_into(&outbound, chosen.difference(&asked).copied());
            asked.extend(chosen.iter());
            let needed = sight
                .local_dependencies(|inode| self.holders.of(inode).iter().any(|pid| chosen.contains(pid)));
            let found = self.listeners(now, sight, &needed);
            let known = chosen.len();
            for pid in found {
                let started = self.roster.entries().get(&pid).map(|entry| entry.started_ticks);
                self.followed.extend(started.map(|started| (pid, started)));
                chosen.insert(pid);
            }
            self.roster.add_descendants(chosen);
            if chosen.len() == known {
                return;
            }
        }
    }

    /// Finds the holders of the sockets in sight among the watched processes.
    fn find_holders(&mut self, now: Instant, sight: &mut Sight) {
        let mut inodes = sight.outbound_inodes();
        inodes.extend(sight.listening_inodes());
        if sight.is_whole() {
            let roster = &self.roster;
            self.holders.keep(&inodes, |pid| roster.entries().contains_key(&pid));
        }
        let complete = self.holders.find_watched(now, &inodes, self.members.keys().copied());
        sight.set_attributed(complete);
    }

    fn read_threads(&mut self) {
        let members = &self.members;
        let same = |pid: &u32, started: u64| members.get(pid).is_some_and(|one| one.started_ticks == started);
        self.threads.retain(|pid, (started, _)| same(pid, *started));
        for member in members.values() {
            let (_, threads) =
                self.threads.entry(member.pid).or_insert((member.started_ticks, Threads::default()));
            // A process that ended keeps its last threads until the next discovery takes it away.
            if threads.refresh(&self.proc.join(member.pid.to_string()), &mut self.files).is_err() {
                self.threads.remove(&member.pid);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
