//! The machines for a target rate, schema `plimsoll/plan/1`.

use plimsoll_analyze::{Estimate, Growth, MachinePlan, Need, Stop, TierPlan};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite};

const SCHEMA: &str = "plimsoll/plan/1";

/// A plan as one document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Machines for a target rate")]
pub struct PlanDocument {
    /// Always `plimsoll/plan/1`.
    pub schema: &'static str,
    /// Requests per second that are planned for.
    pub target_per_sec: Option<f64>,
    /// The share of a machine's capacity that may be used.
    pub utilisation: Option<f64>,
    /// The tiers.
    pub tiers: Vec<TierPlanDocument>,
    /// Where growth stops with the machines that were measured; null where nothing tells.
    pub growth: Option<GrowthDocument>,
    /// What holds for all of it, a sentence each.
    pub remarks: Vec<String>,
    /// The same with other machines; null unless that was asked for.
    pub what_if: Option<WhatIfDocument>,
}

/// The plan with other machines.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WhatIfDocument {
    /// What was changed, as it was typed.
    pub change: String,
    /// The tiers then.
    pub tiers: Vec<TierPlanDocument>,
    /// Where growth stops then.
    pub growth: Option<GrowthDocument>,
    /// What holds then, a sentence each.
    pub remarks: Vec<String>,
}

/// One tier.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierPlanDocument {
    /// Its name.
    pub tier: String,
    /// How many machines it needs; null where nothing tells.
    pub machines: Option<u64>,
    /// The number at both ends of the interval of the demand; null where that is not known.
    pub machines_interval: Option<[u64; 2]>,
    /// True if more may be needed.
    pub at_least: bool,
    /// One more than `machines`, so that one may fail.
    pub machines_with_spare: Option<u64>,
    /// What its resources ask for, the one that decides first.
    pub needs: Vec<NeedDocument>,
    /// The most it was seen to carry; null where that is not known.
    pub carried: Option<CarriedDocument>,
    /// How it scaled; null where only one number of machines was measured.
    pub scaling: Option<ScalingDocument>,
    /// What is not known of it, a sentence each.
    pub doubts: Vec<String>,
}

/// What one resource asks for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NeedDocument {
    /// `cpu`, `core`, `thread`, `quota`, `bandwidth_in`, `bandwidth_out`, `bandwidth_both`, `packets_in`, `packets_out`, `pool`
    /// or `alone` (what one machine carried by itself).
    pub resource: &'static str,
    /// The limit that it is once it is full, by the words of a verdict.
    pub limit: &'static str,
    /// What of the machine: an interface, a thread; empty for the machine itself.
    pub detail: String,
    /// The unit of `idle` and `capacity`, and times seconds of `per_request`.
    pub unit: &'static str,
    /// What a request uses in all machines of the tier together.
    pub per_request: Option<f64>,
    /// The 95 % interval of that.
    pub per_request_interval: Option<[f64; 2]>,
    /// What one machine uses without requests.
    pub idle: Option<f64>,
    /// What one machine has.
    pub capacity: Option<f64>,
    /// The largest share of it that was ever seen used.
    pub used_most: Option<f64>,
    /// What it was found from.
    pub from: String,
    /// Machines by it, not rounded.
    pub machines: Option<f64>,
}

/// The most that a tier was seen to carry.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CarriedDocument {
    /// Requests per second.
    pub throughput_per_sec: Option<f64>,
    /// The machines that did.
    pub machines: Option<f64>,
    /// Where that was.
    pub at: String,
}

/// Throughput over the number of machines.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScalingDocument {
    /// Machines and requests per second.
    pub points: Vec<[f64; 2]>,
    /// Throughput a machine with the most of them over that with the fewest.
    pub efficiency: Option<f64>,
    /// α and β of the scalability law over machines; null where it was not fitted.
    pub usl: Option<[f64; 2]>,
}

/// Where growth stops.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GrowthDocument {
    /// The throughput that it starts from.
    pub from_per_sec: Option<f64>,
    /// Where that was measured.
    pub at: String,
    /// What stops it, the first first.
    pub stops: Vec<StopDocument>,
}

