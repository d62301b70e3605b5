//! The processes that own sockets, from `/proc/PID/fd`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_units::Instant;

use crate::cost::{Pace, thread_cpu};

/// The descriptors of all processes are searched for listeners at most this often, and for at most 1/1000 of the time.
const ALL_INTERVAL: Duration = Duration::from_secs(2);
const ALL_PARTS: u32 = 1000;
/// The corresponding limits for the search of the watched processes' descriptors for new connections.
const WATCHED_INTERVAL: Duration = Duration::from_millis(100);
const WATCHED_PARTS: u32 = 2000;

/// The known owners of sockets. Each socket is looked up only once: processes rarely pass a socket on.
#[derive(Debug)]
pub(crate) struct SocketOwners {
    proc: PathBuf,
    known: HashMap<u64, Vec<u32>>,
    /// Sockets that no watched process owns.
    foreign: HashSet<u64>,
    all: Pace,
    watched: Pace,
}

impl SocketOwners {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            known: HashMap::new(),
            foreign: HashSet::new(),
            all: Pace::new(ALL_INTERVAL, ALL_PARTS),
            watched: Pace::new(WATCHED_INTERVAL, WATCHED_PARTS),
        }
    }

    /// Returns the processes known to own a socket.
    pub(crate) fn of(&self, inode: u64) -> &[u32] {
        self.known.get(&inode).map_or(&[], Vec::as_slice)
    }

    /// True if no watched process owned a socket when its owner was searched for.
    pub(crate) fn is_foreign(&self, inode: u64) -> bool {
        self.foreign.contains(&inode)
    }

    /// Forgets the sockets and processes that no longer exist.
    pub(crate) fn keep(&mut self, inodes: &HashSet<u64>, alive: impl Fn(u32) -> bool) {
        self.foreign.retain(|inode| inodes.contains(inode));
        self.known.retain(|inode, pids| {
            pids.retain(|pid| alive(*pid));
            inodes.contains(inode) && !pids.is_empty()
        });
    }

    /// Finds the owners of the listening sockets in `needed`, unless they are known or it is too early to search again. The search covers
    /// all of `listening`, so that the sockets needed next are then known.
    pub(crate) fn find_listeners(
        &mut self,
        now: Instant,
        needed: &HashSet<u64>,
        listening: &HashSet<u64>,
        pids: impl Iterator<Item = u32>,
    ) {
        if needed.iter().all(|inode| self.known.contains_key(inode)) || !self.all.is_due(now) {
            return;
        }
        let began = thread_cpu();
        // A known owner may share a socket with processes that started later.
        self.known.retain(|inode, _| !listening.contains(inode));
        self.search(listening, pids);
        self.all.done(now, thread_cpu() - began);
    }

    /// Finds which of these sockets the watched processes own; false if there are new ones and it is too early to search.
    pub(crate) fn find_watched(
        &mut self,
        now: Instant,
        inodes: &HashSet<u64>,
        watched: impl Iterator<Item = u32>,
    ) -> bool {
        let new = |inode: &&u64| !self.known.contains_key(inode) && !self.foreign.contains(inode);
        let unknown: HashSet<u64> = inodes.iter().filter(new).copied().collect();
        if unknown.is_empty() {
            return true;
        }
        if !self.watched.is_due(now) {
            return false;
        }
        let began = thread_cpu();
        self.search(&unknown, watched);
        self.watched.done(now, thread_cpu() - began);
        self.foreign.extend(unknown.into_iter().filter(|inode| !self.known.contains_key(inode)));
        true
    }

    /// Finds which of these sockets belong to the processes `pids`, which were not watched before and so have not been searched.
    pub(crate) fn find_in(&mut self, inodes: &HashSet<u64>, pids: impl Iterator<Item = u32>) {
        let unknown = inodes.iter().filter(|inode| !self.known.contains_key(inode)).copied().collect();
        self.search(&unknown, pids);
        self.foreign.retain(|inode| !self.known.contains_key(inode));
    }

    fn search(&mut self, inodes: &HashSet<u64>, pids: impl Iterator<Item = u32>) {
        for pid in pids {
            // A process that has ended, or that this user may not read, owns no socket that can be reported.
            let Ok(descriptors) = fs::read_dir(self.proc.join(format!("{pid}/fd"))) else { continue };
            for descriptor in descriptors.flatten() {
                let inode = fs::read_link(descriptor.path()).ok().and_then(|link| socket(&link));
                if let Some(inode) = inode.filter(|inode| inodes.contains(inode)) {
                    let pids = self.known.entry(inode).or_default();
                    // A process may have several descriptors of one socket.
                    if pids.last() != Some(&pid) {
                        pids.push(pid);
                    }
                }
            }
        }
    }
}

/// Parses the inode from a link such as `socket:[4711]`.
fn socket(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A process that owns these sockets.
    fn owner(root: &Path, pid: u32, inodes: &[u64]) {
        let folder = root.join(format!("proc/{pid}/fd"));
        fs::create_dir_all(&folder).unwrap();
        symlink("/dev/null", folder.join("0")).unwrap();
        for inode in inodes {
            symlink(format!("socket:[{inode}]"), folder.join(inode.to_string())).unwrap();
        }
    }

    #[test]
    fn a_socket_may_have_several_owners_and_is_forgotten_with_the_last() {
        let root = tempfile::tempdir().unwrap();
        owner(root.path(), 10, &[7, 8]);
        owner(root.path(), 11, &[7]);
        let mut owners = SocketOwners::new(root.path());
        let (needed, listening) = (HashSet::from([7]), HashSet::from([7, 9]));
        owners.find_listeners(Instant::default(), &needed, &listening, [10, 11, 12].into_iter());
        assert_eq!(owners.of(7), [10, 11]);
        assert!(owners.of(8).is_empty(), "it does not listen");
        owners.keep(&needed, |pid| pid == 11);
        assert_eq!(owners.of(7), [11]);
        owners.keep(&needed, |_| false);
        assert!(owners.of(7).is_empty());
    }

    #[test]
    fn sockets_of_others_are_searched_for_once() {
        let root = tempfile::tempdir().unwrap();
        owner(root.path(), 10, &[7]);
        owner(root.path(), 20, &[9]);
        let mut owners = SocketOwners::new(root.path());
        let now = Instant::default();
        let mut complete =
            |inodes: &[u64]| owners.find_watched(now, &inodes.iter().copied().collect(), std::iter::once(10));
        assert!(complete(&[7, 9]));
        assert!(complete(&[7, 9]), "9 is known to be foreign");
        assert!(!complete(&[7, 9, 12]), "too early to search again");
        assert_eq!((owners.of(7), owners.of(9)), (&[10][..], &[][..]));
        owners.find_in(&HashSet::from([7, 9]), std::iter::once(20));
        assert_eq!(owners.of(9), [20], "watched since");
    }
}
