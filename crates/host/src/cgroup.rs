//! What control groups used and were refused, of version 2 and version 1.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::Reading;
use plimsoll_sys::CgroupPaths;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::lookout::SharedLookout;
use crate::source::{Source, reading, text};
use files::counters;
use place::Place;

pub(crate) use place::Quota;

mod disk;
mod files;
pub(crate) mod place;

/// Processes hardly ever change their group: it is looked for this often.
const GROUPS_EVERY: Duration = Duration::from_secs(5);

/// The same folders in the file tree that begins at `root`.
pub(crate) fn below(paths: &CgroupPaths, root: &Path) -> CgroupPaths {
    paths.map(|path| root.join(path.strip_prefix("/").unwrap_or(path)))
}

/// `usage_us` and the other counters of the host's own group, with an empty subject, and of the groups in which its
/// watched processes are, with their paths; of the groups above these only those that have a quota.
#[derive(Debug)]
pub(crate) struct Cgroup {
    root: PathBuf,
    own: CgroupPaths,
    watched: Option<SharedLookout>,
    /// The groups of the watched processes, by their paths, and when they were looked for.
    groups: Option<(Instant, BTreeMap<String, CgroupPaths>)>,
}

impl Cgroup {
    /// The group of a whole machine is the one at the top, which in a container is the container's.
    pub(crate) fn machine(root: &Path, watched: SharedLookout) -> Self {
        Self { root: root.to_owned(), own: place::top(root), watched: Some(watched), groups: None }
    }

    /// The group that caps the CPU time of this process, be it its own or one above, and no other. Where no quota holds,
    /// there is nothing to tell: then its machine is what it can use up.
    pub(crate) fn capping(root: &Path) -> Self {
        let place = text(&root.join("proc/self/cgroup")).ok().and_then(|text| Place::of(root, &text));
        let own = place.and_then(|place| place.capping()).unwrap_or_default();
        Self { root: root.to_owned(), own, watched: None, groups: None }
    }

    /// The group of a lab host, and no other.
    pub(crate) fn lab(root: &Path, own: &CgroupPaths) -> Self {
        Self { root: root.to_owned(), own: below(own, root), watched: None, groups: None }
    }

    fn refresh_groups(&mut self) {
        let Some(watched) = &self.watched else { return };
        let now = RealClock.now();
        // Processes that are found later have to wait for their groups to be told.
        if self.groups.as_ref().is_some_and(|(at, _)| now.since(*at) < GROUPS_EVERY) {
            return;
        }
        let mut lookout = watched.look();
        let mut groups = BTreeMap::new();
        for folder in lookout.folders() {
            let Ok(text) = lookout.files.text(&folder.join("cgroup")) else { continue };
            groups.extend(Place::of(&self.root, text).into_iter().flat_map(|place| place.groups()));
        }
        groups.remove("/");
        self.groups = Some((now, groups));
    }
}

impl Source for Cgroup {
    fn name(&self) -> &'static str {
        "cgroup"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let own = (String::new(), reading(counters(&self.own)));
        self.refresh_groups();
        let others = self.groups.iter().flat_map(|(_, groups)| groups);
        std::iter::once(own)
            .chain(others.map(|(path, paths)| (path.clone(), reading(counters(paths)))))
            .collect()
    }
}

#[cfg(test)]
mod tests;
