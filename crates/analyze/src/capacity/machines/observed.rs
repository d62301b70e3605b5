//! What runs or a table show of tiers, independent of any target rate.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, Stop};
use super::scaling::Scaling;
use super::size::MachineSize;
use super::terms::TierResource;
use crate::findings::{Limit, Place};

/// The highest throughput that was observed with a tier.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    pub throughput_per_sec: f64,
    pub machines: f64,
    /// The row or the run.
    pub at: String,
}

/// Demands on machines of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizedDemands {
    pub size: MachineSize,
    /// True if the plan is for machines of this size.
    pub is_planned: bool,
    /// What a request uses of the tier, with the capacity of one machine of this size.
    pub demands: Vec<TierDemand>,
}

/// A limit of a tier that has no demand: a lock, a dependency.
#[derive(Debug, Clone, PartialEq)]
pub struct Halt {
    pub run: String,
    /// The number of the run's kind of requests: other requests may not meet the limit.
    pub kind: usize,
    pub per_sec: f64,
    /// Machines of the tier in that run.
    pub machines: f64,
    pub limit: Limit,
    pub place: Place,
}

/// The scaling of a tier before its machines were changed; the scaling after the change was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingBefore {
    pub scaling: Scaling,
    /// True if nothing was made smaller, so that the changed machines carry at least as much.
    pub is_least: bool,
}

/// One tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedTier {
    pub name: String,
    /// One demand for each resource.
    pub demands: Vec<TierDemand>,
    /// The demands for each machine size that was observed, the smallest first; empty where sizes are not known.
    pub sizes: Vec<SizedDemands>,
    /// `None` if no load was recorded for it.
    pub carried: Option<Carried>,
    /// How throughput followed the number of machines of the planned size.
    pub scaling: Option<Scaling>,
    /// The scaling before a change to what limited the tier.
    pub scaling_before: Option<ScalingBefore>,
    pub halts: Vec<Halt>,
    pub doubts: Vec<Doubt>,
}

/// All tiers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The tiers, in the order in which they were named.
    pub tiers: Vec<ObservedTier>,
    pub growth: Option<Growth>,
    pub remarks: Vec<Remark>,
}

impl Observed {
    /// Returns the tier of this name, and adds it if it is missing.
    pub(super) fn tier(&mut self, name: &str) -> &mut ObservedTier {
        let index = self.tiers.iter().position(|tier| tier.name == name).unwrap_or_else(|| {
            self.tiers.push(ObservedTier { name: name.to_owned(), ..ObservedTier::default() });
            self.tiers.len() - 1
        });
        &mut self.tiers[index]
    }
}

impl Observed {
    /// Sets the capacities to those of the run that growth starts from, for tiers that had machines of several sizes.
    pub(super) fn take_machines_of_growth(&mut self) {
        let stops = self.growth.as_ref().map_or(&[][..], |growth| &growth.stops);
        for tier in self.tiers.iter_mut().filter(|tier| tier.sizes.len() > 1) {
            for demand in &mut tier.demands {
                let own = |stop: &&Stop| {
                    stop.tier == tier.name && stop.resource == demand.resource && stop.unit == demand.unit
                };
                let is_given = !matches!(demand.resource, TierResource::Pool | TierResource::Alone);
                if let Some(stop) = stops.iter().find(own).filter(|_| is_given) {
                    demand.capacity = Some(stop.capacity);
                }
            }
            // The plan counts in machines of the planned size.
            for planned in tier.sizes.iter_mut().filter(|sized| sized.is_planned) {
                planned.demands.clone_from(&tier.demands);
            }
        }
    }

    /// Sets the size of pools to that of the run that growth starts from, where a pool was its limit: machines of one size may have had
    /// pools of different sizes.
    pub(super) fn take_pools_of_growth(&mut self) {
        let stops = self.growth.as_ref().map_or(&[][..], |growth| &growth.stops);
        for stop in stops.iter().filter(|stop| stop.resource == TierResource::Pool) {
            for tier in self.tiers.iter_mut().filter(|tier| tier.name == stop.tier) {
                let of_sizes = tier.sizes.iter_mut().flat_map(|sized| &mut sized.demands);
                let demands = tier.demands.iter_mut().chain(of_sizes);
                demands.filter(|demand| demand.resource == TierResource::Pool).for_each(|demand| {
                    demand.capacity = Some(stop.capacity);
                });
            }
        }
    }
}

impl ScalingBefore {
    /// The scaling, if throughput per machine fell with more machines.
    pub(super) fn below_linear(&self) -> Option<&Scaling> {
        Some(&self.scaling).filter(|scaling| scaling.is_below_linear())
    }
}

impl ObservedTier {
    /// Records machines that were not sampled in a run: one doubt, however many runs there are.
    pub(super) fn lacks(&mut self, run: &str, hosts: &[&str]) {
        if hosts.is_empty() {
            return;
        }
        let known = self.doubts.iter_mut().find_map(|doubt| match doubt {
            Doubt::NotSampled { runs, machines } => Some((runs, machines)),
            _ => None,
        });
        let Some((runs, machines)) = known else {
            let machines = hosts.iter().map(|host| (*host).to_owned()).collect();
            self.doubts.push(Doubt::NotSampled { runs: vec![run.to_owned()], machines });
            return;
        };
        runs.push(run.to_owned());
        let new = hosts.iter().filter(|host| !machines.iter().any(|known| known == *host));
        let new: Vec<String> = new.map(|host| (*host).to_owned()).collect();
        machines.extend(new);
    }

    /// Records this throughput if it is the highest so far.
    pub(super) fn carries(&mut self, throughput_per_sec: f64, machines: f64, at: &str) {
        let most = self.carried.as_ref().map_or(0.0, |carried| carried.throughput_per_sec);
        if throughput_per_sec > most {
            self.carried = Some(Carried { throughput_per_sec, machines, at: at.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::growth::GrowthStart;
    use super::super::terms::DemandUnit;
    use super::*;
    use crate::Estimate;

    #[test]
    fn pools_are_as_large_as_where_growth_starts() {
        let per_request = Estimate::exact(0.02);
        let stop = Stop {
            tier: "api".to_owned(),
            resource: TierResource::Pool,
            place: None,
            machines: 1.0,
            unit: DemandUnit::Workers,
            used: 16.0,
            capacity: 16.0,
            per_request,
            used_there: 1.0,
            seen: true,
            scaled: None,
        };
        let from = GrowthStart {
            per_sec: Estimate::exact(800.0),
            at: "base".to_owned(),
            kind: 0,
            limit: Limit::Pool,
            also: Vec::new(),
            machines: Vec::new(),
        };
        let growth = Growth::new(from, vec![stop]);
        let mut observed = Observed { growth, ..Observed::default() };
        let large = TierDemand { resource: TierResource::Pool, ..TierDemand::of_core(per_request) };
        observed.tier("api").demands = vec![TierDemand { capacity: Some(32.0), ..large }];
        observed.take_pools_of_growth();
        assert_eq!(observed.tiers[0].demands[0].capacity, Some(16.0));
    }
}
