//! How many machines each tier needs for a target rate, and the evidence for each number.
//!
//! For each resource of a tier, machines = ⌈λ·D / (c·U − U₀)⌉. D is the demand of one request, summed over all machines of the
//! tier; c is the capacity of one machine, U the share of it that may be used, and U₀ what one machine uses without requests
//! (the utilisation law solved for the number of machines; Denning and Buzen 1978). A tier needs the largest of these numbers.

mod cost;
mod day;
mod demand;
mod doubt;
mod fleet;
mod growth;
mod mix;
mod observe;
mod observed;
mod plan;
mod price;
mod scaling;
mod size;
mod terms;
mod tier_load;
mod what_if;

pub use cost::{PlanCost, PricedMachines, TierCost, price_plan};
pub use day::{CurvePoint, DayCost, DayPlan, HourPlan, RateCurve, TierHours, plan_day};
pub use demand::TierDemand;
pub use doubt::{Doubt, Remark, Taken};
pub use fleet::{Fleet, FleetCapacity, FleetCause, FleetDoubt, FleetError, FleetLimit, fleet_capacity};
pub use growth::{Growth, GrowthStart, Stop, TierMachines};
pub use observe::{observe_runs, observe_table};
pub use observed::{Carried, Halt, Observed, ObservedTier, ScalingBefore, SizedDemands};
pub use plan::{MachinePlan, Machines, Need, SizeRate, TierPlan, plan_machines};
pub use price::{Currency, Price, PriceError, PriceList};
pub use scaling::{Contention, Scaling, ScalingTrial};
pub(crate) use size::is_one_size;
pub use size::{MachineSize, SizeSelector};
pub use terms::{DemandUnit, Goal, Origin, TierResource};
pub use what_if::{Change, ChangedPart, WhatIf, WhatIfError};
