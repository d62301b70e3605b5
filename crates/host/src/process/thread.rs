//! The busiest threads of the watched processes.

use std::collections::BTreeMap;

use plimsoll_record::metric::thread;
use plimsoll_record::{CounterSet, Source, Subject};

use super::busiest::Busiest;
use super::threads::Thread;
use super::tracker::SharedTracker;
use crate::collector::{Collector, Read};

/// The most threads per process added to the report per read, those that ran most since the last one.
const BUSIEST: usize = 32;
/// The most threads reported per process.
const MAX_REPORTED: usize = 128;
/// A thread that ran less than this between two reads, which are a second apart, replaces no other.
const NOTICEABLE_NS: u64 = 10_000_000;

/// Returns a collector of the busiest threads of the watched processes. In a round in which reading threads would exceed its share of CPU
/// time, it reports nothing.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    // The reported threads of each process.
    let mut reported: BTreeMap<u32, Busiest> = BTreeMap::new();
    Collector::new(move || {
        let tracker = tracker.refreshed();
        if tracker.members.is_empty() {
            return tracker.no_members(Source::Thread);
        }
        if !tracker.has_read_threads() {
            return Vec::new();
        }
        reported.retain(|pid, _| tracker.members.contains_key(pid));
        let mut reads = Vec::new();
        for pid in tracker.members.keys() {
            let Some(threads) = tracker.threads(*pid) else { continue };
            let new = || Busiest::new(BUSIEST, MAX_REPORTED, NOTICEABLE_NS);
            let reported = reported.entry(*pid).or_insert_with(new);
            reported.choose(threads.all.iter().map(|(tid, thread)| (*tid, thread.ran_ns)));
            let known = reported.reported().filter_map(|tid| Some((tid, threads.all.get(&tid)?)));
            reads.extend(known.map(|(tid, thread)| read(*pid, tid, thread)));
        }
        reads
    })
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
