//! What a request uses of one resource of a tier.

use super::doubt::{Doubt, Taken};
use super::terms::{DemandUnit, Goal, Origin, TierResource};
use crate::findings::{Estimate, Part};
use crate::groups::grouped;

/// Shares of a resource that differ by less are as full.
const AS_FULL: f64 = 0.05;

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
    /// The share of the tier's machines whose use by requests is known, above 0. On the others something else uses the resource, which
    /// D leaves out, or nothing was sampled; D counts these as the machines that were sampled.
    pub covered: f64,
    /// U₀: what one machine uses without requests.
    pub idle: f64,
    /// What one machine has; `None` where that is not known.
    pub capacity: Option<f64>,
    /// The largest share of a machine's capacity that was ever seen used; 0 where the capacity is not known.
    pub used_most: f64,
    /// The share that was used at the throughput at which D was found, on the machines that were measured.
    pub used_there: f64,
    /// True if the tier was the limit there.
    pub limits_there: bool,
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

    /// Of several of one resource in runs of the same requests that of the run in which it was used most: at low load a server wakes
    /// up for each request, which costs more than at high load. Of runs in which it was used as much those that the tier limited: a
    /// proxy that waits for the tier behind it is almost full too, and wakes up as often. Of several such runs the dearest.
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

    /// True if this one says more of the limit than a run that used this share of the resource: it was found where much more was
    /// used, or where the tier was the limit, as it was not in that run.
    pub(super) fn is_nearer_to_limit(&self, share: f64, limits: bool) -> bool {
        let is_fuller = self.used_there > share + AS_FULL;
        is_fuller || (self.limits_there && !limits && self.used_there >= share - AS_FULL)
    }

    /// The dearest of several of one resource, of those whose capacity is known if there are such: what else there was
    /// may be of cheaper requests, and how they mix is not known. How full it was seen is that of all of them.
    pub(super) fn dearest(demands: Vec<Self>) -> Vec<Self> {
        // An empty cell does not outweigh a capacity that another row has.
        let is_weighed = |demand: &Self| demand.capacity.is_some() || matches!(demand.origin, Origin::Run(_));
        // A machine may get a pool of another size, so that only the time counts for which a request holds a worker.
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
    /// CPU seconds that a request takes of machines of one core, as the run `one` shows them, in which the core is full.
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
