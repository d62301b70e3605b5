//! What the threads of the watched processes wait for.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::waiting;
use plimsoll_record::{CounterSet, Source, Subject};

use super::tracker::SharedTracker;
use crate::collector::{Collector, Missing, Read};
use sampler::{Found, WchanSampler};

mod class;
mod sampler;

/// Where the threads of each watched process were found, some ten times a second, counted since the process was first
/// watched. A process whose threads this user may not read has no classes, and the source reports a failure.
#[derive(Debug)]
pub(crate) struct Waiting {
    tracker: SharedTracker,
    sampler: Result<WchanSampler, String>,
}

impl Waiting {
    pub(crate) fn new(tracker: SharedTracker) -> Self {
        let (proc, members) = tracker.shared_members();
        let sampler = WchanSampler::start(proc, members);
        Self {
            tracker,
            sampler: sampler.map_err(|error| format!("could not start a thread that samples: {error}")),
        }
    }
}

fn counters(found: &Found) -> CounterSet {
    let mut counters = CounterSet::from([
        (waiting::LOOKS, found.samples),
        (waiting::RUNNING, found.running),
        (waiting::RUNNABLE, found.runnable),
        (waiting::DISK, found.disk),
    ]);
    if !found.is_closed() {
        counters.extend(found.classes.iter().map(|(class, count)| (class.metric(), *count)));
    }
    counters
}

/// A failed read for processes whose threads may not be read.
fn closed(names: &BTreeSet<&str>) -> Option<Read> {
    let names: Vec<&str> = names.iter().copied().collect();
    let why = format!(
        "could not see where the threads of {} wait: /proc/PID/wchan is closed to this user; \
         run as root or as the process's user",
        names.join(", ")
    );
    (!names.is_empty()).then(|| Read::new(Source::Waiting, Subject::Host, Err(Missing::Failed(why))))
}

impl Collector for Waiting {
    fn read(&mut self) -> Vec<Read> {
        let tracker = self.tracker.refreshed();
        if tracker.members().is_empty() {
            return tracker.no_members(Source::Waiting);
        }
        let sampler = match &self.sampler {
            Ok(sampler) => sampler,
            Err(why) => return Read::host(Source::Waiting, Err(Missing::Failed(why.clone()))),
        };
        let found: BTreeMap<u32, Found> = sampler.found();
        let members = tracker.members().values();
        let members: Vec<_> = members.filter_map(|member| Some((member, found.get(&member.pid)?))).collect();
        let names =
            members.iter().filter(|(_, found)| found.is_closed()).map(|(member, _)| member.name.as_str());
        let failure = closed(&names.collect());
        let reads = members
            .iter()
            .map(|(member, found)| Read::new(Source::Waiting, member.subject(), Ok(counters(found))));
        reads.chain(failure).collect()
    }

    fn threads_cpu_us(&self) -> u64 {
        self.sampler.as_ref().map_or(0, WchanSampler::cpu_us)
    }
}

#[cfg(test)]
mod tests;
