//! Where growth stops with the machines that were measured.

use super::terms::{DemandUnit, TierResource};
use crate::groups::firsts;
use crate::{Estimate, Place};

/// A resource of a tier on its way to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub tier: String,
    pub resource: TierResource,
    /// The part of a machine that it is; `None` for the machine itself.
    pub place: Option<Place>,
    pub machines: f64,
    /// The unit of `used` and `capacity`.
    pub unit: DemandUnit,
    /// What one machine used at the throughput that growth starts from.
    pub used: f64,
    pub capacity: f64,
    /// What one more request per second uses of one machine.
    pub per_request: Estimate,
    /// False where it was not observed there, and what a request costs elsewhere tells it.
    pub seen: bool,
    /// The counts of machines between which the tier was seen to scale, and how well: 1 for in proportion.
    pub scaled: Option<(f64, f64, f64)>,
}

/// Where throughput stops growing if no machine is added, the first stop first.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The highest throughput that was measured, requests per second.
    pub from_per_sec: f64,
    /// Where that was: a row, a run.
    pub at: String,
    pub stops: Vec<Stop>,
}

impl Stop {
    /// The throughput at which nothing is left of it: X + (c − U)/D, from where it was measured.
    pub fn at_per_sec(&self, from_per_sec: f64) -> Estimate {
        let left = (self.capacity - self.used).max(0.0);
        let reach = |per_request: f64| from_per_sec + left / per_request;
        let interval = self.per_request.interval.filter(|(low, _)| *low > 0.0);
        Estimate {
            value: reach(self.per_request.value),
            interval: interval.map(|(low, high)| (reach(high), reach(low))),
        }
    }
}

impl Growth {
    /// The stops in their order; those that nothing would ever reach are left out.
    pub(super) fn new(from_per_sec: f64, at: &str, mut stops: Vec<Stop>) -> Option<Self> {
        stops.retain(|stop| stop.per_request.value > 0.0 && stop.capacity > 0.0);
        stops.sort_by(|a, b| a.at_per_sec(from_per_sec).value.total_cmp(&b.at_per_sec(from_per_sec).value));
        // Of several machines of a tier the one that is full first stands for it.
        let stops = firsts(stops, |a, b| (&a.tier, a.resource) == (&b.tier, b.resource));
        (!stops.is_empty()).then(|| Self { from_per_sec, at: at.to_owned(), stops })
    }
}
