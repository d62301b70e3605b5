//! What is not known of a plan of machines, or to be taken with care; `report` makes sentences of it.

use super::terms::{DemandUnit, Origin, TierResource};
use crate::findings::{Limit, Place};

/// What is not known of a tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// It was never observed fuller than this, so that what else stops it is not known.
    NeverNear {
        /// The largest share that was used.
        share: f64,
        /// Of what.
        resource: TierResource,
    },
    /// Without a request it uses more than may be used.
    IdleUsesAll {
        /// What it uses.
        idle: f64,
        /// The unit of that.
        unit: DemandUnit,
        /// Of what.
        resource: TierResource,
    },
    /// What the target takes of resources whose capacity is not known.
    NoCapacity(Vec<Taken>),
    /// In one run, the only one or one of several, something else uses these.
    UsedOtherwise {
        run: String,
        /// What is used.
        resources: Vec<TierResource>,
    },
    /// In several runs something else uses these.
    UsedOtherwiseOften {
        /// In how many runs.
        some: usize,
        /// Of how many.
        all: usize,
        /// What is used, and in how many runs.
        resources: Vec<(TierResource, usize)>,
    },
    /// Nothing was observed of what a request uses.
    NothingObserved,
    /// A run was stopped by something that machines do not help against.
    StoppedBy {
        run: String,
        /// Requests per second.
        per_sec: f64,
        /// What stopped it.
        limit: Limit,
        /// Where.
        place: Place,
    },
    /// No figure of it is in the rows; so many machines carried so much.
    NoFigures {
        machines: f64,
        /// Requests per second.
        per_sec: f64,
    },
    /// Rows do not agree on what a request costs.
    CostsDiffer {
        /// The rows.
        origin: Origin,
        /// Of what.
        resource: TierResource,
        unit: DemandUnit,
        /// The lowest cost.
        least: f64,
        /// The highest.
        most: f64,
    },
    /// Throughput grew more than linearly with the machines.
    MoreThanLinear {
        /// The fewest machines.
        few: f64,
        most: f64,
    },
    /// More machines are planned than growth was measured for.
    BeyondMeasured {
        /// The machines of the plan.
        count: u64,
        /// The most that were measured.
        most: f64,
        /// As far as that may be followed.
        trusted: f64,
    },
}

/// How much of a resource the target takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// How much.
    pub amount: f64,
    /// The unit of that.
    pub unit: DemandUnit,
    /// Of what.
    pub resource: TierResource,
}

/// What holds for all of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A run has no step with answers.
    NoAnswers(String),
    /// In a run the load generator was the limit.
    GeneratorLimit(String),
    /// In a run the generator was not healthy.
    LowerBound(String),
    /// In a run the target was not pushed to its limit.
    NotPushed(String),
    /// So many rows of so many break Little's law.
    Unlawful(usize, usize),
    /// The rows are of so many kinds of requests.
    Kinds(usize),
    /// A tier is left out.
    Without(String),
}
