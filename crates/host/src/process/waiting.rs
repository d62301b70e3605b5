//! What the threads of the watched processes wait for, by sampling.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_record::metric::waiting;
use plimsoll_record::{CounterSet, Source, Subject};

use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Missing, Read};
use class::METRICS;
use sampler::{Found, WchanSampler};

mod class;
mod sampler;

/// Returns a collector of the states and wait classes in which threads of each watched process were found, sampled about ten
/// times a second and counted since the process was first watched. A process whose threads this user may not read has no
/// classes, and the source also reports a failure.
pub(crate) fn collector(tracker: SharedTracker) -> Collector {
    let (proc, members) = tracker.shared_members();
    let sampler = WchanSampler::start(proc, members)
        .map_err(|error| Missing::Failed(format!("could not start a thread that samples: {error}")));
    let thread_cpu_us = sampler.as_ref().map(|sampler| Arc::clone(&sampler.cpu_us)).unwrap_or_default();
    let read = move || match (&sampler, tracker.refreshed()) {
        (_, tracker) if tracker.members.is_empty() => tracker.no_members(Source::Waiting),
        (Ok(sampler), tracker) => reads(&tracker, &sampler.found()),
        (Err(missing), _) => Read::host(Source::Waiting, Err(missing.clone())),
    };
    Collector { thread_cpu_us, ..Collector::new(read) }
}

fn reads(tracker: &ProcessTracker, found: &BTreeMap<u32, Found>) -> Vec<Read> {
    let found = || tracker.members.values().filter_map(|member| Some((member, found.get(&member.pid)?)));
    let names = found().filter(|(_, found)| found.is_closed()).map(|(member, _)| member.name.as_str());
    let failure = closed(&names.collect());
    let reads =
        found().map(|(member, found)| Read::new(Source::Waiting, member.subject(), Ok(counters(found))));
    reads.chain(failure).collect()
}

fn counters(found: &Found) -> CounterSet {
    let mut counters = CounterSet::from([
        (waiting::LOOKS, found.samples),
        (waiting::RUNNING, found.running),
        (waiting::RUNNABLE, found.runnable),
        (waiting::DISK, found.disk),
    ]);
    if !found.is_closed() {
        counters.extend(METRICS.into_iter().zip(found.classes));
    }
    counters
}

/// Returns a failed read that names the processes whose threads this user may not read; `None` if there are none.
fn closed(names: &BTreeSet<&str>) -> Option<Read> {
    let names: Vec<&str> = names.iter().copied().collect();
    let why = format!(
        "could not see where the threads of {} wait: /proc/PID/wchan is closed to this user; \
         run as root or as the process's user",
        names.join(", ")
    );
    (!names.is_empty()).then(|| Read::new(Source::Waiting, Subject::Host, Err(Missing::Failed(why))))
}

#[cfg(test)]
mod tests;
