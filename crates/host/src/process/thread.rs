//! The busiest threads of the watched processes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::thread;
use plimsoll_record::{CounterSet, Source, Subject};

use super::threads::{Thread, Threads};
use super::tracker::SharedTracker;
use crate::collector::{Collector, Read};

/// Threads of a process that are reported because they ran most since the last read.
const BUSIEST: usize = 32;
/// Threads of a process that are reported at all. A thread that was reported stays until it ends, so that its counters can
/// be followed.
const MAX_REPORTED: usize = 128;

/// A collector of the busiest threads of the watched processes.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    // Threads that were reported, by process.
    let mut reported: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    Collector::new(move || {
        let tracker = tracker.refreshed();
        if tracker.members.is_empty() {
            return tracker.no_members(Source::Thread);
        }
        reported.retain(|pid, _| tracker.members.contains_key(pid));
        let mut reads = Vec::new();
        for pid in tracker.members.keys() {
            let Some(threads) = tracker.threads(*pid) else { continue };
            let reported = reported.entry(*pid).or_default();
            choose(threads, reported);
            let known = reported.iter().filter_map(|tid| Some((*tid, threads.all.get(tid)?)));
            reads.extend(known.map(|(tid, thread)| read(*pid, tid, thread)));
        }
        reads
    })
}

/// Adds the busiest threads to those that were reported, and removes those that ended.
fn choose(threads: &Threads, reported: &mut BTreeSet<u32>) {
    reported.retain(|tid| threads.all.contains_key(tid));
    let ran = threads.all.iter().filter(|(_, thread)| thread.ran_ns > 0);
    let mut busiest: Vec<(Reverse<u64>, u32)> =
        ran.map(|(tid, thread)| (Reverse(thread.ran_ns), *tid)).collect();
    busiest.sort_unstable();
    let room = MAX_REPORTED.saturating_sub(reported.len());
    let new = busiest.into_iter().take(BUSIEST).map(|(_, tid)| tid);
    let new: Vec<u32> = new.filter(|tid| !reported.contains(tid)).take(room).collect();
    reported.extend(new);
}

fn read(pid: u32, tid: u32, thread: &Thread) -> Read {
    let Thread { name, used, .. } = thread;
    let counters = CounterSet::from([
        (thread::CPU_US, Some(used.run_ns / 1000)),
        (thread::RUN_WAIT_US, Some(used.wait_ns / 1000)),
        (thread::VOLUNTARY_SWITCHES, used.voluntary),
        (thread::INVOLUNTARY_SWITCHES, used.involuntary),
    ]);
    Read::new(Source::Thread, Subject::Thread { pid, tid, name }, Ok(counters))
}
