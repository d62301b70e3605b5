//! Computes what a request costs in production, and the rate at which the first resource is full, from the series of a monitoring
//! system instead of a load test.

mod background;
mod change;
mod counter;
mod explain;
mod findings;
mod instances;
mod limit;
mod regression;
mod series;

pub use counter::{counter_name, only_rises};
pub use explain::explain_production;
pub use findings::{
    BackgroundWork, FullAt, InstanceCount, Instances, LimitUnknown, PointsLeftOut, ProductionDemand,
    ProductionFindings, ProductionLaw, ProductionLimit, ProductionPoints, RateRange, ResourceFinding,
    UseChange,
};
pub use limit::{MAX_EXTRAPOLATION, TestOnly};
pub use series::{AmountUnit, ProductionKind, ProductionSeries, ResourceSeries, StatedCapacity, may_name};
