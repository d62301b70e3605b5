//! The busiest threads of the watched processes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::Reading;

use crate::lookout::SharedLookout;
use crate::source::{Counters, Source};
use crate::threads::{Thread, Threads};

/// Threads of a process that are told of for having run most since the last read.
const BUSIEST: usize = 32;
/// Threads of a process that are told of at all: those that were told of before stay until they end, so that their
/// counters can be followed.
const TOLD_MAX: usize = 128;

/// CPU time, time waiting for a CPU, and switches of the threads of the watched processes.
#[derive(Debug)]
pub(crate) struct BusyThreads {
    lookout: SharedLookout,
    told: BTreeMap<u32, BTreeSet<u32>>,
}

impl BusyThreads {
    pub(crate) fn new(lookout: SharedLookout) -> Self {
        Self { lookout, told: BTreeMap::new() }
    }
}

/// Adds the busiest threads to those told of before, and takes away those that ended.
fn choose(threads: &Threads, told: &mut BTreeSet<u32>) {
    told.retain(|tid| threads.all().contains_key(tid));
    let ran = threads.all().iter().filter(|(_, thread)| thread.ran_ns > 0);
    let mut busiest: Vec<(Reverse<u64>, u32)> =
        ran.map(|(tid, thread)| (Reverse(thread.ran_ns), *tid)).collect();
    busiest.sort_unstable();
    let room = TOLD_MAX.saturating_sub(told.len());
    let new = busiest.into_iter().take(BUSIEST).map(|(_, tid)| tid);
    let new: Vec<u32> = new.filter(|tid| !told.contains(tid)).take(room).collect();
    told.extend(new);
}

fn counters(thread: &Thread) -> Counters {
    let used = &thread.used;
    let values = [
        ("cpu_us", used.run_ns / 1000),
        ("run_wait_us", used.wait_ns / 1000),
        ("voluntary_switches", used.voluntary),
        ("involuntary_switches", used.involuntary),
    ];
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

impl Source for BusyThreads {
    fn name(&self) -> &'static str {
        "thread"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let lookout = self.lookout.look();
        if lookout.members().is_empty() {
            return lookout.nobody();
        }
        self.told.retain(|pid, _| lookout.members().contains_key(pid));
        let mut readings = Vec::new();
        for pid in lookout.members().keys() {
            let Some(threads) = lookout.threads(*pid) else { continue };
            let told = self.told.entry(*pid).or_default();
            choose(threads, told);
            let thread = |tid: &u32| threads.all().get(tid).map(|thread| (*tid, thread));
            readings.extend(told.iter().filter_map(thread).map(|(tid, thread)| {
                (format!("{pid}/{tid} {}", thread.name), Reading::Ok(counters(thread).into()))
            }));
        }
        readings
    }
}
