//! What control groups used and were refused, of version 2 and version 1.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::lookout::SharedLookout;
use crate::source::{Source, reading};
use files::counters;
use place::Place;

pub(crate) use place::Quota;

mod files;
pub(crate) mod place;

/// The folders of one control group: in version 2 one, in version 1 one for each controller. Those that are not there are
/// not told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupPaths {
    /// In the hierarchy of version 2.
    pub unified: Option<PathBuf>,
    /// In that of the controller `cpu` of version 1.
    pub cpu: Option<PathBuf>,
    /// In that of `cpuacct`.
    pub cpuacct: Option<PathBuf>,
    /// In that of `memory`.
    pub memory: Option<PathBuf>,
    /// In that of `pids`.
    pub pids: Option<PathBuf>,
}

impl CgroupPaths {
    /// The same folders in the file tree that begins at `root`.
    pub(crate) fn below(&self, root: &Path) -> Self {
        let below = |path: &Option<PathBuf>| {
            path.as_deref().map(|path| root.join(path.strip_prefix("/").unwrap_or(path)))
        };
        Self {
            unified: below(&self.unified),
            cpu: below(&self.cpu),
            cpuacct: below(&self.cpuacct),
            memory: below(&self.memory),
            pids: below(&self.pids),
        }
    }

    /// Those of these folders that are not the same in `other`.
    fn without(&self, other: &Self) -> Self {
        let different =
            |ours: &Option<PathBuf>, others: &Option<PathBuf>| ours.clone().filter(|_| ours != others);
        Self {
            unified: different(&self.unified, &other.unified),
            cpu: different(&self.cpu, &other.cpu),
            cpuacct: different(&self.cpuacct, &other.cpuacct),
            memory: different(&self.memory, &other.memory),
            pids: different(&self.pids, &other.pids),
        }
    }
}

/// `usage_us` and the other counters of the host's own group, with an empty subject, and of the groups in which its
/// watched processes are, with their paths; of the groups above these only those that have a quota.
#[derive(Debug)]
pub(crate) struct Cgroup {
    root: PathBuf,
    own: CgroupPaths,
    watched: Option<SharedLookout>,
}

impl Cgroup {
    /// The group of a whole machine is the one at the top, which in a container is the container's.
    pub(crate) fn machine(root: &Path, watched: SharedLookout) -> Self {
        Self { root: root.to_owned(), own: place::top(root), watched: Some(watched) }
    }

    /// The group of a lab host, and no other.
    pub(crate) fn lab(root: &Path, own: &CgroupPaths) -> Self {
        Self { root: root.to_owned(), own: own.below(root), watched: None }
    }

    /// The groups of the watched processes, by their paths.
    fn groups(&self) -> BTreeMap<String, CgroupPaths> {
        let Some(watched) = &self.watched else { return BTreeMap::new() };
        let mut lookout = watched.look();
        let mut groups = BTreeMap::new();
        for folder in lookout.folders() {
            let Ok(text) = lookout.files.text(&folder.join("cgroup")) else { continue };
            groups.extend(Place::of(&self.root, text).into_iter().flat_map(|place| place.groups()));
        }
        groups
    }
}

impl Source for Cgroup {
    fn name(&self) -> &'static str {
        "cgroup"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let own = (String::new(), reading(counters(&self.own)));
        let others = self.groups().into_iter().filter(|(path, _)| path != "/");
        std::iter::once(own).chain(others.map(|(path, paths)| (path, reading(counters(&paths))))).collect()
    }
}

#[cfg(test)]
mod tests;
