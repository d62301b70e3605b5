//! Which resource is full first, and what series cannot say.

use super::findings::{
    FullAt, InstanceCount, LimitUnknown, ProductionLaw, ProductionLimit, RateRange, ResourceFinding,
};
use super::series::ProductionKind;

/// No rate is stated beyond so many times the highest that was observed: a resource that was used to a quarter at most says
/// nothing of what happens when it is nearly full, such as more cache misses, collections or waits for locks.
pub const MAX_EXTRAPOLATION: f64 = 4.0;
/// From here on a resource is full: the monitoring's means never show all of it.
pub(super) const FULL: f64 = 0.95;
/// Two rates within this are the same, as two limits of a run are.
const TIE: f64 = 1.05;
/// The rate has changed if its high end is so many times its low end.
const MIN_VARIATION: f64 = 1.25;

/// What series of production do not show, whatever is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOnly {
    /// Workers and connections of a fixed number, which requests hold while they wait.
    Pools,
    Locks,
    /// One thread that serves all requests.
    Threads,
    /// What stands behind the service.
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
    /// True if use by requests and other use can be separated.
    pub fn varies(&self) -> bool {
        varies(self.low, self.high)
    }
}

/// True if rates from a low to a high end change enough for that.
pub(super) fn varies(low: f64, high: f64) -> bool {
    high > 0.0 && high >= MIN_VARIATION * low
}

/// The limit, from resources in the order in which they fill.
pub(super) fn limit(rate: Option<&RateRange>, resources: &[ResourceFinding]) -> ProductionLimit {
    let is_disk = |one: &ResourceFinding| one.kind == ProductionKind::Disk;
    let is_full = |one: &ResourceFinding| one.may_hold_already() && !informs_only(one, resources);
    let full = |of_disks: bool| resources.iter().position(|one| is_full(one) && is_disk(one) == of_disks);
    // Any other rate would be called the first at which something is full, and this one is full already. A disk that is busy all the
    // time may serve several requests at once, and have room.
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

/// True for one of several instances whose number changed: its part of the rate changed with it.
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
