//! The demand of a tier: what a request uses of one of its resources.

use super::doubt::{Doubt, Taken};
use super::terms::{DemandUnit, Goal, Origin, TierResource};
use crate::findings::{Estimate, Part};
use crate::groups::grouped;

/// Utilisations that differ by less than this count as equal.
const AS_FULL: f64 = 0.05;

/// What a request uses of one resource, in all machines of a tier together.
#[derive(Debug, Clone, PartialEq)]
pub struct TierDemand {
    pub resource: TierResource,
    /// The part of a machine that the resource is.
    pub part: Part,
    /// The unit of `per_request` (times seconds), `idle` and `capacity`.
    pub unit: DemandUnit,
    /// D, with its 95 % interval where it is known.
    pub per_request: Estimate,
    /// The share of the tier's machines whose use by requests is known, above 0. Left out are machines that were not sampled, which D
    /// counts like the sampled ones, and machines on which something else uses the resource, which D ignores.
    pub covered: f64,
    /// U₀: what one machine uses without requests.
    pub idle: f64,
    /// Capacity of one machine; `None` where it is not known.
    pub capacity: Option<f64>,
    /// The highest utilisation that was observed; 0 where the capacity is not known.
    pub used_most: f64,
    /// The utilisation at the throughput at which D was found, on the machines that were measured.
    pub used_there: f64,
    /// True if the tier was the limit at that throughput.
    pub limits_there: bool,
    pub origin: Origin,
}

impl TierDemand {
    /// Machines that one request per second occupies; ranks demands from different sources. Without a capacity it is the amount
    /// itself.
    pub(super) fn weight(&self) -> f64 {
        self.per_request.value / self.capacity.unwrap_or(1.0)
    }

    /// Why nothing can be planned by this demand although its capacity is known; `None` if that is possible.
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

    /// Selects one demand for each resource, from runs of the same requests: the demand at the highest utilisation, since at low load
    /// a server wakes up for each request, which costs more. Among runs of equal utilisation, runs that the tier limited come first: a
    /// proxy that waits for the tier behind it is almost full too, and wakes up as often. Of these the dearest counts.
    pub(super) fn fullest(demands: Vec<Self>) -> Vec<Self> {
        let alike = grouped(demands, |a, b| a.resource == b.resource);
        Self::dearest(alike.into_iter().flat_map(Self::fullest_of_one).collect())
    }

    fn fullest_of_one(mut demands: Vec<Self>) -> Vec<Self> {
        let most = demands.iter().map(|demand| demand.used_there).fold(0.0, f64::max);
        demands.retain(|demand| demand.used_there >= most - AS_FULL);
        if demands.iter().any(|demand| demand.limits_there) {
            demands.retain(|demand| demand.limits_there);
        }
        demands
    }

    /// True if this demand shows the cost near the limit better than a run that used `share` of the resource: it was found at much
    /// higher utilisation, or where the tier was the limit and in that run it was not.
    pub(super) fn is_nearer_to_limit(&self, share: f64, limits: bool) -> bool {
        let is_fuller = self.used_there > share + AS_FULL;
        is_fuller || (self.limits_there && !limits && self.used_there >= share - AS_FULL)
    }

    /// The dearest demand of each resource, from those with a known capacity if there are such. Cheaper demands may be of cheaper
    /// requests, and the mix is not known. `used_most` is the highest of all demands.
    pub(super) fn dearest(demands: Vec<Self>) -> Vec<Self> {
        // A demand without a capacity, from an empty cell, does not outweigh one with a capacity.
        let is_weighed = |demand: &Self| demand.capacity.is_some() || matches!(demand.origin, Origin::Run(_));
        // A machine may get a pool of another size, so that a pool is compared by the time for which a request holds a worker.
        let cost = |demand: &Self| match demand.resource {
            TierResource::Pool => demand.per_request.value,
            _ => demand.weight(),
        };
        let rank = |demand: &Self| (is_weighed(demand), cost(demand));
        let dearer = |a: Self, b: Self| {
            let used_most = a.used_most.max(b.used_most);
            Self { used_most, ..if rank(&b) > rank(&a) { b } else { a } }
        };
        let alike = grouped(demands, |a, b| a.resource == b.resource);
        alike.into_iter().filter_map(|demands| demands.into_iter().reduce(dearer)).collect()
    }
}

#[cfg(test)]
impl TierDemand {
    /// CPU seconds of a request on machines of one core, as run `one` shows them with that core full.
    pub(super) fn of_core(per_request: Estimate) -> Self {
        Self {
            resource: TierResource::Cpu,
            part: Part::Whole,
            unit: DemandUnit::Cores,
            per_request,
            covered: 1.0,
            idle: 0.0,
            capacity: Some(1.0),
            used_most: 1.0,
            used_there: 1.0,
            limits_there: true,
            origin: Origin::Run("one".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(run: &str, per_request: f64, used_there: f64) -> TierDemand {
        let origin = Origin::Run(run.to_owned());
        let of_core = TierDemand::of_core(Estimate::exact(per_request));
        TierDemand { used_there, limits_there: false, origin, ..of_core }
    }

    fn names(demands: &[TierDemand]) -> Vec<&Origin> {
        demands.iter().map(|demand| &demand.origin).collect()
    }

    #[test]
    fn the_run_that_used_most_of_a_resource_says_what_a_request_costs_it() {
        let idle = demand("idle", 56e-6, 0.3);
        let (full, as_full) = (demand("full", 37e-6, 1.0), demand("as full", 40e-6, 0.97));
        assert_eq!(names(&TierDemand::fullest(vec![idle.clone(), full.clone()])), [&full.origin]);
        let found = TierDemand::fullest(vec![idle.clone(), full.clone(), as_full.clone()]);
        assert_eq!(names(&found), [&as_full.origin], "of two that are as full the dearer");
        assert_eq!(names(&TierDemand::dearest(vec![idle.clone(), full])), [&idle.origin]);
    }

    #[test]
    fn of_pools_of_two_sizes_that_counts_in_which_a_request_holds_a_worker_longest() {
        let pool = |run: &str, workers: f64, per_sec: f64| TierDemand {
            resource: TierResource::Pool,
            unit: DemandUnit::Workers,
            capacity: Some(workers),
            ..demand(run, workers / per_sec, 1.0)
        };
        let found = TierDemand::dearest(vec![pool("small", 16.0, 600.0), pool("large", 32.0, 1_100.0)]);
        assert_eq!(names(&found), [&Origin::Run("large".to_owned())]);
    }

    #[test]
    fn of_runs_that_are_as_full_the_one_that_the_tier_limits_counts() {
        let behind = demand("its API limits", 45e-6, 0.98);
        let limits = TierDemand { limits_there: true, ..demand("it limits", 28e-6, 0.96) };
        let idle = TierDemand { limits_there: true, ..demand("it limits, by a thread", 60e-6, 0.5) };
        let found = TierDemand::fullest(vec![behind.clone(), limits.clone(), idle]);
        assert_eq!(names(&found), [&limits.origin]);
        assert!(limits.is_nearer_to_limit(behind.used_there, false));
        assert!(!limits.is_nearer_to_limit(behind.used_there, true), "the tier is the limit in both");
        assert!(!behind.is_nearer_to_limit(limits.used_there, true));
    }
}
