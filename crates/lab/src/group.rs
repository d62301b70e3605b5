//! Control groups, which limit the processors, memory and disk of a host's processes.
//!
//! With the controllers of version 2, each host has one group; with version 1, one group in each hierarchy. If neither is writable,
//! processors are capped by affinity alone, in whole processors.

mod disk;
mod hierarchy;

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use plimsoll_plan::Capacity;
use plimsoll_sys::{CgroupPaths, Cores};
use plimsoll_units::{Clock, RealClock, best_effort};

use crate::LabError;
pub use hierarchy::Capping;
use hierarchy::Hierarchies;

/// The shortest period of a CPU quota, in µs: so short that a throttled server stalls for less time than a request takes.
const PERIOD_US: f64 = 10_000.0;

/// The smallest quota of a period that the kernel accepts (sched-bwc: 1 ms).
const MIN_QUOTA_US: f64 = 1_000.0;

/// The longest period that the kernel accepts.
const MAX_PERIOD_US: f64 = 1_000_000.0;

/// The value for no quota in version 1.
const UNLIMITED_V1: &str = "-1";

/// The swap that a group of version 1 may have: more than the kernel charges at once.
const SWAP_BYTES: u64 = 4 << 20;

/// How long killed processes may take to leave their group.
const EMPTY_WITHIN: Duration = Duration::from_secs(5);

/// The groups of a lab: in each hierarchy one that contains the groups of its hosts.
#[derive(Debug)]
pub(crate) struct LabGroups {
    hierarchies: Hierarchies,
    folder: String,
    /// The number of cores assigned by affinity; hosts get different cores as long as there are any.
    assigned: Cell<usize>,
}

/// The groups of one host; removed when dropped.
#[derive(Debug)]
pub(crate) struct HostGroups {
    host: String,
    pub(crate) paths: CgroupPaths,
    folders: Vec<PathBuf>,
    /// The host's own folder, which determines its disk.
    own: PathBuf,
    /// The processors that the host is bound to, if it is capped by affinity.
    pub(crate) cores: Option<Cores>,
    /// The index of the first bound processor among the allowed ones.
    first_core: usize,
}

impl LabGroups {
    /// Groups with this name below the groups of this process.
    pub(crate) fn new(name: &str) -> Self {
        Self { hierarchies: Hierarchies::of_this_process(), folder: name.to_owned(), assigned: Cell::new(0) }
    }

    pub(crate) fn capping(&self) -> Capping {
        self.hierarchies.capping()
    }

    /// The folders of the lab's own groups.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.hierarchies.bases().folders().iter().map(|base| base.join(&self.folder)).collect()
    }

    /// Creates the lab's own groups.
    pub(crate) fn make(&self) -> Result<(), LabError> {
        for folder in self.folders() {
            fs::create_dir_all(&folder).map_err(LabError::file("make the control group", &folder))?;
            self.hierarchies.pass_on(&folder).map_err(LabError::file("pass on controllers in", &folder))?;
        }
        Ok(())
    }

    /// Creates the groups of a host whose own folder is `own`, and sets its caps. Returns the granted caps: affinity rounds cores up.
    pub(crate) fn host(
        &self,
        host: &str,
        own: &Path,
        capacity: &Capacity,
    ) -> Result<(HostGroups, Capacity), LabError> {
        let folders: Vec<PathBuf> = self.folders().iter().map(|folder| folder.join(host)).collect();
        for folder in &folders {
            fs::create_dir_all(folder).map_err(LabError::file("make the control group", folder))?;
        }
        let paths = self.hierarchies.bases().map(|base| base.join(&self.folder).join(host));
        let first_core = self.assigned.get();
        let (name, own) = (host.to_owned(), own.to_owned());
        let mut groups = HostGroups { host: name, paths, folders, own, cores: None, first_core };
        let granted = groups.cap(capacity)?;
        self.assigned.set(first_core + groups.cores.map_or(0, |cores| cores.numbers().len()));
        Ok((groups, granted))
    }
}

impl Drop for LabGroups {
    fn drop(&mut self) {
        for folder in self.folders() {
            best_effort(
                remove_tree(&folder),
                "one that stays is noted in the lease, and the next lab removes it",
            );
        }
    }
}

impl HostGroups {
    /// The files to which a process writes its id to join the groups.
    pub(crate) fn membership_files(&self) -> Result<Vec<File>, LabError> {
        let open = |folder: &PathBuf| {
            let path = folder.join("cgroup.procs");
            OpenOptions::new().write(true).open(&path).map_err(LabError::file("open", &path))
        };
        self.folders.iter().map(open).collect()
    }

    /// Sets the caps, also while processes run; returns the granted caps.
    pub(crate) fn cap(&mut self, capacity: &Capacity) -> Result<Capacity, LabError> {
        let mut granted = *capacity;
        if let Some(cores) = capacity.cores {
            granted.cores = Some(self.cap_cores(cores)?);
        }
        if let Some(bytes) = capacity.memory_bytes {
            self.cap_memory(bytes)?;
        }
        if let Some(bytes_per_sec) = capacity.disk_bytes_per_sec {
            self.cap_disk(bytes_per_sec)?;
        }
        Ok(granted)
    }

    fn cap_cores(&mut self, cores: f64) -> Result<f64, LabError> {
        let (quota, period) = quota_us(cores);
        match (&self.paths.unified, &self.paths.cpu) {
            (Some(folder), _) => {
                self.write(&folder.join("cpu.max"), &format!("{quota} {period}"))?;
            }
            (None, Some(folder)) => {
                // Without a quota the kernel accepts any period; the quota follows for the new period.
                self.write(&folder.join("cpu.cfs_quota_us"), UNLIMITED_V1)?;
                self.write(&folder.join("cpu.cfs_period_us"), &period.to_string())?;
                let written = self.write(&folder.join("cpu.cfs_quota_us"), &quota.to_string());
                written.map_err(|error| self.refused_quota(error, folder, cores))?;
            }
            (None, None) => return self.bind(cores),
        }
        Ok(cores)
    }

