//! Where throughput stops growing with the machines that were measured.

use super::terms::{DemandUnit, TierResource};
use crate::groups::firsts;
use crate::{Estimate, Limit, Place};

/// A resource of a tier that throughput can exhaust.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub tier: String,
    pub resource: TierResource,
    /// The part of a machine that is the resource; `None` for the whole machine.
    pub place: Option<Place>,
    pub machines: f64,
    /// The unit of `used` and `capacity`.
    pub unit: DemandUnit,
    /// Use of one machine at the throughput that growth starts from. It exceeds `capacity` where a smaller machine than the measured
    /// one would need more than it has.
    pub used: f64,
    pub capacity: f64,
    /// What one more request per second uses on one machine.
    pub per_request: Estimate,
    /// Utilisation where `per_request` was found.
    pub used_there: f64,
    /// False where the resource was not observed in that load, and is computed from the cost of a request in another.
    pub seen: bool,
    /// The smallest and largest counts of machines that were measured, and the efficiency between them: 1 for linear growth.
    pub scaled: Option<(f64, f64, f64)>,
}

/// A tier and its number of machines; tables may have halves.
#[derive(Debug, Clone, PartialEq)]
pub struct TierMachines {
    pub tier: String,
    pub machines: f64,
}

/// The load that growth starts from.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthStart {
    /// Throughput, requests per second.
    pub per_sec: Estimate,
    /// The row or the run.
    pub at: String,
    /// The number of its kind of requests.
    pub kind: usize,
    /// What limited it.
    pub limit: Limit,
    /// Locks and dependencies that may have limited it as well.
    pub also: Vec<(Limit, Place)>,
    /// The tiers whose machines are known.
    pub machines: Vec<TierMachines>,
}

/// Where throughput stops growing if no machine is added, the first stop first.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    pub from: GrowthStart,
    pub stops: Vec<Stop>,
}

/// Use above the capacity by less than this ratio is a measurement error; more is the need of a smaller machine than was measured.
const MAX_OVER: f64 = 1.1;

/// True for a limit that more machines need not move.
pub(super) fn needs_a_fix(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::Disk | Limit::Memory | Limit::Connections | Limit::Lock | Limit::Dependency | Limit::Refused
    )
}

impl GrowthStart {
    /// True if a limit that more machines need not move, such as a lock, stopped the load. No stop of the growth is of it.
    pub fn is_halted(&self) -> bool {
        needs_a_fix(self.limit)
    }
}

impl Stop {
    /// Limits `used` to the capacity where it is above it by measurement error. To be called before the capacity is changed.
    pub(super) fn without_overreading(self) -> Self {
        let is_off = self.used < MAX_OVER * self.capacity;
        let used = if is_off { self.used.min(self.capacity) } else { self.used };
        Self { used, ..self }
    }

    /// The throughput at which this many machines of the tier exhaust the resource, each under the same load as the measured ones:
    /// (n/m)·(X + (c − U)/D). The ends of both intervals are added up, so that the sum's interval is too wide rather than too narrow.
    pub(super) fn with_machines(&self, machines: f64, from_per_sec: Estimate) -> Estimate {
        let further = self.further_per_sec();
        let of_all = |per_sec: f64| (machines / self.machines * per_sec).max(0.0);
        let ends = from_per_sec.interval.zip(further.interval);
        Estimate {
            value: of_all(from_per_sec.value + further.value),
            interval: ends.map(|(from, further)| (of_all(from.0 + further.0), of_all(from.1 + further.1))),
        }
    }

    /// The throughput at which the measured machines exhaust the resource: X + (c − U)/D.
    pub fn at_per_sec(&self, from_per_sec: Estimate) -> Estimate {
        self.with_machines(self.machines, from_per_sec)
    }

    /// (c − U)/D: the throughput that can still be added; negative where use exceeds the capacity.
    fn further_per_sec(&self) -> Estimate {
        let left = self.capacity - self.used;
        if left == 0.0 {
            return Estimate { value: 0.0, interval: Some((0.0, 0.0)) };
        }
        let ends = self.per_request.interval.filter(|(low, _)| *low > 0.0);
        let ends = ends.map(|(low, high)| (left / high, left / low));
        Estimate {
            value: left / self.per_request.value,
            interval: ends.map(|(one, other)| (one.min(other), one.max(other))),
        }
    }
}

impl Growth {
    /// Sorts the stops by throughput and drops those that are never reached; `None` if none is left.
    pub(super) fn new(from: GrowthStart, mut stops: Vec<Stop>) -> Option<Self> {
        let from_per_sec = from.per_sec;
        stops.retain(|stop| stop.per_request.value > 0.0 && stop.capacity > 0.0);
        stops.sort_by(|a, b| a.at_per_sec(from_per_sec).value.total_cmp(&b.at_per_sec(from_per_sec).value));
        // Of several stops of one resource in a tier, the first is kept.
        let stops = firsts(stops, |a, b| (&a.tier, a.resource) == (&b.tier, b.resource));
        (!stops.is_empty()).then_some(Self { from, stops })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One api with a core, of which requests at 1,000/s use so much.
    fn stop(used: f64) -> Stop {
        Stop {
            tier: "api".to_owned(),
            resource: TierResource::Cpu,
            place: None,
            machines: 1.0,
            unit: DemandUnit::Cores,
            used,
            capacity: 1.0,
            per_request: Estimate { value: 1e-3, interval: Some((0.8e-3, 1.25e-3)) },
            used_there: used,
            seen: true,
            scaled: None,
        }
    }

    #[test]
    fn the_rate_of_more_machines_is_as_uncertain_as_the_throughput_it_starts_from() {
        let from = Estimate { value: 1_000.0, interval: Some((980.0, 1_020.0)) };
        let three = stop(1.0).with_machines(3.0, from);
        assert_eq!(three, Estimate { value: 3_000.0, interval: Some((2_940.0, 3_060.0)) });
        let half_full = stop(0.5).at_per_sec(from);
        assert_eq!(half_full, Estimate { value: 1_500.0, interval: Some((1_380.0, 1_645.0)) });
        assert_eq!(stop(1.0).with_machines(3.0, Estimate::exact(1_000.0)).interval, None);
    }

    #[test]
    fn a_reading_above_the_capacity_is_a_full_machine_and_a_smaller_one_is_full_earlier() {
        let from = Estimate::exact(1_000.0);
        let at = |stop: &Stop| stop.at_per_sec(from).value.round();
        let full = stop(1.04).without_overreading();
        assert_eq!(at(&full), 1_000.0);
        assert_eq!(at(&Stop { capacity: 0.95, ..full.clone() }), 950.0);
        assert_eq!(at(&Stop { capacity: 0.5, ..full }), 500.0);
        assert_eq!(at(&stop(2.0).without_overreading()), 0.0, "that is no reading that is off");
    }
}
