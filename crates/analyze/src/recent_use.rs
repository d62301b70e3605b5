//! What hosts use while a run goes on, from their samples as they come.

use std::collections::BTreeSet;

use plimsoll_record::{HostSample, Manifest, Run};

use crate::Resource;
use crate::timeline::used_between;

/// The use is that of so long, and is found again so often, in nanoseconds.
const SPAN_NS: u64 = 2_000_000_000;
const EVERY_NS: u64 = 1_000_000_000;

/// The samples of the last while. An hour of them takes no more memory than a few seconds.
#[derive(Debug)]
pub struct RecentUse {
    run: Run,
    /// When the use was found last, in nanoseconds since the run began.
    found_ns: u64,
}

impl RecentUse {
    /// Of a run that begins.
    pub fn new(manifest: Manifest) -> Self {
        Self { run: Run::begun(manifest), found_ns: 0 }
    }

    /// Takes in a sample; once a second, what was used of each resource over the last two.
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

/// Forgets the samples that ended before this instant; those of what was not sampled again stay, as they are of what does not change.
fn forget(run: &mut Run, before_ns: u64) {
    let (old, mut kept): (Vec<HostSample>, Vec<HostSample>) =
        std::mem::take(&mut run.hosts).into_iter().partition(|sample| sample.ended_ns < before_ns);
    let key = |sample: &HostSample| (sample.host.clone(), sample.source.clone(), sample.subject.clone());
    let again: BTreeSet<_> = kept.iter().map(key).collect();
    let mut once: Vec<HostSample> = old.into_iter().filter(|sample| !again.contains(&key(sample))).collect();
    // The last one of each.
    let mut seen = BTreeSet::new();
    once.reverse();
    once.retain(|sample| seen.insert(key(sample)));
    once.reverse();
    kept.splice(0..0, once);
    run.hosts = kept;
}
