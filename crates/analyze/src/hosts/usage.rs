//! What was used of each resource of each host, step by step.

mod compute;
mod disk;
mod held;
mod network;

pub(crate) use compute::cpu_of;

use super::demand::{Demand, Load, demand};
pub(crate) use super::step_samples::{StepSamples, spans};
use super::tracks::GENERATOR;
use crate::load::knee::{counts_for_capacity, whole};
use crate::{Resource, StepSummary};

/// All resources of all sampled hosts, with the demands that the steps show.
pub(crate) fn resources(samples: &StepSamples<'_>, steps: &[StepSummary]) -> Vec<Resource> {
    let names = samples.hosts.names().into_iter().chain([GENERATOR]);
    let mut resources: Vec<Resource> = names.flat_map(|host| of_host(samples, host)).collect();
    resources.retain(|resource| resource.used.iter().any(Option::is_some));
    for resource in resources.iter_mut().filter(|resource| resource.kind.is_spent()) {
        resource.demand = demand_of(resource, steps);
    }
    resources
}

fn of_host(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let mut resources = compute::resources(samples, host);
    resources.extend(network::resources(samples, host));
    resources.extend(disk::resources(samples, host));
    resources.extend(held::resources(samples, host));
    resources
}

/// Over the steps whose throughput is that of successful answers: others mix two kinds of requests.
fn demand_of(resource: &Resource, steps: &[StepSummary]) -> Option<Demand> {
    let usable = |step: &StepSummary| whole(step) && counts_for_capacity(step);
    let load = |(step, used): (&StepSummary, &Option<f64>)| {
        Some(Load { throughput_per_sec: step.throughput.value, used: (*used)? })
    };
    let pairs = steps.iter().zip(&resource.used).filter(|(step, _)| usable(step));
    let loads: Vec<Load> = pairs.filter_map(load).collect();
    let plateau = *loads.iter().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec))?;
    demand(&loads, plateau, resource.capacity)
}
