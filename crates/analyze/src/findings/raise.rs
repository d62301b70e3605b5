//! A cap that is raised while a run goes on.

use plimsoll_plan::Cap;
use plimsoll_record::metric::intervention;
use plimsoll_record::{Counters, HostSample, Metric, Reading};
use serde::{Deserialize, Serialize};

/// A cap of a host, to be raised while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    pub host: String,
    pub cap: Cap,
    /// Its value before, in the cap's unit.
    pub before: u64,
    /// Its value afterwards, in the cap's unit.
    pub after: u64,
}

impl Raise {
    /// The reading that a run file keeps of it once it is done.
    pub fn reading(&self) -> Reading {
        let (before, after) = metrics(self.cap);
        Reading::Ok([(before, self.before), (after, self.after)].into())
    }

    /// Parses a sample of the source `intervention`; `None` if it names no cap or lacks an amount.
    pub(crate) fn from_sample(sample: &HostSample, counters: &Counters) -> Option<Self> {
        let cap = Cap::named(&sample.subject)?;
        let (before, after) = metrics(cap);
        let amount = |metric| counters.get(metric).filter(|amount| *amount > 0);
        Some(Self { host: sample.host.to_string(), cap, before: amount(before)?, after: amount(after)? })
    }

    /// The value afterwards over the value before.
    pub(crate) fn ratio(&self) -> f64 {
        self.after as f64 / self.before as f64
    }
}

/// The metrics of a cap's value before and afterwards.
fn metrics(cap: Cap) -> (Metric, Metric) {
    match cap {
        Cap::Cores => (intervention::BEFORE_CORES_MILLI, intervention::AFTER_CORES_MILLI),
        Cap::LinkOut | Cap::LinkIn => (intervention::BEFORE_BITS_PER_SEC, intervention::AFTER_BITS_PER_SEC),
        Cap::Packets => (intervention::BEFORE_PACKETS_PER_SEC, intervention::AFTER_PACKETS_PER_SEC),
        Cap::Memory => (intervention::BEFORE_BYTES, intervention::AFTER_BYTES),
        Cap::Disk => (intervention::BEFORE_BYTES_PER_SEC, intervention::AFTER_BYTES_PER_SEC),
    }
}
