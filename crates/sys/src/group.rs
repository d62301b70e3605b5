//! Where a control group is in the file system.

use std::path::{Path, PathBuf};

/// The folders of one control group: in version 2 one, in version 1 one for each controller. `None` where there is no such
/// folder.
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
    /// In that of `blkio`.
    pub blkio: Option<PathBuf>,
    /// In that of `pids`.
    pub pids: Option<PathBuf>,
}

impl CgroupPaths {
    /// The folders that `folder` gives for each hierarchy, by the name of its controller; that of version 2 has none.
    pub fn of(folder: impl Fn(&str) -> Option<PathBuf>) -> Self {
        Self {
            unified: folder(""),
            cpu: folder("cpu"),
            cpuacct: folder("cpuacct"),
            memory: folder("memory"),
            blkio: folder("blkio"),
            pids: folder("pids"),
        }
    }

    /// The folder in one hierarchy, by the name of its controller; that of version 2 has none.
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

    /// The folders that `other` makes of these.
    #[must_use]
    pub fn map(&self, other: impl Fn(&Path) -> PathBuf) -> Self {
        Self::of(|controller| self.get(controller).map(&other))
    }

    /// The folders, each once: controllers may share a hierarchy.
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
    fn each_controller_has_its_own_folder_and_a_shared_one_is_told_once() {
        let group = CgroupPaths::of(|controller| Some(PathBuf::from(format!("/cg/{controller}"))));
        for controller in ["", "cpu", "cpuacct", "memory", "blkio", "pids"] {
            assert_eq!(group.get(controller), Some(Path::new(&format!("/cg/{controller}"))));
        }
        assert_eq!((group.folders().len(), group.get("rdma")), (6, None));
        assert_eq!(group.map(|_| PathBuf::from("/one")).folders(), [Path::new("/one")]);
    }
}
