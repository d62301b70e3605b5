//! The rate that given machines carry, schema `plimsoll/fleet/1`.

use plimsoll_analyze::{FleetCapacity, FleetCause, FleetLimit, TierMachines};

use super::document::{Interval, document, each};
use crate::words::fleet as words;

document! {
    /// The rate that given machines carry, and the rate after a change of the machines.
    #[schemars(title = "The rate that given machines carry")]
    pub struct FleetDocument(capacity: &FleetCapacity, what_if: Option<(&str, &FleetCapacity)>) {
        /// Always `plimsoll/fleet/1`.
        schema: &'static str = "plimsoll/fleet/1",
        /// What the machines carry.
        capacity: FleetCapacityDocument = FleetCapacityDocument::new(capacity),
        /// What they carry after the change; null unless one was requested.
        what_if: Option<FleetWhatIfDocument> = what_if.map(|(change, changed)| FleetWhatIfDocument::new(change, changed)),
    }

    /// The capacity after a change.
    pub struct FleetWhatIfDocument(change: &str, capacity: &FleetCapacity) {
        /// The change, as typed.
        change: String = change,
        /// What the machines carry after the change.
        capacity: FleetCapacityDocument = FleetCapacityDocument::new(capacity),
    }

    /// What machines carry.
    pub struct FleetCapacityDocument(capacity: &FleetCapacity) {
        /// All tiers with their machines.
        machines: Vec<TierMachinesDocument> = each(&capacity.machines, TierMachinesDocument::new),
        /// The throughput at which growth stops, requests per second; null where that is not known.
        per_sec: Option<f64> = capacity.limits.first().map(|limit| limit.per_sec.value),
        /// The 95 % interval of `per_sec`.
        per_sec_interval: Interval = capacity.limits.first().map(|limit| limit.per_sec),
        /// True if a limit that was not observed may stop growth earlier.
        at_most: bool = capacity.at_most,
        /// The limits that stop growth, the first limit first.
        limits: Vec<FleetLimitDocument> = each(&capacity.limits, FleetLimitDocument::new),
        /// The share of a machine that may be used for `held_per_sec`.
        utilisation: f64 = capacity.utilisation,
        /// The highest rate for which a plan asks for no more machines than these, for the kind of requests that is most
        /// expensive for each tier; null where it is not known. An upper bound if `at_most` is true.
        held_per_sec: Option<f64> = capacity.held.as_ref().map(|held| held.per_sec.value),
        /// The tier that decides `held_per_sec`.
        held_by: Option<String> = capacity.held.as_ref().map(|held| held.tier.clone()),
        /// The measured throughput from which growth is extrapolated, requests per second.
        from_per_sec: f64 = capacity.from.0,
        /// Where that was measured.
        at: String = &capacity.from.1,
        /// What is not known, one sentence each.
        doubts: Vec<String> = each(&capacity.doubts, words::doubt),
    }

    /// A tier and its machines.
    pub struct TierMachinesDocument(tier: &TierMachines) {
        /// The name of the tier.
        tier: String = &tier.tier,
        /// The number of its machines.
        machines: f64 = tier.machines,
    }

    /// The highest throughput that one tier allows.
    pub struct FleetLimitDocument(limit: &FleetLimit) {
        /// The tier.
        tier: String = &limit.tier,
        /// The number of its machines.
        machines: f64 = limit.machines,
        /// `resource`, `contention` of the machines, or `halt`: what stopped a run.
        cause: &'static str = match &limit.cause {
            FleetCause::Resource { .. } => "resource",
            FleetCause::Contention { .. } => "contention",
            FleetCause::Halt { .. } => "halt",
        },
        /// The resource, as in a plan, or the limit of the run that was stopped; null for contention.
        resource: Option<&'static str> = match &limit.cause {
            FleetCause::Resource { resource, .. } => Some(resource.name()),
            FleetCause::Halt { limit, .. } => Some(limit.name()),
            FleetCause::Contention { .. } => None,
        },
        /// What stops growth, in words: `the CPU of 3 machines`.
        text: String = words::cause(limit),
        /// The highest throughput, requests per second.
        per_sec: f64 = limit.per_sec.value,
        /// The 95 % interval of `per_sec`.
        per_sec_interval: Interval = limit.per_sec,
        /// The share of the resource that was used where the cost of a request was measured; null if the cause is not a
        /// resource.
        observed_share: Option<f64> = match &limit.cause {
            FleetCause::Resource { observed_share, .. } => Some(*observed_share),
            _ => None,
        },
    }
}
