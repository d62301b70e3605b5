//! The busiest processes that are not watched.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::other_processes;
use plimsoll_record::{CounterSet, Source};

use super::stat::ticks_ms;
use super::table::Process;
use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Read};

/// Processes that are reported because they ran most since the last read.
const BUSIEST: usize = 5;
/// Processes that are reported at all; a process that was reported stays until it ends.
const MAX_REPORTED: usize = 32;

/// A collector of the CPU time of processes that compete with the watched ones. All processes are read every few seconds,
/// and reported then.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    let mut others = OtherProcesses::default();
    let mut read_at = None;
    Collector::new(move || {
        let tracker = tracker.refreshed();
        if tracker.discovered == read_at {
            return Vec::new();
        }
        read_at = tracker.discovered;
        others.choose(unwatched(&tracker));
        let read = |process: &Process| {
            let counters = CounterSet::from([(other_processes::CPU_US, ticks_ms(process.cpu_ticks) * 1000)]);
            Read::new(Source::OtherProcesses, process.subject(), Ok(counters))
        };
        others.reported.iter().filter_map(|pid| tracker.table.processes.get(pid)).map(read).collect()
    })
}

/// The CPU time of all processes that are not watched, in ticks.
fn unwatched(tracker: &ProcessTracker) -> BTreeMap<u32, u64> {
    let ours = |pid: u32| tracker.members.contains_key(&pid) || tracker.overflow.contains(&pid);
    let others = tracker.table.processes.values().filter(|process| !ours(process.pid));
    others.map(|process| (process.pid, process.cpu_ticks)).collect()
}

#[derive(Default)]
struct OtherProcesses {
    /// CPU time of all processes when they were last read, in ticks.
    before: BTreeMap<u32, u64>,
    reported: BTreeSet<u32>,
}

impl OtherProcesses {
    fn choose(&mut self, now: BTreeMap<u32, u64>) {
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
        self.before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_busy_once_is_reported_until_it_ends() {
        let mut others = OtherProcesses::default();
        let mut reported = |now: &[(u32, u64)]| {
            others.choose(now.iter().copied().collect());
            others.reported.iter().copied().collect::<Vec<u32>>()
        };
        assert_eq!(reported(&[(1, 10), (2, 900), (3, 50)]), [0; 0], "no process is known to have run");
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 50)]), [1]);
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 60)]), [1, 3]);
        assert_eq!(reported(&[(2, 900), (3, 60)]), [3]);
    }
}
