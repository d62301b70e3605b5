//! The files of a control group.

use std::path::{Path, PathBuf};

use plimsoll_record::metric::cgroup;
use plimsoll_record::{CounterSet, Metric};
use plimsoll_sys::CgroupPaths;

use super::{disk, hierarchy};
use crate::collector::{Missing, malformed, missing, number, numbers, text};

/// Version 1 reports a number close to the maximum if there is no limit.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The kernel's names in `cpu.stat` of version 2.
const CPU_STAT: &[(&str, Metric)] = &[
    ("usage_usec ", cgroup::USAGE_US),
    ("nr_periods ", cgroup::PERIODS),
    ("nr_throttled ", cgroup::THROTTLED_PERIODS),
    ("throttled_usec ", cgroup::THROTTLED_US),
];
/// The kernel's names in `memory.events` of version 2.
const MEMORY_EVENTS: &[(&str, Metric)] =
    &[("max ", cgroup::MEMORY_FAILURES), ("oom_kill ", cgroup::OOM_KILLS)];

/// Returns the counters of a group; absent if none of its folders has any. Limits that are not set are left out.
pub(super) fn counters(paths: &CgroupPaths) -> Result<CounterSet, Missing> {
    if let Some(gone) = [&paths.unified, &paths.cpu].into_iter().flatten().find(|folder| !folder.exists()) {
        return Err(missing(gone, &std::io::Error::from(std::io::ErrorKind::NotFound)));
    }
    let mut group = Group::default();
    let folders = [
        (&paths.unified, Group::unified as fn(&mut Group, &Path)),
        (&paths.cpu, Group::cpu),
        (&paths.cpuacct, Group::cpuacct),
        (&paths.memory, Group::memory),
        (&paths.blkio, Group::blkio),
        (&paths.pids, Group::pids),
    ];
    for (folder, read) in folders {
        if let Some(folder) = folder {
            read(&mut group, folder);
        }
    }
    match group.counters.is_empty() {
        true => Err(group.trouble.unwrap_or(Missing::Absent)),
        false => Ok(group.counters),
    }
}

/// Collects the counters of a group from its files.
#[derive(Debug, Default)]
struct Group {
    counters: CounterSet,
    trouble: Option<Missing>,
}

impl Group {
    /// Returns the text of a file. A missing file, or one whose controller is disabled, only leaves its counters out.
    fn text(&mut self, file: &Path) -> Option<String> {
        match text(file) {
            Ok(text) => Some(text),
            Err(Missing::Absent) => None,
            Err(failed) => {
                self.trouble = Some(failed);
                None
            }
        }
    }

    fn put(&mut self, metric: Metric, value: Option<u64>) {
        self.counters.put(metric, value);
    }

    /// Adds the numbers of a file with lines `name number`, by a table of their names.
    fn put_named(&mut self, file: &Path, table: &[(&str, Metric)]) {
        if let Some(text) = self.text(file) {
            self.counters.extend(numbers(&text, table));
        }
    }

    /// Reads a file that holds one number.
    fn number(&mut self, file: PathBuf) -> Option<u64> {
        let text = self.text(&file)?;
        let number = text.trim().parse().ok();
        if number.is_none() && !["max", "-1"].contains(&text.trim()) {
            self.trouble = Some(malformed(&file, "number"));
        }
        number
    }

    fn unified(&mut self, folder: &Path) {
        self.put_named(&folder.join("cpu.stat"), CPU_STAT);
        let quota = self.text(&folder.join("cpu.max")).and_then(|text| hierarchy::quota(&text));
        self.put(cgroup::QUOTA_US, quota.map(|quota| quota.quota_us));
        self.put(cgroup::PERIOD_US, quota.map(|quota| quota.period_us));
        let used = self.number(folder.join("memory.current"));
        self.put(cgroup::MEMORY_BYTES, used);
        let limit = self.number(folder.join("memory.max"));
        self.put(cgroup::MEMORY_LIMIT_BYTES, limit);
        self.put_named(&folder.join("memory.events"), MEMORY_EVENTS);
        self.refaults(folder);
        self.pids(folder);
        let limits = self.text(&folder.join("io.max")).unwrap_or_default();
        if let Some(limit) = disk::limit_v2(&limits) {
            let stat = self.text(&folder.join("io.stat")).unwrap_or_default();
            self.disk(&limit, disk::carried_v2(&stat, &limit));
        }
    }

    fn blkio(&mut self, folder: &Path) {
        let mut text =
            |file: &str| self.text(&folder.join(format!("blkio.throttle.{file}"))).unwrap_or_default();
        let (reads, writes) = (text("read_bps_device"), text("write_bps_device"));
        if let Some(limit) = disk::limit_v1(&reads, &writes) {
            let stat = text("io_service_bytes");
            self.disk(&limit, disk::carried_v1(&stat, &limit));
        }
    }

    fn disk(&mut self, limit: &disk::Limit<'_>, carried: disk::Ways) {
        self.put(cgroup::DISK_READ_BYTES, carried.read);
        self.put(cgroup::DISK_WRITTEN_BYTES, carried.written);
        self.put(cgroup::DISK_READ_LIMIT_BYTES_PER_SEC, limit.limit.read);
        self.put(cgroup::DISK_WRITE_LIMIT_BYTES_PER_SEC, limit.limit.written);
    }

    fn cpu(&mut self, folder: &Path) {
        let stat = self.text(&folder.join("cpu.stat")).unwrap_or_default();
        self.put(cgroup::PERIODS, number(&stat, "nr_periods "));
        self.put(cgroup::THROTTLED_PERIODS, number(&stat, "nr_throttled "));
        self.put(cgroup::THROTTLED_US, number(&stat, "throttled_time ").map(|ns| ns / 1000));
        let quota_us = self.number(folder.join("cpu.cfs_quota_us"));
        let period_us = self.number(folder.join("cpu.cfs_period_us")).filter(|_| quota_us.is_some());
        self.put(cgroup::QUOTA_US, quota_us);
        self.put(cgroup::PERIOD_US, period_us);
    }

    fn cpuacct(&mut self, folder: &Path) {
        let usage_ns = self.number(folder.join("cpuacct.usage"));
        self.put(cgroup::USAGE_US, usage_ns.map(|ns| ns / 1000));
    }

    fn memory(&mut self, folder: &Path) {
        let used = self.number(folder.join("memory.usage_in_bytes"));
        let limit = self.number(folder.join("memory.limit_in_bytes"));
        self.put(cgroup::MEMORY_BYTES, used);
        self.put(cgroup::MEMORY_LIMIT_BYTES, limit.filter(|limit| *limit < NO_LIMIT_BYTES));
        let failures = self.number(folder.join("memory.failcnt"));
        self.put(cgroup::MEMORY_FAILURES, failures);
        self.put_named(&folder.join("memory.oom_control"), &[("oom_kill ", cgroup::OOM_KILLS)]);
        self.refaults(folder);
    }

    /// Adds refaults: pages that were reclaimed from the group and read again, of files and of anonymous memory.
    fn refaults(&mut self, folder: &Path) {
        let stat = self.text(&folder.join("memory.stat")).unwrap_or_default();
        let kinds = ["workingset_refault_file ", "workingset_refault_anon "].map(|kind| number(&stat, kind));
        self.put(cgroup::REFAULTED_PAGES, kinds.into_iter().flatten().reduce(|a, b| a + b));
    }

    fn pids(&mut self, folder: &Path) {
        let processes = self.number(folder.join("pids.current"));
        self.put(cgroup::PROCESSES, processes);
    }
}
