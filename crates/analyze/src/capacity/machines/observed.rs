//! What runs or a table tell of tiers, before a target is asked for.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::Growth;
use super::scaling::Scaling;

/// The most that a tier was seen to carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    pub throughput_per_sec: f64,
    pub machines: f64,
    /// Where that was: a row, a run.
    pub at: String,
}

/// One tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedTier {
    pub name: String,
    /// What a request uses of each of its resources, each once.
    pub demands: Vec<TierDemand>,
    /// The most it was seen to carry.
    pub carried: Option<Carried>,
    pub scaling: Option<Scaling>,
    /// True where it was stopped by something that no demand is of: a lock, a dependency.
    pub stopped_otherwise: bool,
    pub doubts: Vec<Doubt>,
}

/// All tiers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The tiers, in the order in which they were named.
    pub tiers: Vec<ObservedTier>,
    pub growth: Option<Growth>,
    pub remarks: Vec<Remark>,
}

impl Observed {
    /// The tier of this name, made if it is not there.
    pub(super) fn tier(&mut self, name: &str) -> &mut ObservedTier {
        let index = self.tiers.iter().position(|tier| tier.name == name).unwrap_or_else(|| {
            self.tiers.push(ObservedTier { name: name.to_owned(), ..ObservedTier::default() });
            self.tiers.len() - 1
        });
        &mut self.tiers[index]
    }
}

impl ObservedTier {
    /// Remembers what it carried, if that is the most so far.
    pub(super) fn carries(&mut self, throughput_per_sec: f64, machines: f64, at: &str) {
        let most = self.carried.as_ref().map_or(0.0, |carried| carried.throughput_per_sec);
        if throughput_per_sec > most {
            self.carried = Some(Carried { throughput_per_sec, machines, at: at.to_owned() });
        }
    }
}
