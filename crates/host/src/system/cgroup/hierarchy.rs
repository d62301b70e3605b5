//! The control groups of a process in the hierarchies of versions 1 and 2.

use std::path::{Component, Path, PathBuf};

use plimsoll_sys::CgroupPaths;

use crate::collector::text;

/// How much CPU time a group may use in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) quota_us: u64,
    pub(crate) period_us: u64,
}

/// Parses `cpu.max`; `None` if there is no limit.
pub(super) fn quota(text: &str) -> Option<Quota> {
    let (quota, period) = text.trim().split_once(' ')?;
    Some(Quota { quota_us: quota.parse().ok()?, period_us: period.parse().ok()? })
}

const MOUNT: &str = "sys/fs/cgroup";

/// Returns the root of the version 2 hierarchy: at the top, or next to the hierarchies of version 1.
fn unified_mount(root: &Path) -> Option<PathBuf> {
    let top = root.join(MOUNT);
    [top.clone(), top.join("unified")].into_iter().find(|folder| folder.join("cgroup.procs").exists())
}

/// Returns the root of the hierarchy of a version 1 controller.
fn mount(root: &Path, controller: &str) -> Option<PathBuf> {
    Some(root.join(MOUNT).join(controller)).filter(|folder| folder.exists())
}

/// Returns the top group.
pub(super) fn top(root: &Path) -> CgroupPaths {
    // Next to version 1, the version 2 hierarchy has none of these controllers.
    let unified = || if mount(root, "cpu").is_some() { None } else { unified_mount(root) };
    CgroupPaths::from_fn(|controller| if controller.is_empty() { unified() } else { mount(root, controller) })
}

/// Whether the path of a group is inside this process's cgroup namespace (cgroup_namespaces(7)).
fn is_below_top(path: &Path) -> bool {
    !path.components().any(|part| part == Component::ParentDir)
}

/// The groups of a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    top: CgroupPaths,
    /// The path of the group for the controller `cpu`, relative to the top, without a leading slash.
    path: PathBuf,
    folders: CgroupPaths,
}

impl Membership {
    /// Parses `/proc/PID/cgroup` (cgroups(7)): lines of a number, controllers and a path. In version 2 one path is that of all
    /// controllers. A path that does not exist is hidden by a container, whose group is the top. A path that leads above the top is
    /// of a process outside of the container; its group cannot be read here.
    pub(crate) fn parse(root: &Path, text: &str) -> Option<Self> {
        let lines = || text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let line = |controller: &str| {
            let mut lines =
                lines().filter(|(controllers, _)| controllers.split(',').any(|one| one == controller));
            lines.next().map(|(_, path)| Path::new(path.trim_start_matches('/')))
        };
        let top = top(root);
        let folders = CgroupPaths::from_fn(|controller| {
            let (mount, path) = (top.get(controller)?, line(controller).filter(|path| is_below_top(path))?);
            Some(Some(mount.join(path)).filter(|folder| folder.exists()).unwrap_or_else(|| mount.to_owned()))
        });
        let (mount, folder) = match (&top.unified, &top.cpu) {
            (Some(mount), _) => (mount, folders.unified.as_ref()?),
            (None, mount) => (mount.as_ref()?, folders.cpu.as_ref()?),
        };
        let path = folder.strip_prefix(mount).ok()?.to_owned();
        Some(Self { top, path, folders })
    }

    /// Returns the group itself and its ancestors that have a quota, with their paths. Version 1 controllers that count only at the
    /// top are left out of the group.
    pub(super) fn groups(&self) -> Vec<(String, CgroupPaths)> {
        let name = |path: &Path| format!("/{}", path.display());
        let above = self.path.ancestors().skip(1).map(|path| (path, self.above(path)));
        let limited = above.filter(|(_, folders)| quota_of(folders).is_some());
        let own = CgroupPaths::from_fn(|controller| {
            let folder = self.folders.get(controller)?;
            (self.top.get(controller) != Some(folder)).then(|| folder.to_owned())
        });
        let own = (name(&self.path), own);
        std::iter::once(own).chain(limited.map(|(path, folders)| (name(path), folders))).collect()
    }

    /// Returns an ancestor group, with only the folders that are known to belong to it.
    fn above(&self, path: &Path) -> CgroupPaths {
        let of = |mount: &Option<PathBuf>| mount.as_deref().map(|mount| mount.join(path));
        let cpuacct = of(&self.top.cpuacct).filter(|folder| folder.exists());
        CgroupPaths {
            unified: of(&self.top.unified),
            cpu: of(&self.top.cpu),
            cpuacct,
            ..CgroupPaths::default()
        }
    }

    /// Returns the tightest quota of the group and its ancestors.
    pub(crate) fn quota(&self) -> Option<Quota> {
        quota_of(&self.capping()?)
    }

    /// Returns the group with the tightest quota: the process's own, or an ancestor; `None` if none has a quota.
    pub(super) fn capping(&self) -> Option<CgroupPaths> {
        let folders = self.path.ancestors().map(|path| self.above(path));
        let limited = folders.filter_map(|folders| Some((quota_of(&folders)?, folders)));
        // Compares the ratios without dividing.
        let tighter = |a: &Quota, b: &Quota| (a.quota_us * b.period_us).cmp(&(b.quota_us * a.period_us));
        limited.min_by(|(a, _), (b, _)| tighter(a, b)).map(|(_, folders)| folders)
    }
}

fn quota_of(folders: &CgroupPaths) -> Option<Quota> {
    if let Some(folder) = &folders.unified {
        return quota(&text(&folder.join("cpu.max")).ok()?);
    }
    let folder = folders.cpu.as_deref()?;
    let number = |file: &str| text(&folder.join(file)).ok()?.trim().parse::<u64>().ok();
    Some(Quota { quota_us: number("cpu.cfs_quota_us")?, period_us: number("cpu.cfs_period_us")? })
}
