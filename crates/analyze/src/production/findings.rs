//! What is found: for each resource its law, and the limit that is reached first.

use plimsoll_stats::Estimate;

use super::series::{AmountUnit, ProductionKind, resource_name};

/// A slope that changes by less than this from the low to the high rates is a line.
const MIN_BEND: f64 = 0.2;
/// Use that changes by less than this at one rate may be that of other requests: predictions are compared within 15 % too
/// (`bench/production.py`).
const MIN_CHANGE: f64 = 0.15;

/// Everything found in series of production.
#[derive(Debug, Clone, PartialEq)]
pub struct ProductionFindings {
    /// The first instant, in seconds since 1970 (UTC).
    pub start_sec: f64,
    /// The last instant.
    pub end_sec: f64,
    pub step_sec: f64,
    /// The share of a capacity that may be used.
    pub safe_share: f64,
    /// Instants between the first and the last, both included.
    pub instants: usize,
    /// Of these, those at which the rate is known.
    pub with_rate: usize,
    /// The longest time in which the rate is never known; 0 without a gap.
    pub longest_gap_sec: f64,
    /// `None` if the rate is never known.
    pub rate: Option<RateRange>,
    /// Those that fill first come first; then those without a capacity, then those whose law is not known.
    pub resources: Vec<ResourceFinding>,
    pub limit: ProductionLimit,
}

/// The rates that were observed, requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRange {
    /// 5 % of the time it was below this.
    pub low: f64,
    pub median: f64,
    /// 5 % of the time it was above this.
    pub high: f64,
    pub highest: f64,
}

/// Whether it is known what fills first.
#[derive(Debug, Clone, PartialEq)]
pub enum ProductionLimit {
    Known {
        /// The place in `resources`.
        first: usize,
        /// Those that the intervals do not separate from it, or that are full at nearly the same rate.
        tied: Vec<usize>,
    },
    Unknown(LimitUnknown),
}

/// Why it is not known what fills first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LimitUnknown {
    /// Too few instants at which the rate is known.
    TooFewPoints,
    /// The rate hardly changed, so that use by requests and other use cannot be separated.
    TooLittleVariation,
    /// No use of any resource is known.
    NoResource,
    /// No resource has a known capacity.
    NoCapacity,
    /// No resource with a capacity follows the rate.
    NothingFollows,
    /// The resource at this place was full so often that what requests use of it is not known: it may be what holds the service.
    Full(usize),
    /// What fills first does so beyond [`MAX_EXTRAPOLATION`](super::MAX_EXTRAPOLATION) times the highest rate.
    Beyond,
}

/// Which instances a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instances {
    /// The only one, without a name.
    Unnamed,
    One(String),
    /// All of them together.
    Sum(InstanceCount),
}

/// How many instances there were together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceCount {
    /// At the last instant at which their use is known.
    pub now: usize,
    /// The fewest at one instant.
    pub least: usize,
    /// The most at one instant.
    pub most: usize,
}

impl InstanceCount {
    /// True if instances were started or stopped.
    pub const fn has_changed(self) -> bool {
        self.least < self.most
    }
}

/// Points that the line does not use, by why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointsLeftOut {
    /// The rate is known, the use is not.
    pub missing: usize,
    /// 95 % of the capacity were used: what is full cannot follow the rate.
    pub full: usize,
    /// True if that is half or more of the points at the median rate or above: then it was full when the service was busy.
    pub is_full_when_busy: bool,
    /// Something other than requests used it.
    pub background: usize,
    /// They are older than a change of what requests use.
    pub before_change: usize,
}

/// Whether use follows the rate as the utilisation law says, U = U₀ + D·λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductionLaw {
    Holds,
    /// Use follows the rate, and not in a straight line.
    Bent,
    /// The interval of D holds 0, and whatever D is, requests use little.
    Unrelated,
    /// The interval of D holds 0 and is wide.
    Unclear,
    /// Fewer than 20 points.
    TooFewPoints,
    /// The rate hardly changed.
    TooLittleVariation,
    /// The instance was there for a part of the time; it counts in the sum.
    NotThroughout,
}

/// The rate at which a resource is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FullAt {
    At(Estimate),
    /// Beyond [`MAX_EXTRAPOLATION`](super::MAX_EXTRAPOLATION) times the highest rate of the points of its line, which is this
    /// many requests per second.
    Beyond(f64),
    NoCapacity,
}

impl FullAt {
    /// The rate, where it is stated.
    pub fn rate(self) -> Option<Estimate> {
        match self {
            Self::At(rate) => Some(rate),
            Self::Beyond(_) | Self::NoCapacity => None,
        }
    }
}

/// What requests use of a resource, in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProductionDemand {
    /// D: use per request per second.
    pub per_request: Estimate,
    /// U₀: use without requests.
    pub background: Estimate,
    /// How much of itself D changes from the low to the high end of the observed rates.
    pub bend: Estimate,
    pub full_at: FullAt,
    /// The rate at which the asked share of it is used, 0 if it is without requests; `None` where `full_at` is not stated, or
    /// where a bent law gives no rate at that share.
    pub safe_at: Option<Estimate>,
}

impl ProductionDemand {
    /// True if D changes by a fifth of itself or more, with the whole interval of the bend beyond 0. A law may be bent without that.
    pub fn cost_changes(&self) -> bool {
        is_bend(self.bend)
    }
}

