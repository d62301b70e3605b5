//! All processes of a host, from `/proc/PID/stat`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_record::{Limits, Subject};

use super::stat::{SmallFiles, Stat};

/// Whether this is the init process of a machine. It adopts all orphans and may hold sockets for other processes, so its children belong
/// to no server. In a container the first process may be the server itself.
fn is_init(pid: u32, name: &str) -> bool {
    pid == 1 && ["systemd", "init"].contains(&name)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) name: String,
    pub(crate) parent: u32,
    /// The start time in ticks since boot. A process with the same id but another start time is another process.
    pub(crate) started_ticks: u64,
    pub(crate) cpu_ticks: u64,
}

impl Process {
    /// Returns the subject of the process's samples.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject::Process { pid: self.pid, name: &self.name }
    }
}

/// The processes of a host by id, as of the last read: all that `/proc` shows, or those in the network namespace of the process `net_pid`.
#[derive(Debug)]
pub(crate) struct ProcessTable {
    proc: PathBuf,
    net_pid: Option<u32>,
    pub(crate) processes: BTreeMap<u32, Process>,
    /// Open `stat` files of the first processes: opening one costs more than reading it.
    open: BTreeMap<u32, File>,
    open_max: usize,
}

impl ProcessTable {
    pub(crate) fn new(root: &Path, net_pid: Option<u32>) -> Self {
        let open_max = Limits::files_kept_open(plimsoll_sys::descriptor_limit());
        Self { proc: root.join("proc"), net_pid, processes: BTreeMap::new(), open: BTreeMap::new(), open_max }
    }

    /// Reads all processes again.
    pub(crate) fn refresh(&mut self, files: &mut SmallFiles) -> io::Result<()> {
        let mut processes = BTreeMap::new();
        for folder in fs::read_dir(&self.proc)?.flatten() {
            let Some(pid) = id(&folder.file_name()) else { continue };
            // A process that ended in the meantime is not an error.
            let Ok(process) = self.read(pid, &folder.path(), files) else { continue };
            processes.insert(pid, process);
        }
        if let Some(net_pid) = self.net_pid {
            let ours = self.namespace(net_pid);
            processes.retain(|pid, _| ours.is_some() && self.namespace(*pid) == ours);
        }
        self.open.retain(|pid, _| processes.contains_key(pid));
        self.processes = processes;
        Ok(())
    }

    /// Reads one process, from its open file or else from its folder.
    fn read(&mut self, pid: u32, folder: &Path, files: &mut SmallFiles) -> io::Result<Process> {
        if let Some(stat) = self.open.get(&pid).and_then(|file| files.stat_of(file).ok()) {
            return Ok(process(pid, &stat));
        }
        self.open.remove(&pid);
        let file = File::open(folder.join("stat"))?;
        let process = process(pid, &files.stat_of(&file)?);
        if self.open.len() < self.open_max {
            self.open.insert(pid, file);
        }
        Ok(process)
    }

    /// Returns the current network namespace of a process. A process that is just starting may not have entered its own yet.
    fn namespace(&self, pid: u32) -> Option<PathBuf> {
        fs::read_link(self.proc.join(format!("{pid}/ns/net"))).ok()
    }

    /// Returns the start time of a process, as of the last read.
    pub(crate) fn started_ticks(&self, pid: u32) -> Option<u64> {
        self.processes.get(&pid).map(|process| process.started_ticks)
    }

    /// Whether the process is alive, as of the last read, and may be watched.
    pub(crate) fn is_watchable(&self, pid: u32) -> bool {
        self.processes.get(&pid).is_some_and(|process| !is_init(pid, &process.name))
    }

    /// Returns a process, its parent, and so on up to the first process.
    pub(crate) fn ancestors(&self, pid: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut next = Some(pid);
        while let Some(pid) = next.filter(|pid| found.insert(*pid)) {
            next = self.processes.get(&pid).map(|process| process.parent);
        }
        found
    }

    /// Adds all descendants of these processes.
    pub(crate) fn add_descendants(&self, pids: &mut BTreeSet<u32>) {
        loop {
            let known = pids.len();
            let child =
                |process: &&Process| pids.contains(&process.parent) && self.is_watchable(process.parent);
            let more: Vec<u32> = self.processes.values().filter(child).map(|process| process.pid).collect();
            pids.extend(more);
            if pids.len() == known {
                return;
            }
        }
    }
}

fn process(pid: u32, stat: &Stat<'_>) -> Process {
    Process {
        pid,
        name: stat.name.to_owned(),
        parent: stat.parent,
        started_ticks: stat.started_ticks,
        cpu_ticks: stat.user_ticks + stat.system_ticks,
    }
}

/// Parses the id from the name of a folder in `/proc` or `/proc/PID/task`.
pub(crate) fn id(name: &std::ffi::OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::collector::tests::tree;
    use crate::process::stat::tests::line;

    #[test]
    fn children_are_found_at_any_depth_and_those_of_the_first_process_are_not() {
        let parents = [(1, 0), (10, 1), (11, 10), (12, 11), (13, 1)];
        let files: Vec<(String, String)> = parents
            .iter()
            .map(|(pid, parent)| (format!("proc/{pid}/stat"), line(*pid, "init", 'S', *parent, 1)))
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let root = tree(&files);
        let mut table = ProcessTable::new(root.path(), None);
        table.refresh(&mut SmallFiles::new()).unwrap();
        let mut pids = BTreeSet::from([10]);
        table.add_descendants(&mut pids);
        assert_eq!(pids, [10, 11, 12].into());
        let mut pids = BTreeSet::from([1]);
        table.add_descendants(&mut pids);
        assert_eq!(pids, [1].into());
    }

    #[test]
    fn a_lab_host_has_the_processes_of_its_network_namespace() {
        let stat = line(1, "x", 'S', 0, 1);
        let root = tree(&[("proc/5/stat", &stat), ("proc/6/stat", &stat), ("proc/7/stat", &stat)]);
        for (pid, namespace) in [(5, "net:[1]"), (6, "net:[2]"), (7, "net:[1]")] {
            let folder = root.path().join(format!("proc/{pid}/ns"));
            fs::create_dir(&folder).unwrap();
            symlink(namespace, folder.join("net")).unwrap();
        }
        let mut table = ProcessTable::new(root.path(), Some(5));
        table.refresh(&mut SmallFiles::new()).unwrap();
        assert_eq!(table.processes.keys().copied().collect::<Vec<u32>>(), [5, 7]);
    }
}
