//! What is not known of a plan of machines, or to be taken with care; `report` makes sentences of it.

use super::terms::{DemandUnit, Origin, TierResource};
use crate::capacity::kinds::RequestKind;
use crate::findings::{Limit, Place};

/// What is not known of a tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// It was never observed fuller than this, so that what else stops it is not known.
    NeverNear { share: f64, resource: TierResource },
    /// Without a request it uses more than may be used.
    IdleUsesAll { idle: f64, unit: DemandUnit, resource: TierResource },
    /// What the target takes of resources whose capacity is not known.
    NoCapacity(Vec<Taken>),
    /// In one run, the only one or one of several, something else uses these.
    UsedOtherwise { run: String, resources: Vec<TierResource> },
    /// In several runs something else uses these.
    UsedOtherwiseOften {
        some: usize,
        all: usize,
        /// What is used, and in how many runs.
        resources: Vec<(TierResource, usize)>,
    },
    /// Nothing was observed of what a request uses.
    NothingObserved,
    /// In these runs nothing was sampled of these machines, and others of the tier were.
    NotSampled { runs: Vec<String>, machines: Vec<String> },
    /// A run was stopped by something that machines do not help against.
    StoppedBy { run: String, per_sec: f64, limit: Limit, place: Place },
    /// No figure of it is in the rows; so many machines carried so much.
    NoFigures { machines: f64, per_sec: f64 },
    /// Rows do not agree on what a request costs.
    CostsDiffer { origin: Origin, resource: TierResource, unit: DemandUnit, least: f64, most: f64 },
    /// Throughput grew more than linearly with the machines.
    MoreThanLinear { few: f64, most: f64 },
    /// By the law no number of machines carries the target: the most that they carry, at the utilisation asked for.
    NeverByLaw { most_per_sec: f64 },
    /// As measured or by the law, so many machines carry less than fewer do, and not the target at the utilisation asked for.
    Falls {
        few: f64,
        /// What the few carry when they are full, requests per second.
        few_per_sec: f64,
        many: f64,
        many_per_sec: f64,
    },
    /// The target takes more machines than a tier has.
    TooMany(TierResource),
    /// Throughput a machine fell from few to most machines: if they go on contending so, it takes more machines than planned, or no
    /// number is enough.
    Contended { few: f64, most: f64, alpha: f64, machines: Option<u64> },
    /// Throughput a machine fell from few to most machines, and how its machines scale after a change was not measured.
    ScalingBefore { few: f64, most: f64 },
    /// Runs in which it limits, and that its scaling is not computed from.
    OtherRuns {
        /// They are of other requests.
        of_requests: Vec<String>,
        /// Its machines were of another size.
        of_size: Vec<String>,
        /// Their throughput is a lower bound, because of the load generator.
        lower_bounds: Vec<String>,
    },
    /// More machines are planned than growth was measured for.
    BeyondMeasured { count: u64, most: f64, trusted: f64 },
}

/// How much of a resource the target takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub amount: f64,
    pub unit: DemandUnit,
    pub resource: TierResource,
}

/// What holds for all of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A run has no step with answers.
    NoAnswers(String),
    /// A run has answers, and in none of its steps enough with success for its throughput to be capacity.
    NothingCarried(String),
    /// In a run the load generator was the limit.
    GeneratorLimit(String),
    /// In a run the generator was not healthy.
    LowerBound(String),
    /// In a run the generator used a part of the CPU that limits.
    SharedWithGenerator(String),
    /// In a run the target was not pushed to its limit.
    NotPushed(String),
    /// So many rows of so many break Little's law.
    Unlawful(usize, usize),
    /// The rows are of so many kinds of requests.
    Kinds(usize),
    /// The runs are of several kinds of requests.
    Requests(Vec<RequestKind>),
    /// A tier is left out.
    Without(String),
    /// A change of cores, as typed, leaves the CPU quota of the tier as it is.
    QuotaStays(String),
}
