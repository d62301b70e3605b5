//! CPU, memory and disk use of control groups, and their throttling, for versions 1 and 2.

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

/// Processes rarely change their group; the groups are looked up again at this interval.
const GROUPS_INTERVAL: Duration = Duration::from_secs(5);

/// Returns the same folders within the file tree that begins at `root`.
pub(crate) fn below(paths: &CgroupPaths, root: &Path) -> CgroupPaths {
    paths.map(|path| root.join(path.strip_prefix("/").unwrap_or(path)))
}

/// Reads the counters of the host's own group, of the groups of its watched processes, and of the ancestors of these groups that
/// have a quota.
struct Cgroup {
    root: PathBuf,
    own: CgroupPaths,
    watched: Option<SharedTracker>,
    /// The groups of the watched processes by path, and when they were looked up.
    groups: Option<(Instant, BTreeMap<String, CgroupPaths>)>,
}

/// Returns a collector of the top group and of the groups of the watched processes. The top group is that of the whole machine, or
/// in a container that of the container.
pub(crate) fn machine(root: &Path, watched: SharedTracker) -> Collector {
    collector(root, hierarchy::top(root), Some(watched))
}

/// Returns a collector of only the group with the quota that limits this process: its own group or an ancestor. Without a quota
/// the source is absent, because the process may use the whole machine.
pub(crate) fn capping(root: &Path) -> Collector {
    let groups = text(&root.join("proc/self/cgroup")).ok();
    let groups = groups.and_then(|text| Membership::parse(root, &text));
    collector(root, groups.and_then(|groups| groups.capping()).unwrap_or_default(), None)
}

/// Returns a collector of only the group of a lab host.
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
        // The groups of processes that are discovered in between are reported from the next interval on.
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