pub(super) fn is_bend(bend: Estimate) -> bool {
    let excludes_zero = bend.interval.is_some_and(|(lower, upper)| lower > 0.0 || upper < 0.0);
    excludes_zero && bend.value.abs() >= MIN_BEND
}

/// Times in which use was far above what the rate explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackgroundWork {
    pub episodes: usize,
    /// All of them together.
    pub total_sec: f64,
    /// How much was used on average beyond what the rate explains, in the unit of the resource.
    pub mean_extra: f64,
    /// When the first began, in seconds since 1970 (UTC).
    pub first_sec: f64,
    /// When it begins in a day, in seconds after midnight (UTC), if it comes on three days or more at that time.
    pub daily_at_sec: Option<f64>,
}

/// A change of what one rate uses, as a release makes it. It lasts to the end of the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UseChange {
    /// The first instant of it, in seconds since 1970 (UTC).
    pub since_sec: f64,
    /// The rate at which both uses are compared, requests per second.
    pub rate: f64,
    /// The use at that rate before, in the unit of the resource; above 0.
    pub before: f64,
    /// The use at that rate since then.
    pub after: f64,
    /// True if the law is that of the points since then; false if they are too few for a law of their own.
    pub is_judged_alone: bool,
}

impl UseChange {
    /// By which part of itself the use changed.
    pub fn share(&self) -> f64 {
        self.after / self.before - 1.0
    }

    /// True if it is more than other requests may make.
    pub(super) fn counts(&self) -> bool {
        self.before > 0.0 && self.share().abs() >= MIN_CHANGE
    }
}

/// Rates and use, for figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProductionPoints {
    /// What the line is made of.
    pub used: Vec<(f64, f64)>,
    /// What was left out because it was full, by background work, or because it is older than a change.
    pub left_out: Vec<(f64, f64)>,
}

/// One resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceFinding {
    pub kind: ProductionKind,
    /// Which of its kind; empty for what a host has once.
    pub of: String,
    pub instances: Instances,
    pub unit: AmountUnit,
    /// What there is of it; of a sum that of the instances that there are now.
    pub capacity: Option<f64>,
    /// The highest use that was observed; `None` if none was.
    pub highest: Option<f64>,
    pub law: ProductionLaw,
    /// `None` unless the law holds or is bent.
    pub demand: Option<ProductionDemand>,
    pub left_out: PointsLeftOut,
    pub background_work: Option<BackgroundWork>,
    pub change: Option<UseChange>,
    pub points: ProductionPoints,
}

impl ProductionFindings {
    /// The highest rate that a rate at which a resource is full is compared with: where that was reached the highest of all, and
    /// otherwise that of the points of its line, which may be known in a part of the time alone. `None` without a rate.
    pub fn compared_with(&self, resource: &ResourceFinding) -> Option<f64> {
        let highest = self.rate?.highest;
        let own = resource.highest_rate()?;
        let is_reached = resource.full_at().is_some_and(|rate| rate.value <= highest);
        Some(if is_reached { highest } else { own })
    }
}

impl ResourceFinding {
    /// The rate at which it is full, where it is stated.
    pub fn full_at(&self) -> Option<Estimate> {
        self.demand.and_then(|demand| demand.full_at.rate())
    }

    /// True for a resource of which only full points could say what requests use, so that it may hold the service already. Work
    /// without requests fills a resource too: one that was full at low rates or a few times alone, or does not follow the rate
    /// where it has room, is not meant.
    pub fn may_hold_already(&self) -> bool {
        if self.capacity.is_none() || !self.kind.limits() || self.demand.is_some() {
            return false;
        }
        match self.law {
            ProductionLaw::TooFewPoints | ProductionLaw::TooLittleVariation | ProductionLaw::Unclear => {
                self.left_out.is_full_when_busy
            }
            ProductionLaw::Unrelated => self.left_out.full > self.points.used.len(),
            ProductionLaw::Holds | ProductionLaw::Bent | ProductionLaw::NotThroughout => false,
        }
    }

    /// True if it may be full as early as another: its interval begins before that of the other ends.
    pub fn may_fill_with(&self, other: &Self) -> bool {
        let ends = |rate: Estimate| rate.interval.unwrap_or((rate.value, rate.value));
        self.full_at().zip(other.full_at()).is_some_and(|(own, other)| ends(own).0 <= ends(other).1)
    }

    /// The highest rate of the points that the line is made of; `None` without any.
    pub fn highest_rate(&self) -> Option<f64> {
        self.points.used.iter().map(|point| point.0).reduce(f64::max)
    }

    /// The name by which a user names it, as [`ResourceSeries::name`](super::ResourceSeries::name) has it.
    pub fn name(&self) -> String {
        resource_name(self.kind, &self.of)
    }

    /// The number of instances of a sum; `None` for one instance.
    pub const fn count(&self) -> Option<InstanceCount> {
        match self.instances {
            Instances::Sum(count) => Some(count),
            Instances::Unnamed | Instances::One(_) => None,
        }
    }

    /// True if it is the same resource on other instances, or on all of them.
    pub fn is_same_resource(&self, other: &Self) -> bool {
        self.kind == other.kind && self.of == other.of
    }
}
