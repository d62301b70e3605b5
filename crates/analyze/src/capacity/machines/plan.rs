//! Computes the machines of each tier from the observations.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::Growth;
use super::observed::{Carried, Observed, ObservedTier, ScalingBefore, SizedDemands};
use super::scaling::Scaling;
use super::size::MachineSize;
use super::terms::{Goal, MAX_MACHINES};

/// A number of machines, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machines {
    pub count: u64,
    /// The number at both ends of the intervals of the demands: the largest over all resources, where a demand without an interval
    /// counts with its value. `None` where no interval is known.
    pub range: Option<(u64, u64)>,
    /// True where more may be needed: the tier was never near its limit, the use of some of its machines is not known, or it was
    /// stopped by something that this number does not account for.
    pub at_least: bool,
}

/// The machines that one resource of a tier requires.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// The resource, and what a request uses of it.
    pub demand: TierDemand,
    /// Machines, not yet rounded up.
    pub machines: f64,
    /// Machines at both ends of the demand's interval.
    pub range: Option<(f64, f64)>,
}

impl Need {
    /// Machines if those whose use by requests is not known use as much as the others.
    fn with_all_machines(&self) -> f64 {
        self.machines / self.demand.covered
    }

    fn too_many(&self) -> Option<Doubt> {
        (self.machines > MAX_MACHINES as f64).then_some(Doubt::TooMany(self.demand.resource))
    }
}

/// One tier of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct TierPlan {
    pub tier: String,
    /// `None` where nothing was observed, where no number is enough, and where that cannot be decided.
    pub machines: Option<Machines>,
    pub needs: Vec<Need>,
    /// Throughput of one machine of each observed size at the utilisation of the goal, the smallest size first.
    pub sizes: Vec<SizeRate>,
    pub carried: Option<Carried>,
    pub scaling: Option<Scaling>,
    pub doubts: Vec<Doubt>,
}

/// The throughput of one machine of a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeRate {
    pub size: MachineSize,
    /// True if the plan is for machines of this size.
    pub is_planned: bool,
    /// Requests per second; `None` where no capacity is known.
    pub per_sec: Option<f64>,
}

/// The machines for a target rate.
#[derive(Debug, Clone, PartialEq)]
pub struct MachinePlan {
    pub goal: Goal,
    /// The tiers in the order in which requests reach them, as far as that is known.
    pub tiers: Vec<TierPlan>,
    pub growth: Option<Growth>,
    pub remarks: Vec<Remark>,
}

/// Plans the machines of each tier for the goal.
pub fn plan_machines(observed: &Observed, goal: Goal) -> MachinePlan {
    MachinePlan {
        goal,
        tiers: observed.tiers.iter().map(|tier| tier_plan(tier, goal)).collect(),
        growth: observed.growth.clone(),
        remarks: observed.remarks.clone(),
    }
}

fn tier_plan(tier: &ObservedTier, goal: Goal) -> TierPlan {
    let mut needs: Vec<Need> = tier.demands.iter().filter_map(|demand| need(demand, goal)).collect();
    needs.sort_by(|a, b| b.machines.total_cmp(&a.machines));
    let mut doubts = tier.doubts.clone();
    doubts.extend(tier.demands.iter().filter_map(|demand| demand.doubt(goal)));
    doubts.extend(TierDemand::without_capacity(&tier.demands, goal));
    let never_near = needs.first().is_some_and(|need| need.demand.used_most < goal.utilisation);
    if let Some(need) = needs.first().filter(|_| never_near) {
        doubts.push(Doubt::NeverNear { share: need.demand.used_most, resource: need.demand.resource });
    }
    let by_law = tier.scaling.as_ref().map_or(Ok(0), |scaling| scaling.machines(goal));
    if let Err(most_per_sec) = by_law {
        doubts.push(Doubt::NeverByLaw { most_per_sec });
    }
    let too_many = needs.first().and_then(Need::too_many);
    // More machines do not help where an idle one uses more than may be used.
    let idles_full = tier.demands.iter().any(|demand| demand.doubt(goal).is_some());
    let known = needs.first().zip(by_law.ok()).filter(|_| !idles_full && too_many.is_none());
    doubts.extend(too_many);
    let machines = known.and_then(|(need, by_law)| {
        let count = whole(need.machines).max(by_law);
        if let Some(fall) = tier.scaling.as_ref().and_then(|scaling| scaling.fall(goal, count)) {
            doubts.push(fall);
            return None;
        }
        let contended = tier.scaling.as_ref().and_then(|scaling| scaling.contended(goal, count));
        let may_take_more = needs.iter().any(|other| other.with_all_machines() > need.machines);
        let before = tier.scaling_before.as_ref().filter(|_| count > 1);
        let before = before.and_then(ScalingBefore::below_linear).map(Scaling::doubt_after_change);
        let may_scale_less = contended.is_some() || before.is_some();
        let at_least = never_near || may_take_more || !tier.halts.is_empty() || may_scale_less;
        doubts.extend(contended.into_iter().chain(before));
        Some(Machines { count, range: range(&needs, by_law), at_least })
    });
    if let Some((scaling, machines)) = tier.scaling.as_ref().zip(machines) {
        doubts.extend(scaling.doubt(machines.count));
    }
    let size_rate = |sized: &SizedDemands| SizeRate {
        size: sized.size,
        is_planned: sized.is_planned,
        per_sec: rate_of_machine(&sized.demands, goal.utilisation).map(|(per_sec, _)| per_sec),
    };
    TierPlan {
        tier: tier.name.clone(),
        machines,
        needs,
        sizes: tier.sizes.iter().map(size_rate).collect(),
        carried: tier.carried.clone(),
        scaling: tier.scaling.clone(),
        doubts,
    }
}

