//! Which processes hold which sockets, from `/proc/PID/fd`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use crate::pace::Pace;

/// The descriptors of all processes are looked through for listeners this often at most, and for no more than this part of
/// the time.
const ALL_EVERY: Duration = Duration::from_secs(2);
const ALL_PARTS: u32 = 500;
/// Those of the watched processes, for connections that are new.
const WATCHED_EVERY: Duration = Duration::from_millis(100);
const WATCHED_PARTS: u32 = 1000;

/// What is known of the sockets' holders. It is looked up once for each socket: a process rarely hands one over.
#[derive(Debug)]
pub(crate) struct Holders {
    proc: PathBuf,
    known: HashMap<u64, Vec<u32>>,
    /// Sockets that no watched process holds.
    foreign: HashSet<u64>,
    all: Pace,
    watched: Pace,
}

impl Holders {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            known: HashMap::new(),
            foreign: HashSet::new(),
            all: Pace::new(ALL_EVERY, ALL_PARTS),
            watched: Pace::new(WATCHED_EVERY, WATCHED_PARTS),
        }
    }

    /// The processes that hold a socket, as far as known.
    pub(crate) fn of(&self, inode: u64) -> &[u32] {
        self.known.get(&inode).map_or(&[], Vec::as_slice)
    }

    /// Forgets the sockets that are gone, and processes that are.
    pub(crate) fn keep(&mut self, inodes: &HashSet<u64>, alive: impl Fn(u32) -> bool) {
        self.foreign.retain(|inode| inodes.contains(inode));
        self.known.retain(|inode, pids| {
            pids.retain(|pid| alive(*pid));
            inodes.contains(inode) && !pids.is_empty()
        });
    }

    /// Finds who holds the sockets of `needed`, all of which listen, unless that is known or was looked for just now. All
    /// that listen are looked for at once, so that the next to be needed are known then.
    pub(crate) fn find(
        &mut self,
        now: Instant,
        needed: &HashSet<u64>,
        listening: &HashSet<u64>,
        pids: impl Iterator<Item = u32>,
    ) {
        if needed.iter().all(|inode| self.known.contains_key(inode)) || !self.all.due(now) {
            return;
        }
        let began = RealClock.now();
        // Who was found before may hold a socket together with others that came later.
        self.known.retain(|inode, _| !listening.contains(inode));
        self.look_through(listening, pids);
        self.all.done(now, now + RealClock.now().since(began));
    }

    /// Finds which of these sockets the watched processes hold; false if some are new and it is too early to look.
    pub(crate) fn find_watched(
        &mut self,
        now: Instant,
        inodes: &HashSet<u64>,
        watched: impl Iterator<Item = u32>,
    ) -> bool {
        let new = |inode: &&u64| !self.known.contains_key(inode) && !self.foreign.contains(inode);
        let wanted: HashSet<u64> = inodes.iter().filter(new).copied().collect();
        if wanted.is_empty() {
            return true;
        }
        if !self.watched.due(now) {
            return false;
        }
        let began = RealClock.now();
        self.look_through(&wanted, watched);
        self.watched.done(now, now + RealClock.now().since(began));
        self.foreign.extend(wanted.into_iter().filter(|inode| !self.known.contains_key(inode)));
        true
    }

    /// Finds which of these sockets some processes hold that were not watched before: nobody asked them yet.
    pub(crate) fn look_into(&mut self, inodes: &HashSet<u64>, pids: impl Iterator<Item = u32>) {
        let wanted = inodes.iter().filter(|inode| !self.known.contains_key(inode)).copied().collect();
        self.look_through(&wanted, pids);
        self.foreign.retain(|inode| !self.known.contains_key(inode));
    }

    fn look_through(&mut self, wanted: &HashSet<u64>, pids: impl Iterator<Item = u32>) {
        for pid in pids {
            // A process that ended meanwhile, or is not to be looked into, holds nothing that could be told of.
            let Ok(descriptors) = fs::read_dir(self.proc.join(format!("{pid}/fd"))) else { continue };
            for descriptor in descriptors.flatten() {
                let inode = fs::read_link(descriptor.path()).ok().and_then(|link| socket(&link));
                if let Some(inode) = inode.filter(|inode| wanted.contains(inode)) {
                    let pids = self.known.entry(inode).or_default();
                    // A process may hold one socket by several descriptors.
                    if pids.last() != Some(&pid) {
                        pids.push(pid);
                    }
                }
            }
        }
    }
}

/// The inode in a link such as `socket:[4711]`.
fn socket(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A process that holds these sockets.
    fn holder(root: &Path, pid: u32, inodes: &[u64]) {
        let folder = root.join(format!("proc/{pid}/fd"));
        fs::create_dir_all(&folder).unwrap();
        symlink("/dev/null", folder.join("0")).unwrap();
        for inode in inodes {
            symlink(format!("socket:[{inode}]"), folder.join(inode.to_string())).unwrap();
        }
    }

    #[test]
    fn a_socket_may_have_several_holders_and_is_forgotten_with_the_last() {
        let root = tempfile::tempdir().unwrap();
        holder(root.path(), 10, &[7, 8]);
        holder(root.path(), 11, &[7]);
        let mut holders = Holders::new(root.path());
        let (needed, listening) = (HashSet::from([7]), HashSet::from([7, 9]));
        holders.find(Instant::default(), &needed, &listening, [10, 11, 12].into_iter());
        assert_eq!(holders.of(7), [10, 11]);
        assert!(holders.of(8).is_empty(), "it does not listen");
        holders.keep(&needed, |pid| pid == 11);
        assert_eq!(holders.of(7), [11]);
        holders.keep(&needed, |_| false);
        assert!(holders.of(7).is_empty());
    }

    #[test]
    fn sockets_of_others_are_looked_for_once() {
        let root = tempfile::tempdir().unwrap();
        holder(root.path(), 10, &[7]);
        holder(root.path(), 20, &[9]);
        let mut holders = Holders::new(root.path());
        let now = Instant::default();
        let mut complete = |inodes: &[u64]| {
            holders.find_watched(now, &inodes.iter().copied().collect(), std::iter::once(10))
        };
        assert!(complete(&[7, 9]));
        assert!(complete(&[7, 9]), "9 is known to be somebody else's");
        assert!(!complete(&[7, 9, 12]), "too early to look again");
        assert_eq!((holders.of(7), holders.of(9)), (&[10][..], &[][..]));
        holders.look_into(&HashSet::from([7, 9]), std::iter::once(20));
        assert_eq!(holders.of(9), [20], "watched since");
    }
}
