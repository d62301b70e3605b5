//! What is uncertain in a plan of machines; `report` makes sentences of it.

use super::terms::{DemandUnit, Origin, TierResource};
use crate::capacity::kinds::RequestKind;
use crate::findings::{Limit, Place};

/// What is uncertain about a tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// No resource was used beyond this share, so that another limit may be met first.
    NeverNear { share: f64, resource: TierResource },
    /// A machine without requests uses more of a resource than may be used.
    IdleUsesAll { idle: f64, unit: DemandUnit, resource: TierResource },
    /// What the target rate takes of resources whose capacity is not known.
    NoCapacity(Vec<Taken>),
    /// In one run, something other than the requests uses these resources.
    UsedOtherwise { run: String, resources: Vec<TierResource> },
    /// In several runs, something other than the requests uses resources.
    UsedOtherwiseOften {
        some: usize,
        all: usize,
        /// Each resource with the number of such runs.
        resources: Vec<(TierResource, usize)>,
    },
    /// No demand of the tier was observed.
    NothingObserved,
    /// In these runs nothing was sampled on these machines, but on others of the tier.
    NotSampled { runs: Vec<String>, machines: Vec<String> },
    /// A run was stopped by a limit that more machines do not raise.
    StoppedBy { run: String, per_sec: f64, limit: Limit, place: Place },
    /// The rows have no resource figures of the tier, only the throughput of so many machines.
    NoFigures { machines: f64, per_sec: f64 },
    /// Rows disagree on the cost of a request.
    CostsDiffer { origin: Origin, resource: TierResource, unit: DemandUnit, least: f64, most: f64 },
    /// Throughput grew more than linearly with the machines.
    MoreThanLinear { few: f64, most: f64 },
    /// By the scalability law no number of machines carries the target: the most that it allows, at the requested utilisation.
    NeverByLaw { most_per_sec: f64 },
    /// This many machines carry less than fewer do, measured or by the law, and not the target at the requested utilisation.
    Falls {
        few: f64,
        /// Requests per second of the few when they are full.
        few_per_sec: f64,
        many: f64,
        many_per_sec: f64,
    },
    /// The target needs more machines than a tier may have.
    TooMany(TierResource),
    /// Throughput per machine fell between `few` and `most`. If contention continues, the target needs this many machines, more than
    /// planned; `None` if no number is enough.
    Contended { few: f64, most: f64, alpha: f64, machines: Option<u64> },
    /// Throughput per machine fell between `few` and `most`; the scaling after a change of the machines was not measured.
    ScalingBefore { few: f64, most: f64 },
    /// Runs limited by the tier that its scaling was not computed from.
    OtherRuns {
        /// Runs of other requests.
        of_requests: Vec<String>,
        /// Runs with machines of another size.
        of_size: Vec<String>,
        /// Runs whose throughput is a lower bound, because of the load generator.
        lower_bounds: Vec<String>,
    },
    /// More machines are planned than measurements support.
    BeyondMeasured { count: u64, most: f64, trusted: f64 },
}

/// How much of a resource the target takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub amount: f64,
    pub unit: DemandUnit,
    pub resource: TierResource,
}

/// A remark about a whole plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A run has no step with answers.
    NoAnswers(String),
    /// A run has answers, but no step with enough successes for its throughput to count as capacity.
    NothingCarried(String),
    /// The load generator was the limit of a run.
    GeneratorLimit(String),
    /// The generator was not healthy in a run.
    LowerBound(String),
    /// The generator of a run used a part of the CPU that limits.
    SharedWithGenerator(String),
    /// A run did not bring the target to its limit.
    NotPushed(String),
    /// This many rows, of this many in all, break Little's law.
    Unlawful(usize, usize),
    /// The rows have this many kinds of requests.
    Kinds(usize),
    /// The runs have several kinds of requests.
    Requests(Vec<RequestKind>),
    /// A tier is left out.
    Without(String),
    /// A change of cores, as typed, leaves the CPU quota of the tier unchanged.
    QuotaStays(String),
}
