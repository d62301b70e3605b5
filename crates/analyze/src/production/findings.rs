//! The findings: the law of each resource, and the limit that is reached first.

use plimsoll_stats::Estimate;

use super::series::{AmountUnit, ProductionKind, resource_name};

/// A law is a line if its slope changes by less than this from the low to the high rates.
const MIN_BEND: f64 = 0.2;
/// A smaller change of use at one rate may be due to other requests: predictions too are compared within 15 %
/// (`bench/production.py`).
const MIN_CHANGE: f64 = 0.15;

/// All findings from series of production.
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
    /// The number of these instants at which the rate is known.
    pub with_rate: usize,
    /// The longest time without a known rate; 0 without a gap.
    pub longest_gap_sec: f64,
    /// `None` if the rate is never known.
    pub rate: Option<RateRange>,
    /// Sorted: resources by the rate at which they are full, then those without a capacity, then those without a law.
    pub resources: Vec<ResourceFinding>,
    pub limit: ProductionLimit,
}

/// The observed rates, requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRange {
    /// The 5 % quantile.
    pub low: f64,
    pub median: f64,
    /// The 95 % quantile.
    pub high: f64,
    pub highest: f64,
}

/// The resource that is full first, or why it is not known.
#[derive(Debug, Clone, PartialEq)]
pub enum ProductionLimit {
    Known {
        /// The index in `resources`.
        first: usize,
        /// Resources that the intervals do not separate from the first, or that are full at nearly the same rate.
        tied: Vec<usize>,
    },
    Unknown(LimitUnknown),
}

/// Why the resource that is full first is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LimitUnknown {
    /// Too few instants at which the rate is known.
    TooFewPoints,
    /// The rate hardly changed, so that use by requests and other use cannot be separated.
    TooLittleVariation,
    /// The use of every resource is unknown.
    NoResource,
    /// No resource has a known capacity.
    NoCapacity,
    /// No resource with a capacity follows the rate.
    NothingFollows,
    /// The resource at this index was full so often that its demand is not known: it may limit the service already.
    Full(usize),
    /// The first resource is full only beyond [`MAX_EXTRAPOLATION`](super::MAX_EXTRAPOLATION) times the highest rate.
    Beyond,
}

/// The instances that a finding covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instances {
    /// The only instance, without a name.
    Unnamed,
    One(String),
    /// The sum over all instances.
    Sum(InstanceCount),
}

/// The number of instances in a sum.
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

/// The numbers of points that the line does not use, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointsLeftOut {
    /// The rate is known but not the use.
    pub missing: usize,
    /// At least 95 % of the capacity was used: use of a full resource cannot follow the rate.
    pub full: usize,
    /// True if at least half of the points at the median rate or above are full, so that it was full when the service was busy.
    pub is_full_when_busy: bool,
    /// Something other than requests used it.
    pub background: usize,
    /// They are older than a change of the demand.
    pub before_change: usize,
}

/// Whether use follows the rate by the utilisation law, U = U₀ + D·λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductionLaw {
    Holds,
    /// Use follows the rate, but not in a straight line.
    Bent,
    /// The interval of D includes 0, and even its upper end is little use.
    Unrelated,
    /// The interval of D includes 0 and is wide.
    Unclear,
    /// Fewer than 20 points.
    TooFewPoints,
    /// The rate hardly changed.
    TooLittleVariation,
    /// The instance existed for a part of the time; it counts in the sum.
    NotThroughout,
}

/// The rate at which a resource is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FullAt {
    At(Estimate),
    /// At more than [`MAX_EXTRAPOLATION`](super::MAX_EXTRAPOLATION) times the highest rate of the line's points; the value is that
    /// bound, in requests per second.
    Beyond(f64),
    NoCapacity,
}

impl FullAt {
    /// The rate, if it is stated.
    pub fn rate(self) -> Option<Estimate> {
        match self {
            Self::At(rate) => Some(rate),
            Self::Beyond(_) | Self::NoCapacity => None,
        }
    }
}

/// The demand for a resource, in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProductionDemand {
    /// D: use per request per second.
    pub per_request: Estimate,
    /// U₀: use without requests.
    pub background: Estimate,
    /// The relative change of D from the low to the high end of the observed rates.
    pub bend: Estimate,
    pub full_at: FullAt,
    /// The rate at which the requested share of the capacity is used, 0 if background use exceeds it; `None` where `full_at` is not
    /// stated, or where a bent law gives no rate at that share.
    pub safe_at: Option<Estimate>,
}

