//! The use of hosts during a run, from their samples as they arrive.

use std::collections::BTreeSet;

use plimsoll_record::{HostSample, Manifest, Run};

use crate::Resource;
use crate::timeline::used_between;

/// The length of the window over which use is computed, and the interval between two computations, in nanoseconds.
const SPAN_NS: u64 = 2_000_000_000;
const EVERY_NS: u64 = 1_000_000_000;

/// The recent samples of a run. Memory use does not grow with the length of the run.
#[derive(Debug)]
pub struct RecentUse {
    run: Run,
    /// When the use was last computed, in nanoseconds since the run began.
    found_ns: u64,
}

impl RecentUse {
    /// Starts for a run that begins.
    pub fn new(manifest: Manifest) -> Self {
        Self { run: Run::begun(manifest), found_ns: 0 }
    }

    /// Adds a sample; once a second, returns the use of each resource over the last two seconds.
    pub fn add(&mut self, sample: &HostSample) -> Option<Vec<Resource>> {
        let now_ns = sample.ended_ns;
        self.run.hosts.push(sample.clone());
        if now_ns.saturating_sub(self.found_ns) < EVERY_NS {
            return None;
        }
        self.found_ns = now_ns;
        let from_ns = now_ns.saturating_sub(SPAN_NS);
        forget(&mut self.run, from_ns.saturating_sub(SPAN_NS));
        Some(used_between(&self.run, from_ns, now_ns))
    }
}

/// Drops the samples that ended before this instant, except the last one of a subject without later samples: its values do not change.
fn forget(run: &mut Run, before_ns: u64) {
    let (old, mut kept): (Vec<HostSample>, Vec<HostSample>) =
        std::mem::take(&mut run.hosts).into_iter().partition(|sample| sample.ended_ns < before_ns);
    let key = |sample: &HostSample| (sample.host.clone(), sample.source.clone(), sample.subject.clone());
    let again: BTreeSet<_> = kept.iter().map(key).collect();
    let mut once: Vec<HostSample> = old.into_iter().filter(|sample| !again.contains(&key(sample))).collect();
    // Keeps the last one of each.
    let mut seen = BTreeSet::new();
    once.reverse();
    once.retain(|sample| seen.insert(key(sample)));
    once.reverse();
    kept.splice(0..0, once);
    run.hosts = kept;
}