/// See [`Machines::range`].
fn range(needs: &[Need], by_law: u64) -> Option<(u64, u64)> {
    let ends = |need: &Need| need.range.unwrap_or((need.machines, need.machines));
    let (low, high) = needs.iter().map(ends).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
    let is_known = needs.iter().any(|need| need.range.is_some());
    is_known.then(|| (whole(low).max(by_law), whole(high).max(by_law)))
}

/// Rounds up; an excess over a whole number within rounding error needs no extra machine.
fn whole(machines: f64) -> u64 {
    (machines * (1.0 - 1e-9)).ceil().max(1.0) as u64
}

/// Requests per second of one machine at this utilisation, and the demand that limits it: the lowest (c·U − U₀)/D. `None` where no
/// capacity is known.
pub(super) fn rate_of_machine(demands: &[TierDemand], utilisation: f64) -> Option<(f64, &TierDemand)> {
    let rate = |demand: &TierDemand| {
        let left = demand.capacity? * utilisation - demand.idle;
        Some(left.max(0.0) / demand.per_request.value).filter(|rate| rate.is_finite())
    };
    let rates = demands.iter().filter_map(|demand| Some((rate(demand)?, demand)));
    rates.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The machines that a demand requires, not rounded up; `None` where the capacity is not known or idle use exhausts it.
fn need(demand: &TierDemand, goal: Goal) -> Option<Need> {
    let left = demand.capacity.map(|capacity| capacity * goal.utilisation - demand.idle)?;
    let by = |per_request: f64| goal.target_per_sec * per_request / left;
    (left > 0.0).then(|| Need {
        demand: demand.clone(),
        machines: by(demand.per_request.value),
        range: demand.per_request.interval.map(|(low, high)| (by(low.max(0.0)), by(high))),
    })
}

#[cfg(test)]
mod tests {
    use super::super::terms::TierResource;
    use super::*;
    use crate::Estimate;

    const GOAL: Goal = Goal { target_per_sec: 1_000.0, utilisation: 1.0 };

    /// What a request takes of one core, with its interval, in milliseconds.
    fn demand(resource: TierResource, ms: f64, interval_ms: Option<(f64, f64)>) -> TierDemand {
        let interval = interval_ms.map(|(low, high)| (1e-3 * low, 1e-3 * high));
        TierDemand { resource, ..TierDemand::of_core(Estimate { value: 1e-3 * ms, interval }) }
    }

    fn planned(demands: Vec<TierDemand>, goal: Goal) -> TierPlan {
        tier_plan(&ObservedTier { name: "api".to_owned(), demands, ..ObservedTier::default() }, goal)
    }

    #[test]
    fn no_end_of_the_interval_is_below_what_another_resource_asks_for() {
        let range = |cpu: Option<(f64, f64)>, thread: f64, of_thread: Option<(f64, f64)>| {
            let demands =
                vec![demand(TierResource::Cpu, 10.0, cpu), demand(TierResource::Thread, thread, of_thread)];
            let machines = planned(demands, GOAL).machines.unwrap();
            assert_eq!(machines.count, 10);
            machines.range
        };
        assert_eq!(range(Some((4.0, 16.0)), 9.5, Some((9.4, 9.6))), Some((10, 16)));
        assert_eq!(range(None, 9.0, Some((2.0, 30.0))), Some((10, 30)));
        assert_eq!(range(Some((4.0, 16.0)), 6.0, None), Some((6, 16)));
        assert_eq!(range(None, 9.0, None), None);
    }

    #[test]
    fn a_target_that_takes_more_machines_than_there_are_has_no_number() {
        let goal = Goal { target_per_sec: 1e25, ..GOAL };
        let plan = planned(vec![demand(TierResource::Cpu, 1.0, None)], goal);
        assert_eq!((plan.machines, plan.doubts), (None, vec![Doubt::TooMany(TierResource::Cpu)]));
    }

    #[test]
    fn a_tier_whose_throughput_falls_with_its_machines_has_no_number_beyond_that() {
        let scaling = Scaling::fit(vec![(2.0, 1_900.0), (4.0, 900.0)]);
        let demands = vec![demand(TierResource::Cpu, 4.4, None)];
        let tier = ObservedTier { name: "api".to_owned(), demands, scaling, ..ObservedTier::default() };
        let machines = |target_per_sec| tier_plan(&tier, Goal { target_per_sec, ..GOAL }).machines;
        // By demand 4.2 machines, of which four were measured to carry less.
        assert_eq!(machines(950.0), None);
        let two = machines(400.0).unwrap();
        assert_eq!((two.count, two.at_least), (2, false), "two were measured to carry more");
    }
}
