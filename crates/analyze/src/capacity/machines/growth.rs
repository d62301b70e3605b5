//! Where growth stops with the machines that were measured.

use super::terms::{DemandUnit, TierResource};
use crate::groups::firsts;
use crate::{Estimate, Limit, Place};

/// A resource of a tier on its way to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub tier: String,
    pub resource: TierResource,
    /// The part of a machine that it is; `None` for the machine itself.
    pub place: Option<Place>,
    pub machines: f64,
    /// The unit of `used` and `capacity`.
    pub unit: DemandUnit,
    /// What one machine used at the throughput that growth starts from; above `capacity` where a smaller machine than was measured
    /// would take more than it has.
    pub used: f64,
    pub capacity: f64,
    /// What one more request per second uses of one machine.
    pub per_request: Estimate,
    /// The share of it that was used where that was found.
    pub used_there: f64,
    /// False where it was not observed there, and what a request costs elsewhere tells it.
    pub seen: bool,
    /// The counts of machines between which the tier was seen to scale, and how well: 1 for in proportion.
    pub scaled: Option<(f64, f64, f64)>,
}

/// A tier and how many machines of it there are; tables may have halves.
#[derive(Debug, Clone, PartialEq)]
pub struct TierMachines {
    pub tier: String,
    pub machines: f64,
}

/// The load that growth starts from.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthStart {
    /// Its throughput, requests per second.
    pub per_sec: Estimate,
    /// Where that was: a row, a run.
    pub at: String,
    /// The number of its requests.
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

/// Use beyond the capacity by less than this ratio is a reading that is off, and not what a smaller machine than was measured would
/// take.
const MAX_OVER: f64 = 1.1;

impl Stop {
    /// The same with no more used than there is, where the reading is above that. To be called before the capacity is changed.
    pub(super) fn without_overreading(self) -> Self {
        let is_off = self.used < MAX_OVER * self.capacity;
        let used = if is_off { self.used.min(self.capacity) } else { self.used };
        Self { used, ..self }
    }

    /// The throughput at which nothing is left of it in so many machines of the tier, each with the load of those that were measured:
    /// (n/m)·(X + (c − U)/D). The ends of both intervals are added up, which makes that of the sum too wide rather than too narrow.
    pub(super) fn with_machines(&self, machines: f64, from_per_sec: Estimate) -> Estimate {
        let further = self.further_per_sec();
        let of_all = |per_sec: f64| (machines / self.machines * per_sec).max(0.0);
        let ends = from_per_sec.interval.zip(further.interval);
        Estimate {
            value: of_all(from_per_sec.value + further.value),
            interval: ends.map(|(from, further)| (of_all(from.0 + further.0), of_all(from.1 + further.1))),
        }
    }

    /// The throughput at which nothing is left of it: X + (c − U)/D, from where it was measured.
    pub fn at_per_sec(&self, from_per_sec: Estimate) -> Estimate {
        self.with_machines(self.machines, from_per_sec)
    }

    /// (c − U)/D: how much further throughput goes; below zero where more was used than there is.
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
    /// The stops in their order; those that nothing would ever reach are left out.
    pub(super) fn new(from: GrowthStart, mut stops: Vec<Stop>) -> Option<Self> {
        let from_per_sec = from.per_sec;
        stops.retain(|stop| stop.per_request.value > 0.0 && stop.capacity > 0.0);
        stops.sort_by(|a, b| a.at_per_sec(from_per_sec).value.total_cmp(&b.at_per_sec(from_per_sec).value));
        // Of several machines of a tier the one that is full first stands for it.
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
