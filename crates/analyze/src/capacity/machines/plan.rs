//! From what was observed of tiers to their machines.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::Growth;
use super::observed::{Carried, Observed, ObservedTier};
use super::scaling::Scaling;
use super::terms::Goal;

/// A number of machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machines {
    pub count: u64,
    /// The number at both ends of the interval of what a request uses, where that is known.
    pub range: Option<(u64, u64)>,
    /// True where more may be needed: the tier was never seen near its load, or is stopped by something that this number
    /// does not rest on.
    pub at_least: bool,
}

/// What one resource of a tier asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// The resource, and what a request uses of it.
    pub demand: TierDemand,
    /// Machines by it, not yet rounded up.
    pub machines: f64,
    /// The same at both ends of the interval of the demand.
    pub range: Option<(f64, f64)>,
}

/// One tier of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct TierPlan {
    pub tier: String,
    /// How many machines it needs; `None` where nothing tells.
    pub machines: Option<Machines>,
    pub needs: Vec<Need>,
    pub carried: Option<Carried>,
    pub scaling: Option<Scaling>,
    pub doubts: Vec<Doubt>,
}

/// The machines for a target rate.
#[derive(Debug, Clone, PartialEq)]
pub struct MachinePlan {
    pub goal: Goal,
    /// The tiers, in the order in which requests meet them as far as that is known.
    pub tiers: Vec<TierPlan>,
    pub growth: Option<Growth>,
    pub remarks: Vec<Remark>,
}

/// The machines that what was observed asks for.
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
    let machines = needs.first().zip(by_law.ok()).map(|(need, by_law)| {
        let count = need.machines.ceil().max(1.0) as u64;
        let range = need.range.map(|(low, high)| (low.ceil().max(1.0) as u64, high.ceil().max(1.0) as u64));
        Machines { count: count.max(by_law), range, at_least: never_near || tier.stopped_otherwise }
    });
    if let Some((scaling, machines)) = tier.scaling.as_ref().zip(machines) {
        doubts.extend(scaling.doubt(machines.count));
    }
    TierPlan {
        tier: tier.name.clone(),
        machines,
        needs,
        carried: tier.carried.clone(),
        scaling: tier.scaling.clone(),
        doubts,
    }
}

/// ⌈⌉ comes later: how many machines a demand asks for; `None` where the capacity is not known or idling uses it up.
fn need(demand: &TierDemand, goal: Goal) -> Option<Need> {
    let left = demand.capacity.map(|capacity| capacity * goal.utilisation - demand.idle)?;
    let by = |per_request: f64| goal.target_per_sec * per_request / left;
    (left > 0.0).then(|| Need {
        demand: demand.clone(),
        machines: by(demand.per_request.value),
        range: demand.per_request.interval.map(|(low, high)| (by(low.max(0.0)), by(high))),
    })
}
