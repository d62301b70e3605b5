//! Finds where control groups can be made.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use plimsoll_sys::CgroupPaths;
use plimsoll_units::best_effort;

use crate::naming::NAME;

/// The controllers of version 1 that a lab uses.
const CONTROLLERS_V1: [&str; 4] = ["cpu", "cpuacct", "memory", "blkio"];

/// The controllers of version 2 that a lab uses. Only `cpu` is required; a cap that needs a missing one is an error.
const CONTROLLERS_V2: [&str; 3] = ["cpu", "memory", "io"];

/// The file of a version 2 group that lists the controllers enabled for its subgroups.
const CONTROL: &str = "cgroup.subtree_control";

/// How processors are capped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capping {
    GroupsV2,
    GroupsV1,
    /// CPU affinity: whole processors only.
    Affinity,
}

impl fmt::Display for Capping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GroupsV2 => "cgroup v2",
            Self::GroupsV1 => "cgroup v1",
            Self::Affinity => "affinity, in whole cores",
        })
    }
}

/// The parent folders of a lab's groups: one for version 2, or one for each controller of version 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hierarchies(CgroupPaths);

/// A mounted hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The group at the mount point.
    root: PathBuf,
    place: PathBuf,
    unified: bool,
    options: Vec<String>,
}

/// Parses a line of mountinfo (proc_pid_mountinfo(5)); `None` for other file systems.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let fields: Vec<&str> = before.split(' ').collect();
    let mut after = after.split(' ');
    let kind = after.next()?;
    if kind != "cgroup" && kind != "cgroup2" {
        return None;
    }
    let options = after.nth(1).unwrap_or_default().split(',').map(ToOwned::to_owned).collect();
    let (root, place) = (PathBuf::from(fields.get(3)?), PathBuf::from(fields.get(4)?));
    Some(Mount { root, place, unified: kind == "cgroup2", options })
}

impl Mount {
    /// The folder of this process's group; `own` is the text of `/proc/self/cgroup`.
    fn own_folder(&self, own: &str) -> PathBuf {
        let group = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let mine = match self.unified {
                true => controllers.is_empty(),
                false => controllers
                    .split(',')
                    .any(|one| !one.is_empty() && self.options.iter().any(|option| option == one)),
            };
            mine.then_some(path)
        });
        // Within a container the group may lie above the mounted part; the mount point is then the nearest visible group.
        let below = group.and_then(|group| Path::new(group).strip_prefix(&self.root).ok());
        below.map_or_else(|| self.place.clone(), |below| self.place.join(below))
    }
}

impl Hierarchies {
    /// The hierarchies in which this process may create groups.
    pub(super) fn of_this_process() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::find(&mounts, &own)
    }

    /// The same, from the texts of a process's `mountinfo` and `cgroup` files.
    pub(super) fn find(mounts: &str, own: &str) -> Self {
        let mounts: Vec<Mount> = mounts.lines().filter_map(mount).collect();
        let unified = mounts.iter().find(|mount| mount.unified).and_then(|mount| {
            let own = mount.own_folder(own);
            own.ancestors()
                .take_while(|folder| folder.starts_with(&mount.place))
                .find(|folder| usable(folder))
                .map(Path::to_owned)
        });
        if unified.is_some() {
            return Self(CgroupPaths { unified, ..CgroupPaths::default() });
        }
        let of = |controller: &str| {
            let has = |mount: &&Mount| !mount.unified && mount.options.iter().any(|one| one == controller);
            let mount = mounts.iter().find(has).filter(|_| CONTROLLERS_V1.contains(&controller))?;
            Some(mount.own_folder(own)).filter(|folder| is_writable(folder))
        };
        Self(CgroupPaths::from_fn(of))
    }

    pub(super) fn capping(&self) -> Capping {
        match (&self.0.unified, &self.0.cpu) {
            (Some(_), _) => Capping::GroupsV2,
            (None, Some(_)) => Capping::GroupsV1,
            (None, None) => Capping::Affinity,
        }
    }

    pub(super) fn bases(&self) -> &CgroupPaths {
        &self.0
    }

    /// Enables the controllers for subgroups; does nothing for version 1.
    pub(super) fn pass_on(&self, folder: &Path) -> io::Result<()> {
        if self.0.unified.is_some() { pass_on(folder) } else { Ok(()) }
    }
}

