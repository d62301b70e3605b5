//! The folders of a control group.

use std::path::{Path, PathBuf};

/// The folders of one control group: one in version 2 (`unified`), one for each controller in version 1; `None` for hierarchies
/// that do not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupPaths {
    pub unified: Option<PathBuf>,
    pub cpu: Option<PathBuf>,
    pub cpuacct: Option<PathBuf>,
    pub memory: Option<PathBuf>,
    pub blkio: Option<PathBuf>,
    pub pids: Option<PathBuf>,
}

impl CgroupPaths {
    /// Calls `folder` with the controller of each hierarchy; for version 2 with the empty name.
    pub fn from_fn(folder: impl Fn(&str) -> Option<PathBuf>) -> Self {
        Self {
            unified: folder(""),
            cpu: folder("cpu"),
            cpuacct: folder("cpuacct"),
            memory: folder("memory"),
            blkio: folder("blkio"),
            pids: folder("pids"),
        }
    }

    /// The folder in the hierarchy of a controller; the empty name stands for version 2.
    pub fn get(&self, controller: &str) -> Option<&Path> {
        let folder = match controller {
            "" => &self.unified,
            "cpu" => &self.cpu,
            "cpuacct" => &self.cpuacct,
            "memory" => &self.memory,
            "blkio" => &self.blkio,
            "pids" => &self.pids,
            _ => &None,
        };
        folder.as_deref()
    }

    /// Returns a copy in which each folder is mapped by `other`.
    #[must_use]
    pub fn map(&self, other: impl Fn(&Path) -> PathBuf) -> Self {
        Self::from_fn(|controller| self.get(controller).map(&other))
    }

    /// Returns all folders without duplicates, because controllers may share a hierarchy.
    pub fn folders(&self) -> Vec<&Path> {
        let all = [&self.unified, &self.cpu, &self.cpuacct, &self.memory, &self.blkio, &self.pids];
        let mut folders: Vec<&Path> = all.into_iter().flatten().map(PathBuf::as_path).collect();
        folders.sort();
        folders.dedup();
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_controller_has_its_own_folder_and_a_shared_one_is_listed_once() {
        let group = CgroupPaths::from_fn(|controller| Some(PathBuf::from(format!("/cg/{controller}"))));
        for controller in ["", "cpu", "cpuacct", "memory", "blkio", "pids"] {
            assert_eq!(group.get(controller), Some(Path::new(&format!("/cg/{controller}"))));
        }
        assert_eq!((group.folders().len(), group.get("rdma")), (6, None));
        assert_eq!(group.map(|_| PathBuf::from("/one")).folders(), [Path::new("/one")]);
    }
}