    /// Removes the cap of cores, also while processes run. A cap by affinity stays, because it is set when a process starts.
    pub(crate) fn uncap_cores(&self) -> Result<(), LabError> {
        match (&self.paths.unified, &self.paths.cpu) {
            (Some(folder), _) => self.write(&folder.join("cpu.max"), "max"),
            // Not a quota of all cores: version 1 refuses a quota above that of a parent group.
            (None, Some(folder)) => self.write(&folder.join("cpu.cfs_quota_us"), UNLIMITED_V1),
            (None, None) => Ok(()),
        }
    }

    /// Binds the host to whole processors, rounding up.
    fn bind(&mut self, cores: f64) -> Result<f64, LabError> {
        let why = "no control group may be written, and the kernel does not say which processors there are";
        let allowed = Cores::allowed().map_err(|_| self.no_means("number of cores", why))?.numbers();
        let count = (cores.ceil() as usize).clamp(1, allowed.len().max(1));
        let own: Vec<u32> = allowed.iter().cycle().skip(self.first_core).take(count).copied().collect();
        self.cores = Some(Cores::new(&own));
        Ok(count as f64)
    }

    fn cap_memory(&self, bytes: u64) -> Result<(), LabError> {
        let Some(folder) = self.paths.unified.as_ref().or(self.paths.memory.as_ref()) else {
            return Err(self.no_means("memory", "no control group of memory may be written"));
        };
        // Version 1 allows a little swap, so that processes hit the limit of memory alone, because its hits are counted.
        let with_swap = (bytes + SWAP_BYTES).to_string();
        let bytes = bytes.to_string();
        // The kernel refuses a memory limit above that of memory and swap together, so one of the two orders works.
        let (memory, swap) = match self.paths.unified.is_some() {
            true => ("memory.max", ("memory.swap.max", "0")),
            false => ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", with_swap.as_str())),
        };
        let first = self.write(&folder.join(memory), &bytes);
        let (file, value) = swap;
        if folder.join(file).exists() {
            self.write(&folder.join(file), value)?;
        }
        first.or_else(|_| self.write(&folder.join(memory), &bytes))
    }

    /// Caps reads and writes, each to this many bytes per second, on the disk of the host's own folder.
    fn cap_disk(&self, bytes_per_sec: u64) -> Result<(), LabError> {
        let device = disk::device_of(&self.own).map_err(|why| self.no_means("disk", why))?;
        match (&self.paths.unified, &self.paths.blkio) {
            (Some(folder), _) if folder.join(disk::LIMIT_V2).exists() => {
                let line = format!("{device} rbps={bytes_per_sec} wbps={bytes_per_sec}");
                self.write(&folder.join(disk::LIMIT_V2), &line)
            }
            (None, Some(folder)) if folder.join(disk::LIMITS_V1[0]).exists() => {
                let line = format!("{device} {bytes_per_sec}");
                disk::LIMITS_V1.iter().try_for_each(|file| self.write(&folder.join(file), &line))
            }
            _ => Err(self.no_means("disk", disk::NO_GROUP)),
        }
    }

    /// Explains a refused quota: version 1 refuses a quota above that of a parent group as an invalid value.
    fn refused_quota(&self, error: LabError, folder: &Path, cores: f64) -> LabError {
        let is_invalid = |reason: &io::Error| reason.kind() == io::ErrorKind::InvalidInput;
        match (&error, quota_above(folder)) {
            (LabError::Cap { reason, .. }, Some((above, there))) if is_invalid(reason) && there < cores => {
                LabError::QuotaAbove { host: self.host.clone(), cores, above, there }
            }
            _ => error,
        }
    }

    fn no_means(&self, what: &'static str, why: &'static str) -> LabError {
        LabError::NoMeans { host: self.host.clone(), what, why }
    }

    fn write(&self, path: &Path, value: &str) -> Result<(), LabError> {
        let cap = |reason| LabError::Cap { host: self.host.clone(), path: path.to_owned(), reason };
        fs::write(path, value).map_err(cap)
    }
}

impl Drop for HostGroups {
    fn drop(&mut self) {
        for folder in &self.folders {
            best_effort(remove_tree(folder), "one that stays is removed with the lab's own group");
        }
    }
}

/// The parent group of version 1 with the smallest quota, and that quota in cores; `None` if none has a quota.
fn quota_above(folder: &Path) -> Option<(PathBuf, f64)> {
    let number = |folder: &Path, file: &str| -> Option<f64> {
        fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    let cores = |folder: &Path| {
        let quota = number(folder, "cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
        Some((folder.to_owned(), quota / number(folder, "cpu.cfs_period_us")?))
    };
    folder.ancestors().skip(1).filter_map(cores).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The quota and the period for a number of cores, in microseconds.
fn quota_us(cores: f64) -> (u64, u64) {
    let period = (MIN_QUOTA_US / cores).clamp(PERIOD_US, MAX_PERIOD_US);
    let quota = (cores * period).max(MIN_QUOTA_US);
    (quota.round() as u64, period.round() as u64)
}

/// Removes a group and its subgroups once their processes have ended; fails if they do not become empty in time.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree(&entry.path())?;
        }
    }
    let begun = RealClock.now();
    loop {
        match fs::remove_dir(folder) {
            // A group is busy until killed processes have exited, which the kernel does not report.
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy
                    && RealClock.now().since(begun) < EMPTY_WITHIN =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests;
