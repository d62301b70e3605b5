//! What was used of each resource of each host, step by step.

mod compute;
mod disk;
mod held;
mod network;

use plimsoll_record::Run;

pub(crate) use compute::cpu_of;

use crate::demand::{Load, demand};
use crate::hosts::{GENERATOR, Hosts, Span};
use crate::knee::{counts_for_capacity, whole};
use crate::{Resource, ResourceKind, StepSummary};

/// The samples of hosts beside the steps they are for.
pub(crate) struct Seen<'a> {
    pub(crate) hosts: &'a Hosts<'a>,
    /// The measured window of each step, in the order of the steps.
    pub(crate) spans: &'a [Span],
    /// Processors of the machine that made the run: those of a host made on it that was given no fewer.
    pub(crate) machine_cores: f64,
}

impl Seen<'_> {
    /// A figure of each step.
    pub(crate) fn each(&self, figure: impl Fn(Span) -> Option<f64>) -> Vec<Option<f64>> {
        self.spans.iter().map(|span| figure(*span)).collect()
    }
}

/// One resource before its demand is known.
fn resource(kind: ResourceKind, host: &str, detail: &str, capacity: Option<f64>) -> Resource {
    let (host, detail) = (host.to_owned(), detail.to_owned());
    Resource { kind, host, detail, capacity, used: Vec::new(), demand: None }
}

/// When each step was measured: after its warm-up, for as long as its throughput was counted.
pub(crate) fn spans(run: &Run, steps: &[StepSummary]) -> Vec<Span> {
    let span = |summary: &StepSummary| {
        let began_ns =
            run.steps.iter().find(|step| step.index == summary.index).map_or(0, |step| step.began_ns);
        let from_ns = began_ns + (summary.warmup_sec * 1e9) as u64;
        Span { from_ns, to_ns: from_ns + (summary.measured_sec * 1e9) as u64 }
    };
    steps.iter().map(span).collect()
}

/// All resources of all hosts that were looked at, with the demands that the steps show.
pub(crate) fn resources(seen: &Seen<'_>, steps: &[StepSummary]) -> Vec<Resource> {
    let names = seen.hosts.names().into_iter().chain([GENERATOR]);
    let mut resources: Vec<Resource> = names.flat_map(|host| of_host(seen, host)).collect();
    resources.retain(|resource| resource.used.iter().any(Option::is_some));
    for resource in resources.iter_mut().filter(|resource| resource.kind.is_spent()) {
        resource.demand = demand_of(resource, steps);
    }
    resources
}

fn of_host(seen: &Seen<'_>, host: &str) -> Vec<Resource> {
    let mut resources = compute::resources(seen, host);
    resources.extend(network::resources(seen, host));
    resources.extend(disk::resources(seen, host));
    resources.extend(held::resources(seen, host));
    resources
}

/// Over the steps whose throughput is that of successful answers: others mix two kinds of requests.
fn demand_of(resource: &Resource, steps: &[StepSummary]) -> Option<crate::Demand> {
    let usable = |step: &StepSummary| whole(step) && counts_for_capacity(step);
    let load = |(step, used): (&StepSummary, &Option<f64>)| {
        Some(Load { throughput_per_sec: step.throughput.value, used: (*used)? })
    };
    let pairs = steps.iter().zip(&resource.used).filter(|(step, _)| usable(step));
    let loads: Vec<Load> = pairs.filter_map(load).collect();
    let plateau = *loads.iter().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec))?;
    demand(&loads, plateau, resource.capacity)
}
