//! The busy processes of a machine, and the processes that serve a port.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;

use plimsoll_units::{Clock, RealClock};

use super::owners::SocketOwners;
use super::stat::{SmallFiles, ticks_ms};
use super::table::ProcessTable;
use crate::collector::Missing;
use crate::net::tcp_table::TcpTable;

/// The CPU time of every process of a machine at one instant, to find the busy ones. This is not a collector: with thousands of
/// processes it is too expensive to read each second.
#[derive(Debug)]
pub struct CpuTimes(ProcessTable);

/// The CPU time that a process used between two reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCpuUse {
    pub pid: u32,
    /// The name as the kernel keeps it.
    pub name: String,
    /// In steps of a clock tick, usually a hundredth of a second.
    pub cpu_ms: u64,
}

impl CpuTimes {
    /// Reads the CPU times of the machine whose file tree begins at `root`.
    ///
    /// # Errors
    /// When its processes cannot be listed.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut table = ProcessTable::new(root, None);
        table.refresh(&mut SmallFiles::new())?;
        Ok(Self(table))
    }

    /// Returns the processes that ran since an earlier read, busiest first. For a process that started since then, all its CPU time counts.
    pub fn since(&self, earlier: &Self) -> Vec<ProcessCpuUse> {
        let ran = self.0.processes.values().map(|now| {
            let before = earlier.0.processes.get(&now.pid);
            let before = before.filter(|before| before.started_ticks == now.started_ticks);
            let before = before.map_or(0, |before| before.cpu_ticks);
            let cpu_ms = ticks_ms(now.cpu_ticks.saturating_sub(before));
            ProcessCpuUse { pid: now.pid, name: now.name.clone(), cpu_ms }
        });
        let mut ran: Vec<ProcessCpuUse> = ran.filter(|process| process.cpu_ms > 0).collect();
        ran.sort_by_key(|process| (Reverse(process.cpu_ms), process.pid));
        ran
    }
}

/// Returns the processes that listen on a TCP port of the machine whose file tree begins at `root`, and their children. The result is
/// empty if there are none that this user may read.
///
/// # Errors
/// When processes or sockets cannot be listed.
pub fn serving(root: &Path, port: u16) -> io::Result<Vec<u32>> {
    let CpuTimes(table) = CpuTimes::read(root)?;
    let listening = TcpTable::new(root, None).listening().map_err(|missing| match missing {
        Missing::Absent => io::Error::new(io::ErrorKind::NotFound, "this system lists no TCP sockets"),
        Missing::Failed(why) => io::Error::other(why),
    })?;
    let on_port = listening.iter().filter(|socket| socket.local.port() == port);
    let inodes: HashSet<u64> = on_port.map(|socket| socket.inode).collect();
    let mut owners = SocketOwners::new(root);
    owners.find_listeners(RealClock.now(), &inodes, &inodes, table.processes.keys().copied());
    let found = inodes.iter().flat_map(|inode| owners.of(*inode)).copied();
    let mut pids: BTreeSet<u32> = found.filter(|pid| table.is_watchable(*pid)).collect();
    table.add_descendants(&mut pids);
    Ok(pids.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::collector::tests::tree;
    use crate::process::stat::tests::line;

    fn times(processes: &[(u32, &str, u64)]) -> CpuTimes {
        let files: Vec<(String, String)> = processes
            .iter()
            .map(|(pid, name, ticks)| (format!("proc/{pid}/stat"), line(*pid, name, 'S', 1, *ticks)))
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        CpuTimes::read(tree(&files).path()).unwrap()
    }

    #[test]
    fn those_that_ran_most_come_first_and_those_that_did_not_run_are_left_out() {
        let before = times(&[(11, "a", 100), (12, "b", 100), (13, "c", 100)]);
        let after = times(&[(11, "a", 100), (12, "b", 110), (13, "c", 150), (14, "new", 20)]);
        let ran = after.since(&before);
        let names: Vec<&str> = ran.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(names, ["c", "new", "b"]);
        assert_eq!(ran[0].cpu_ms, ticks_ms(50));
    }

    #[test]
    fn a_machine_that_shows_no_processes_is_an_error() {
        assert!(CpuTimes::read(tempfile::tempdir().unwrap().path()).is_err());
    }

    #[test]
    fn the_process_that_listens_is_found_and_none_where_none_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
        drop(listener);
        assert!(!serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
    }
}
