//! Where growth stops with the machines that were measured.

use super::terms::{DemandUnit, TierResource};
use crate::groups::firsts;
use crate::{Estimate, Limit, Place};

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
    /// The share of it that was used where that was found.
    pub used_there: f64,
    /// False where it was not observed there, and what a request costs elsewhere tells it.
    pub seen: bool,
    /// The counts of machines between which the tier was seen to scale, and how well: 1 for in proportion.
    pub scaled: Option<(f64, f64, f64)>,
}

/// A tier and how many machines of it there are; tables may have halves.
#[derive(Debug, Clone, PartialEq)]
pub struct TierMachines {
    pub tier: String,
    pub machines: f64,
}

/// The load that growth starts from.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthStart {
    /// Its throughput, requests per second.
    pub per_sec: f64,
    /// Where that was: a row, a run.
    pub at: String,
    /// The number of its requests.
    pub kind: usize,
    /// What limited it.
    pub limit: Limit,
    /// Locks and dependencies that may have limited it as well.
    pub also: Vec<(Limit, Place)>,
    /// The tiers whose machines are known.
    pub machines: Vec<TierMachines>,
}

/// Where throughput stops growing if no machine is added, the first stop first.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    pub from: GrowthStart,
    pub stops: Vec<Stop>,
}

/// Use beyond the capacity by less than this ratio is a reading that is off, and not a smaller machine than was measured.
const MAX_OVER: f64 = 1.1;

impl Stop {
    /// The throughput at which nothing is left of it in so many machines of the tier, each with the load of those that were measured:
    /// (n/m)·(X + (c − U)/D).
    pub(super) fn with_machines(&self, machines: f64, from_per_sec: f64) -> Estimate {
        let is_full = (1.0..MAX_OVER).contains(&(self.used / self.capacity));
        let left = if is_full { 0.0 } else { self.capacity - self.used };
        let reach =
            |per_request: f64| (machines / self.machines * (from_per_sec + left / per_request)).max(0.0);
        let ends = self.per_request.interval.filter(|(low, _)| *low > 0.0);
        let ends = ends.map(|(low, high)| (reach(low), reach(high)));
        let interval = ends.map(|(one, other)| (one.min(other), one.max(other)));
        Estimate { value: reach(self.per_request.value), interval }
    }

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
    pub(super) fn new(from: GrowthStart, mut stops: Vec<Stop>) -> Option<Self> {
        let from_per_sec = from.per_sec;
        stops.retain(|stop| stop.per_request.value > 0.0 && stop.capacity > 0.0);
        stops.sort_by(|a, b| a.at_per_sec(from_per_sec).value.total_cmp(&b.at_per_sec(from_per_sec).value));
        // Of several machines of a tier the one that is full first stands for it.
        let stops = firsts(stops, |a, b| (&a.tier, a.resource) == (&b.tier, b.resource));
        (!stops.is_empty()).then_some(Self { from, stops })
    }
}
