//! What runs or a table tell of tiers, before a target is asked for.

use super::demand::TierDemand;
use super::doubt::{Doubt, Remark};
use super::growth::{Growth, Stop};
use super::scaling::Scaling;
use super::size::MachineSize;
use super::terms::TierResource;
use crate::findings::{Limit, Place};

/// The most that a tier was seen to carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    pub throughput_per_sec: f64,
    pub machines: f64,
    /// Where that was: a row, a run.
    pub at: String,
}

/// What a request uses of machines of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizedDemands {
    pub size: MachineSize,
    /// True if the tier is planned with such machines.
    pub is_planned: bool,
    /// What a request uses of the tier, with what a machine of this size has.
    pub demands: Vec<TierDemand>,
}

/// Where a tier was stopped by something that no demand is of: a lock, a dependency.
#[derive(Debug, Clone, PartialEq)]
pub struct Halt {
    pub run: String,
    /// The number of the run's requests: those of others may not meet it.
    pub kind: usize,
    pub per_sec: f64,
    /// Machines of the tier then.
    pub machines: f64,
    pub limit: Limit,
    pub place: Place,
}

/// How a tier scaled before its machines were changed; how it scales then was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingBefore {
    pub scaling: Scaling,
    /// True if nothing was made smaller, so that as many machines carry no less.
    pub is_least: bool,
}

/// One tier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedTier {
    pub name: String,
    /// What a request uses of each of its resources, each once.
    pub demands: Vec<TierDemand>,
    /// The same of each size of machine that was observed, the smallest first; empty where sizes are not known.
    pub sizes: Vec<SizedDemands>,
    /// The most it was seen to carry.
    pub carried: Option<Carried>,
    /// How it scaled with machines of the size that is planned.
    pub scaling: Option<Scaling>,
    /// How it scaled before a change to what limited it.
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
    /// The tier of this name, made if it is not there.
    pub(super) fn tier(&mut self, name: &str) -> &mut ObservedTier {
        let index = self.tiers.iter().position(|tier| tier.name == name).unwrap_or_else(|| {
            self.tiers.push(ObservedTier { name: name.to_owned(), ..ObservedTier::default() });
            self.tiers.len() - 1
        });
        &mut self.tiers[index]
    }
}

impl Observed {
    /// Plans machines as those of the run that growth starts from, where runs had machines of other sizes too.
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
            // What such a machine carries is what the plan counts with.
            for planned in tier.sizes.iter_mut().filter(|sized| sized.is_planned) {
                planned.demands.clone_from(&tier.demands);
            }
        }
    }

    /// Plans pools of as many workers as those of the run that growth starts from, where they were its limit: machines of one size may
    /// have had pools of several.
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
    /// The scaling, if throughput a machine fell with more machines.
    pub(super) fn below_linear(&self) -> Option<&Scaling> {
        Some(&self.scaling).filter(|scaling| scaling.is_below_linear())
    }
}

impl ObservedTier {
    /// Remembers machines of which nothing was sampled in a run: one doubt, however many runs there are.
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

    /// Remembers what it carried, if that is the most so far.
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
