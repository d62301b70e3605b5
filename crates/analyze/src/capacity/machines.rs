//! How many machines each tier needs for a target rate, and what each number rests on.
//!
//! machines = ⌈λ·D / (c·U − U₀)⌉ over everything that a tier can run out of: D is what a request uses of it in all machines of
//! the tier together, c what one machine has, U the share of it that may be used, U₀ what one machine uses without
//! requests (Denning and Buzen 1978; the utilisation law turned round). The largest of them is the tier's number.

mod demand;
mod doubt;
mod growth;
mod observe;
mod observed;
mod plan;
mod scaling;
mod terms;
mod what_if;

pub use demand::TierDemand;
pub use doubt::{Doubt, Remark, Taken};
pub use growth::{Growth, Stop};
pub use observe::{observe_runs, observe_table};
pub use observed::{Carried, Observed, ObservedTier};
pub use plan::{MachinePlan, Machines, Need, TierPlan, plan_machines};
pub use scaling::{Scaling, ScalingTrial};
pub use terms::{DemandUnit, Goal, Origin, TierResource};
pub use what_if::{Change, ChangedPart, WhatIf, WhatIfError};
