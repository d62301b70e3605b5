//! A cap that is raised while a run goes on.

use plimsoll_plan::Cap;
use plimsoll_record::{Counters, HostSample, Reading};
use serde::{Deserialize, Serialize};

/// A cap of a host, to be raised while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    /// The host's name.
    pub host: String,
    /// What of it.
    pub cap: Cap,
    /// How much there was, in the cap's unit.
    pub before: u64,
    /// How much there is then.
    pub after: u64,
}

impl Raise {
    /// What a run file keeps of it once it is done.
    pub fn reading(&self) -> Reading {
        let unit = self.cap.unit();
        let amounts = [("before", self.before), ("after", self.after)];
        Reading::Ok(amounts.map(|(when, amount)| (format!("{when}_{unit}"), amount)).into())
    }

    /// What a sample of the source `intervention` says was raised.
    pub(crate) fn from_sample(sample: &HostSample, counters: &Counters) -> Option<Self> {
        let cap = Cap::named(&sample.subject)?;
        let amount =
            |when: &str| counters.named(&format!("{when}_{}", cap.unit())).filter(|amount| *amount > 0);
        Some(Self { host: sample.host.to_string(), cap, before: amount("before")?, after: amount("after")? })
    }

    /// How many times as much there is afterwards.
    pub(crate) fn ratio(&self) -> f64 {
        self.after as f64 / self.before as f64
    }
}
