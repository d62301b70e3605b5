//! Determines which resource is full first, and what production series cannot show.

use super::findings::{
    FullAt, InstanceCount, LimitUnknown, ProductionLaw, ProductionLimit, RateRange, ResourceFinding,
};
use super::series::ProductionKind;

/// No rate above this many times the highest observed one is stated. A resource that was used to at most a quarter does not show
/// effects near its capacity, such as cache misses, garbage collections or waits for locks.
pub const MAX_EXTRAPOLATION: f64 = 4.0;
/// A resource counts as full at this utilisation: averages of a monitoring system never show 1.
pub(super) const FULL: f64 = 0.95;
/// Two rates within this ratio are equal, like two limits of a run.
const TIE: f64 = 1.05;
/// The rate varies if its high end is at least this many times its low end.
const MIN_VARIATION: f64 = 1.25;

/// Limits that production series never show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOnly {
    /// Fixed numbers of workers or connections, which requests hold while they wait.
    Pools,
    Locks,
    /// One thread that serves all requests.
    Threads,
    /// Services that this one calls.
    Dependencies,
}

impl TestOnly {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pools, Self::Locks, Self::Threads, Self::Dependencies];

    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pools => "pools",
            Self::Locks => "locks",
            Self::Threads => "threads",
            Self::Dependencies => "dependencies",
        }
    }
}

impl RateRange {
    /// True if the rate varies enough to separate use by requests from other use.
    pub fn varies(&self) -> bool {
        varies(self.low, self.high)
    }
}

/// True if a range of rates is wide enough to separate use by requests from other use.
pub(super) fn varies(low: f64, high: f64) -> bool {
    high > 0.0 && high >= MIN_VARIATION * low
}

/// Determines the limit. `resources` are in the order in which they fill.
pub(super) fn limit(rate: Option<&RateRange>, resources: &[ResourceFinding]) -> ProductionLimit {
    let is_disk = |one: &ResourceFinding| one.kind == ProductionKind::Disk;
    let is_full = |one: &ResourceFinding| one.may_hold_already() && !informs_only(one, resources);
    let full = |of_disks: bool| resources.iter().position(|one| is_full(one) && is_disk(one) == of_disks);
    // A full resource comes first: no other rate can be the first at which something is full. A disk that is always busy may still serve
    // more requests at once.
    if let Some(full) = full(false) {
        return ProductionLimit::Unknown(LimitUnknown::Full(full));
    }
    let candidates =
        || resources.iter().enumerate().filter(|(_, one)| one.kind.limits() && !informs_only(one, resources));
    let Some((first, full_at)) = candidates().find_map(|(at, one)| Some((at, one.full_at()?))) else {
        let why = full(true).map_or_else(|| unknown(rate, resources), LimitUnknown::Full);
        return ProductionLimit::Unknown(why);
    };
    let near = full_at.value * TIE;
    let is_tied = |(at, one): &(usize, &ResourceFinding)| {
        *at != first
            && !one.is_same_resource(&resources[first])
            && (one.full_at().is_some_and(|rate| rate.value <= near) || one.may_fill_with(&resources[first]))
    };
    ProductionLimit::Known { first, tied: candidates().filter(is_tied).map(|(at, _)| at).collect() }
}

/// True for one of several instances whose number changed, and with it the instance's share of the rate.
fn informs_only(one: &ResourceFinding, resources: &[ResourceFinding]) -> bool {
    let has_changed = |other: &ResourceFinding| other.count().is_some_and(InstanceCount::has_changed);
    one.count().is_none() && resources.iter().any(|sum| sum.is_same_resource(one) && has_changed(sum))
}

fn unknown(rate: Option<&RateRange>, resources: &[ResourceFinding]) -> LimitUnknown {
    let limits: Vec<&ResourceFinding> = resources.iter().filter(|one| one.kind.limits()).collect();
    let is_beyond =
        |one: &&ResourceFinding| one.demand.is_some_and(|demand| matches!(demand.full_at, FullAt::Beyond(_)));
    let is_short = |one: &&ResourceFinding| one.law == ProductionLaw::TooFewPoints;
    let is_level = |one: &&ResourceFinding| one.law == ProductionLaw::TooLittleVariation;
    let is_part =
        |one: &&ResourceFinding| is_short(one) || is_level(one) || one.law == ProductionLaw::NotThroughout;
    match rate {
        None => LimitUnknown::TooFewPoints,
        _ if limits.iter().all(|one| one.highest.is_none()) => LimitUnknown::NoResource,
        Some(rate) if !rate.varies() => LimitUnknown::TooLittleVariation,
        _ if limits.iter().all(is_part) && limits.iter().any(is_level) => LimitUnknown::TooLittleVariation,
        _ if limits.iter().all(is_part) => LimitUnknown::TooFewPoints,
        _ if limits.iter().all(|one| one.capacity.is_none()) => LimitUnknown::NoCapacity,
        _ if limits.iter().any(is_beyond) => LimitUnknown::Beyond,
        _ => LimitUnknown::NothingFollows,
    }
}