/// The controllers enabled for subgroups of this group.
fn passed_on(folder: &Path) -> Vec<&'static str> {
    let control = fs::read_to_string(folder.join(CONTROL)).unwrap_or_default();
    let is_there = |controller: &&str| control.split_whitespace().any(|one| one == *controller);
    CONTROLLERS_V2.into_iter().filter(is_there).collect()
}

/// Enables the controllers for subgroups; fails only if `cpu` is unavailable.
fn pass_on(folder: &Path) -> io::Result<()> {
    let file = folder.join(CONTROL);
    let [cpu, others @ ..] = CONTROLLERS_V2.map(|controller| fs::write(&file, format!("+{controller}")));
    for other in others {
        best_effort(other, "a cap of its kind is refused when one is asked for");
    }
    cpu
}

/// True if groups with a CPU cap can be made in a group of version 2. A group that holds processes itself can enable `cpu`, but its
/// subgroups are then invalid (cgroup-v2, "Threads"); in that case the controllers are disabled again.
fn usable(folder: &Path) -> bool {
    let before = passed_on(folder);
    let passes_on = || pass_on(folder).is_ok() || before.contains(&"cpu");
    let works = is_writable(folder) && passes_on() && attempt(folder, is_domain);
    if !works {
        for controller in passed_on(folder).into_iter().filter(|one| !before.contains(one)) {
            best_effort(
                fs::write(folder.join(CONTROL), format!("-{controller}")),
                "a group that passes on more than it needs limits nothing",
            );
        }
    }
    works
}

/// True if a group of version 2 can hold processes and enable controllers for subgroups.
fn is_domain(folder: &Path) -> bool {
    fs::read_to_string(folder.join("cgroup.type")).map_or(true, |kind| kind.trim() == "domain")
}

/// True if a subgroup can be created here.
fn is_writable(folder: &Path) -> bool {
    attempt(folder, |_| true)
}

/// Creates a subgroup, tests it with `is_fit` and removes it: only an attempt shows whether groups can be made.
fn attempt(folder: &Path, is_fit: impl Fn(&Path) -> bool) -> bool {
    let attempt = folder.join(format!("{}try-{}", NAME, std::process::id()));
    let fit = fs::create_dir(&attempt).is_ok() && is_fit(&attempt);
    fs::remove_dir(&attempt).is_ok() && fit
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &str = "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct";
    const UNIFIED: &str = "29 23 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
    const OWN: &str = "4:cpu,cpuacct:/user/me\n0::/user/me\n";

    #[test]
    fn the_folder_of_ones_own_group_is_found_in_both_versions() {
        let folder = |line: &str| mount(line).unwrap().own_folder(OWN);
        assert_eq!(folder(SHARED), Path::new("/sys/fs/cgroup/cpu,cpuacct/user/me"));
        assert_eq!(folder(UNIFIED), Path::new("/sys/fs/cgroup/unified/user/me"));
        let contained = SHARED.replace(" / ", " /docker/1 ");
        assert_eq!(folder(&contained), Path::new("/sys/fs/cgroup/cpu,cpuacct"));
        assert_eq!(mount("22 1 8:1 / / rw - ext4 /dev/vda rw"), None);
    }

    #[test]
    fn where_no_group_can_be_made_affinity_is_left() {
        let lines = format!("{SHARED}\n{UNIFIED}").replace("/sys/fs/cgroup", "/proc/none");
        assert_eq!(Hierarchies::find(&lines, OWN).capping(), Capping::Affinity);
        assert_eq!(Hierarchies::find("", "").bases().folders().len(), 0);
    }

    #[test]
    fn controllers_of_version_1_that_share_a_hierarchy_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let lines = SHARED.replace("/sys/fs/cgroup/cpu,cpuacct", folder.path().to_str().unwrap());
        let found = Hierarchies::find(&lines, "4:cpu,cpuacct:/\n");
        assert_eq!(found.capping(), Capping::GroupsV1);
        assert_eq!(found.bases().folders(), [folder.path()]);
        assert_eq!(found.bases().memory, None);
    }
}