/// One thing that stops growth.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StopDocument {
    /// The tier.
    pub tier: String,
    /// The resource.
    pub resource: &'static str,
    /// The limit that it is once it is full.
    pub limit: &'static str,
    /// What of the machine; empty for the machine itself.
    pub detail: String,
    /// Machines of the tier.
    pub machines: Option<f64>,
    /// The share that was used.
    pub used: Option<f64>,
    /// The throughput at which nothing is left of it.
    pub at_per_sec: Option<f64>,
    /// The 95 % interval of that.
    pub at_per_sec_interval: Option<[f64; 2]>,
    /// False where it was foretold from other rows.
    pub seen: bool,
    /// How well the tier was seen to scale when machines were added, 1 for in proportion; null where that was not measured.
    pub scaled: Option<f64>,
}

impl PlanDocument {
    /// A plan, and the same with other machines if that was asked for.
    pub fn of(plan: &MachinePlan, what_if: Option<(&str, &MachinePlan)>) -> Self {
        Self {
            schema: SCHEMA,
            target_per_sec: finite(plan.goal.target_per_sec),
            utilisation: finite(plan.goal.utilisation),
            tiers: tiers(plan),
            growth: plan.growth.as_ref().map(GrowthDocument::of),
            remarks: plan.remarks.clone(),
            what_if: what_if.map(|(change, changed)| WhatIfDocument {
                change: change.to_owned(),
                tiers: tiers(changed),
                growth: changed.growth.as_ref().map(GrowthDocument::of),
                remarks: changed.remarks.clone(),
            }),
        }
    }
}

impl TierPlanDocument {
    fn of(plan: &TierPlan) -> Self {
        let machines = plan.machines;
        Self {
            tier: plan.tier.clone(),
            machines: machines.map(|machines| machines.count),
            machines_interval: machines.and_then(|machines| machines.range).map(|(low, high)| [low, high]),
            at_least: machines.is_some_and(|machines| machines.at_least),
            machines_with_spare: machines.map(|machines| machines.count + 1),
            needs: plan.needs.iter().map(NeedDocument::of).collect(),
            carried: plan.carried.as_ref().map(|carried| CarriedDocument {
                throughput_per_sec: finite(carried.throughput_per_sec),
                machines: finite(carried.machines),
                at: carried.at.clone(),
            }),
            scaling: plan.scaling.as_ref().map(|scaling| ScalingDocument {
                points: scaling.points.iter().map(|(machines, per_sec)| [*machines, *per_sec]).collect(),
                efficiency: finite(scaling.efficiency()),
                usl: scaling.usl.map(|usl| [usl.alpha.value, usl.beta.value]),
            }),
            doubts: plan.doubts.clone(),
        }
    }
}

impl NeedDocument {
    fn of(need: &Need) -> Self {
        let demand = &need.demand;
        Self {
            resource: demand.resource.name(),
            limit: demand.resource.limit().name(),
            detail: demand.detail.clone(),
            unit: demand.unit.name(),
            per_request: finite(demand.per_request.value),
            per_request_interval: bounds(demand.per_request.interval),
            idle: finite(demand.idle),
            capacity: demand.capacity.and_then(finite),
            used_most: finite(demand.used_most),
            from: demand.origin.clone(),
            machines: finite(need.machines),
        }
    }
}

impl GrowthDocument {
    fn of(growth: &Growth) -> Self {
        Self {
            from_per_sec: finite(growth.from_per_sec),
            at: growth.at.clone(),
            stops: growth.stops.iter().map(|stop| StopDocument::of(stop, growth.from_per_sec)).collect(),
        }
    }
}

impl StopDocument {
    fn of(stop: &Stop, from_per_sec: f64) -> Self {
        let at: Estimate = stop.at_per_sec(from_per_sec);
        Self {
            tier: stop.tier.clone(),
            resource: stop.resource.name(),
            limit: stop.resource.limit().name(),
            detail: stop.detail.clone(),
            machines: finite(stop.machines),
            used: finite(stop.used / stop.capacity),
            at_per_sec: finite(at.value),
            at_per_sec_interval: bounds(at.interval),
            seen: stop.seen,
            scaled: stop.scaled.and_then(|(_, _, efficiency)| finite(efficiency)),
        }
    }
}

fn tiers(plan: &MachinePlan) -> Vec<TierPlanDocument> {
    plan.tiers.iter().map(TierPlanDocument::of).collect()
}

/// A plan, and the same with other machines if that was asked for, as text.
///
/// # Errors
/// When it cannot be written as JSON, which no plan should meet.
pub fn machines(
    plan: &MachinePlan,
    what_if: Option<(&str, &MachinePlan)>,
) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&PlanDocument::of(plan, what_if))? + "\n")
}

/// The JSON schema of the document, as published.
pub fn plan_schema() -> serde_json::Value {
    schemars::schema_for!(PlanDocument).to_value()
}