impl ProductionDemand {
    /// True if D changes by at least a fifth, with the whole interval of the bend on one side of 0. A law may be bent without that.
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
    /// Duration of all episodes together.
    pub total_sec: f64,
    /// Mean use above what the rate explains, in the unit of the resource.
    pub mean_extra: f64,
    /// Begin of the first episode, in seconds since 1970 (UTC).
    pub first_sec: f64,
    /// Time of day at which it begins, in seconds after midnight (UTC), if it does so on at least three days.
    pub daily_at_sec: Option<f64>,
}

/// A change of use at one rate, such as a release makes, that lasts to the end of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UseChange {
    /// The first instant after it, in seconds since 1970 (UTC).
    pub since_sec: f64,
    /// The rate at which both uses are compared, requests per second.
    pub rate: f64,
    /// The use at that rate before, in the unit of the resource; above 0.
    pub before: f64,
    /// The use at that rate after the change.
    pub after: f64,
    /// True if the law is computed from the points after the change only; false if they are too few for a law.
    pub is_judged_alone: bool,
}

impl UseChange {
    /// The relative change of use.
    pub fn share(&self) -> f64 {
        self.after / self.before - 1.0
    }

    /// True if it is larger than other requests may cause.
    pub(super) fn counts(&self) -> bool {
        self.before > 0.0 && self.share().abs() >= MIN_CHANGE
    }
}

/// Pairs of rate and use, for figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProductionPoints {
    /// The points that the line uses.
    pub used: Vec<(f64, f64)>,
    /// The points left out because the resource was full, because of background work, or because of a later change.
    pub left_out: Vec<(f64, f64)>,
}

/// The findings about one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceFinding {
    pub kind: ProductionKind,
    /// Which of its kind, such as the interface; empty for a resource that a host has once.
    pub of: String,
    pub instances: Instances,
    pub unit: AmountUnit,
    /// The capacity; for a sum, that of the instances that exist at the end.
    pub capacity: Option<f64>,
    /// The highest observed use; `None` if none is known.
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
    /// The observed rate with which the rate at which a resource is full is compared: the highest of all if that reaches it, else the
    /// highest of the line's points, which may cover a part of the time only. `None` without a rate.
    pub fn compared_with(&self, resource: &ResourceFinding) -> Option<f64> {
        let highest = self.rate?.highest;
        let own = resource.highest_rate()?;
        let is_reached = resource.full_at().is_some_and(|rate| rate.value <= highest);
        Some(if is_reached { highest } else { own })
    }
}

impl ResourceFinding {
    /// The rate at which it is full, if it is stated.
    pub fn full_at(&self) -> Option<Estimate> {
        self.demand.and_then(|demand| demand.full_at.rate())
    }

    /// True if the demand is unknown because the resource was full, so that it may limit the service already. Work without requests
    /// fills resources too: false for a resource that was full only at low rates or a few times, or that does not follow the rate where
    /// it is not full.
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

    /// True if it may be full as early as another: its interval begins before the other's ends.
    pub fn may_fill_with(&self, other: &Self) -> bool {
        let ends = |rate: Estimate| rate.interval.unwrap_or((rate.value, rate.value));
        self.full_at().zip(other.full_at()).is_some_and(|(own, other)| ends(own).0 <= ends(other).1)
    }

    /// The highest rate of the points that the line uses; `None` without any.
    pub fn highest_rate(&self) -> Option<f64> {
        self.points.used.iter().map(|point| point.0).reduce(f64::max)
    }

    /// The name in commands, as in [`ResourceSeries::name`](super::ResourceSeries::name).
    pub fn name(&self) -> String {
        resource_name(self.kind, &self.of)
    }

    /// The numbers of instances in a sum; `None` for one instance.
    pub const fn count(&self) -> Option<InstanceCount> {
        match self.instances {
            Instances::Sum(count) => Some(count),
            Instances::Unnamed | Instances::One(_) => None,
        }
    }

    /// True if both are the same resource, on any instances.
    pub fn is_same_resource(&self, other: &Self) -> bool {
        self.kind == other.kind && self.of == other.of
    }
}
