//! The busiest processes that are not watched.

use std::collections::BTreeMap;

use plimsoll_record::metric::other_processes;
use plimsoll_record::{CounterSet, Source};

use super::busiest::Busiest;
use super::stat::ticks_ms;
use super::table::Process;
use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Read};

/// The most processes added to the report per read, those that ran most since the last one.
const BUSIEST: usize = 5;
/// The most processes reported.
const MAX_REPORTED: usize = 32;
/// A process that ran fewer ticks than this between two reads replaces no other. Reads are some seconds apart, so this is a few per
/// cent of a core.
const NOTICEABLE_TICKS: u64 = 10;

/// Returns a collector of the CPU time of processes that compete with the watched ones. It reads and reports every few seconds.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    let mut others = OtherProcesses::new();
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
        others.busiest.reported().filter_map(|pid| tracker.table.processes.get(&pid)).map(read).collect()
    })
}

/// Returns the CPU time of all processes that are not watched, in ticks.
fn unwatched(tracker: &ProcessTracker) -> BTreeMap<u32, u64> {
    let ours = |pid: u32| tracker.members.contains_key(&pid) || tracker.overflow.contains(&pid);
    let others = tracker.table.processes.values().filter(|process| !ours(process.pid));
    others.map(|process| (process.pid, process.cpu_ticks)).collect()
}

struct OtherProcesses {
    /// The CPU time of each process at the last read, in ticks.
    before: BTreeMap<u32, u64>,
    busiest: Busiest,
}

impl OtherProcesses {
    fn new() -> Self {
        Self { before: BTreeMap::new(), busiest: Busiest::new(BUSIEST, MAX_REPORTED, NOTICEABLE_TICKS) }
    }

    fn choose(&mut self, now: BTreeMap<u32, u64>) {
        let ran = |(pid, ticks): (&u32, &u64)| {
            let before = self.before.get(pid).unwrap_or(ticks);
            (*pid, ticks.saturating_sub(*before))
        };
        self.busiest.choose(now.iter().map(ran));
        self.before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_busy_once_is_reported_until_it_ends() {
        let mut others = OtherProcesses::new();
        let mut reported = |now: &[(u32, u64)]| {
            others.choose(now.iter().copied().collect());
            others.busiest.reported().collect::<Vec<u32>>()
        };
        assert_eq!(reported(&[(1, 10), (2, 900), (3, 50)]), [0; 0], "no process is known to have run");
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 50)]), [1]);
        assert_eq!(reported(&[(1, 11), (2, 900), (3, 60)]), [1, 3]);
        assert_eq!(reported(&[(2, 900), (3, 60)]), [3]);
    }

    #[test]
    fn a_late_one_that_is_busy_is_reported_although_many_were_before() {
        let mut others = OtherProcesses::new();
        let mut now: BTreeMap<u32, u64> = (1..=40).map(|pid| (pid, 0)).collect();
        others.choose(now.clone());
        // Each runs for a moment once.
        for pid in 1..=40 {
            now.insert(pid, 1);
            others.choose(now.clone());
        }
        let reported = |others: &OtherProcesses| others.busiest.reported().collect::<Vec<u32>>();
        assert_eq!(reported(&others), (1..=32).collect::<Vec<u32>>());
        now.insert(99, 0);
        others.choose(now.clone());
        now.insert(99, 200);
        others.choose(now);
        assert_eq!(reported(&others).len(), 32);
        assert!(reported(&others).contains(&99));
    }
}
