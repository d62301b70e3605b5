//! What control groups used and were refused, of version 2 and version 1.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::{Source, Subject};
use plimsoll_sys::CgroupPaths;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::collector::{Collector, Read, text};
use crate::process::tracker::SharedTracker;

pub(crate) use hierarchy::{Membership, Quota};

mod disk;
mod files;
mod hierarchy;

/// Processes rarely change their group: it is looked up at this interval.
const GROUPS_INTERVAL: Duration = Duration::from_secs(5);

/// The same folders in the file tree that begins at `root`.
pub(crate) fn below(paths: &CgroupPaths, root: &Path) -> CgroupPaths {
    paths.map(|path| root.join(path.strip_prefix("/").unwrap_or(path)))
}

/// The counters of the host's own group, of the groups of its watched processes, and of the groups above these that have a
/// quota.
struct Cgroup {
    root: PathBuf,
    own: CgroupPaths,
    watched: Option<SharedTracker>,
    /// The groups of the watched processes, by their paths, and when they were looked up.
    groups: Option<(Instant, BTreeMap<String, CgroupPaths>)>,
}

/// A collector of the group at the top, which is a whole machine's and in a container the container's, and of the groups of
/// the watched processes.
pub(crate) fn machine(root: &Path, watched: SharedTracker) -> Collector {
    collector(root, hierarchy::top(root), Some(watched))
}

/// A collector of the group that caps the CPU time of this process, its own or one above, and of no other. Without a quota
/// the source is absent: the process may use its whole machine.
pub(crate) fn capping(root: &Path) -> Collector {
    let groups = text(&root.join("proc/self/cgroup")).ok();
    let groups = groups.and_then(|text| Membership::parse(root, &text));
    collector(root, groups.and_then(|groups| groups.capping()).unwrap_or_default(), None)
}

/// A collector of the group of a lab host, and of no other.
pub(crate) fn lab(root: &Path, own: &CgroupPaths) -> Collector {
    collector(root, below(own, root), None)
}

fn collector(root: &Path, own: CgroupPaths, watched: Option<SharedTracker>) -> Collector {
    let mut cgroup = Cgroup { root: root.to_owned(), own, watched, groups: None };
    Collector::new(move || cgroup.read())
}

impl Cgroup {
    fn read(&mut self) -> Vec<Read> {
        self.refresh_groups();
        let read = |subject, paths: &CgroupPaths| Read::new(Source::Cgroup, subject, files::counters(paths));
        let others = self.groups.iter().flat_map(|(_, groups)| groups);
        let others = others.map(|(path, paths)| read(Subject::Named(path), paths));
        std::iter::once(read(Subject::Host, &self.own)).chain(others).collect()
    }

    fn refresh_groups(&mut self) {
        let Some(watched) = &self.watched else { return };
        let now = RealClock.now();
        // The groups of processes that are found later are reported at the next interval.
        if self.groups.as_ref().is_some_and(|(at, _)| now.since(*at) < GROUPS_INTERVAL) {
            return;
        }
        let mut tracker = watched.refreshed();
        let mut groups = BTreeMap::new();
        for folder in tracker.folders() {
            let Ok(text) = tracker.files.text(&folder.join("cgroup")) else { continue };
            groups.extend(Membership::parse(&self.root, text).into_iter().flat_map(|of| of.groups()));
        }
        groups.remove("/");
        self.groups = Some((now, groups));
    }
}

#[cfg(test)]
mod tests;
