//! What a request uses of one resource of a tier.

use super::doubt::{Doubt, Taken};
use super::terms::{DemandUnit, Goal, Origin, TierResource};
use crate::findings::{Estimate, Part};
use crate::groups::grouped;

/// What a request uses of one resource, in all machines of a tier together.
#[derive(Debug, Clone, PartialEq)]
pub struct TierDemand {
    pub resource: TierResource,
    /// What of a machine it is of.
    pub part: Part,
    /// The unit of `per_request` (times seconds), `idle` and `capacity`.
    pub unit: DemandUnit,
    /// D, with its 95 % interval where it is known.
    pub per_request: Estimate,
    /// U₀: what one machine uses without requests.
    pub idle: f64,
    /// What one machine has; `None` where that is not known.
    pub capacity: Option<f64>,
    /// The largest share of a machine's capacity that was ever seen used; 0 where the capacity is not known.
    pub used_most: f64,
    pub origin: Origin,
}

impl TierDemand {
    /// Machines that one request per second takes up, by which demands from different sources are compared. Without a capacity
    /// it is the amount itself.
    pub(super) fn weight(&self) -> f64 {
        self.per_request.value / self.capacity.unwrap_or(1.0)
    }

    /// Why nothing is planned by it although its capacity is known, if that is so.
    pub(super) fn doubt(&self, goal: Goal) -> Option<Doubt> {
        let used_up = self.capacity.is_some_and(|capacity| capacity * goal.utilisation <= self.idle);
        let (idle, unit, resource) = (self.idle, self.unit, self.resource);
        used_up.then_some(Doubt::IdleUsesAll { idle, unit, resource })
    }

    /// What the target takes of resources whose capacity is not known.
    pub(super) fn without_capacity(demands: &[Self], goal: Goal) -> Option<Doubt> {
        let taken = |demand: &Self| Taken {
            amount: goal.target_per_sec * demand.per_request.value,
            unit: demand.unit,
            resource: demand.resource,
        };
        let unknown = demands.iter().filter(|demand| demand.capacity.is_none());
        let taken: Vec<Taken> = unknown.map(taken).collect();
        (!taken.is_empty()).then_some(Doubt::NoCapacity(taken))
    }

    /// The dearest of several of one resource, of those whose capacity is known if there are such: what else there was
    /// may be of cheaper requests, and how they mix is not known. How full it was seen is that of all of them.
    pub(super) fn dearest(demands: Vec<Self>) -> Vec<Self> {
        // An empty cell does not outweigh a capacity that another row has.
        let is_weighed = |demand: &Self| demand.capacity.is_some() || matches!(demand.origin, Origin::Run(_));
        let rank = |demand: &Self| (is_weighed(demand), demand.weight());
        let dearer = |a: Self, b: Self| {
            let used_most = a.used_most.max(b.used_most);
            Self { used_most, ..if rank(&b) > rank(&a) { b } else { a } }
        };
        let alike = grouped(demands, |a, b| a.resource == b.resource);
        alike.into_iter().filter_map(|demands| demands.into_iter().reduce(dearer)).collect()
    }
}
