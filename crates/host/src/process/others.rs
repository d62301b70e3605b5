//! The busiest processes that are not watched.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::other_processes;
use plimsoll_record::{CounterSet, Source, Subject};
use plimsoll_units::Instant;

use super::stat::ticks_ms;
use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Read};

/// Processes that are reported because they ran most since the last read.
const BUSIEST: usize = 5;
/// Processes that are reported at all; a process that was reported stays until it ends.
const MAX_REPORTED: usize = 32;

/// The CPU time of processes that compete with the watched ones. All processes are read every few seconds, and reported
/// then.
#[derive(Debug)]
pub(crate) struct OtherProcesses {
    tracker: SharedTracker,
    read_at: Option<Instant>,
    /// CPU time of all processes when they were last read, in ticks.
    before: BTreeMap<u32, u64>,
    reported: BTreeSet<u32>,
}

impl OtherProcesses {
    pub(crate) fn new(tracker: SharedTracker) -> Self {
        Self { tracker, read_at: None, before: BTreeMap::new(), reported: BTreeSet::new() }
    }

    fn choose(&mut self, now: &BTreeMap<u32, u64>) {
        self.reported.retain(|pid| now.contains_key(pid));
        let ran = |(pid, ticks): (&u32, &u64)| {
            let ran = ticks.saturating_sub(*self.before.get(pid)?);
            (ran > 0).then_some((Reverse(ran), *pid))
        };
        let mut busiest: Vec<(Reverse<u64>, u32)> = now.iter().filter_map(ran).collect();
        busiest.sort_unstable();
        for (_, pid) in busiest.into_iter().take(BUSIEST) {
            if self.reported.len() < MAX_REPORTED {
                self.reported.insert(pid);
            }
        }
    }
}

/// The CPU time of all processes that are not watched, in ticks.
fn others(tracker: &ProcessTracker) -> BTreeMap<u32, u64> {
    let all = tracker.table().0.entries().iter();
    let ours = |pid: &u32| tracker.members().contains_key(pid) || tracker.overflow().contains(pid);
    let others = all.filter(|(pid, _)| !ours(pid));
    others.map(|(pid, entry)| (*pid, entry.cpu_ticks)).collect()
}

impl Collector for OtherProcesses {
    fn read(&mut self) -> Vec<Read> {
        let shared = self.tracker.clone();
        let tracker = shared.refreshed();
        let (table, read_at) = tracker.table();
        if read_at == self.read_at {
            return Vec::new();
        }
        self.read_at = read_at;
        let now = others(&tracker);
        self.choose(&now);
        self.before = now;
        let reported = self.reported.iter().filter_map(|pid| Some((*pid, table.entries().get(pid)?)));
        let read = |(pid, entry): (u32, &super::table::Entry)| {
            let counters = CounterSet::from([(other_processes::CPU_US, ticks_ms(entry.cpu_ticks) * 1000)]);
            Read::new(Source::OtherProcesses, Subject::Process { pid, name: &entry.name }, Ok(counters))
        };
        reported.map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::process::tracker::Watched;
    use crate::round::Round;

    #[test]
    fn a_process_that_was_busy_once_is_reported_until_it_ends() {
        let tracker = ProcessTracker::machine(Path::new("/"), &Watched::default(), &Round::default());
        let mut others = OtherProcesses::new(SharedTracker::new(tracker));
        let mut reported = |now: &[(u32, u64)]| {
            let now = now.iter().copied().collect();
            others.choose(&now);
            others.before = now;
            others.reported.iter().copied().collect::<Vec<u32>>()
        };
        assert_eq!(reported(&[(1, 10), (2, 900), (3, 50)]), [0; 0], "no process is known to have run");
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 50)]), [1]);
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 60)]), [1, 3]);
        assert_eq!(reported(&[(2, 900), (3, 60)]), [3]);
    }
}
