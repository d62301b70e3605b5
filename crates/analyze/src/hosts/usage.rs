//! The use of each resource of each host, step by step.

pub(crate) mod collecting;
pub(crate) mod compute;
pub(crate) mod others;
pub(crate) mod sleep;

use plimsoll_record::metric::{
    cgroup, declared, disk, interface, listener, mariadb, memcached, memory, process,
};
use plimsoll_record::{Metric, Source, Subject, is_inner_interface};

use super::demand::{Demand, Load, demand};
use super::resource::{Resource, ResourceKind};
use super::topology::flow::Flow;
use super::track::Track;
use super::tracks::{GENERATOR, StepSamples};
use crate::StepSummary;
use crate::findings::Part;
use crate::load::knee::{counts_for_capacity, whole};
use others::HostProcesses;

/// The directions of a link: the counter, the amount of the resource per count, and the metric of its capacity in the plan.
const LINKS: [(ResourceKind, Metric, f64, Metric); 4] = [
    (ResourceKind::BandwidthOut, interface::SENT_BYTES, 8.0, declared::LINK_OUT_BITS_PER_SEC),
    (ResourceKind::BandwidthIn, interface::RECEIVED_BYTES, 8.0, declared::LINK_IN_BITS_PER_SEC),
    (ResourceKind::PacketsOut, interface::SENT_PACKETS, 1.0, declared::PACKETS_PER_SEC),
    (ResourceKind::PacketsIn, interface::RECEIVED_PACKETS, 1.0, declared::PACKETS_PER_SEC),
];

/// The directions in which a control group's use of a disk may be capped, and the group's limit, as the kernel has it. A capped group
/// leaves the device idle, so that its bytes show what the device's time does not.
const CAPPED_DISKS: [(ResourceKind, Metric, Metric); 2] = [
    (ResourceKind::DiskRead, cgroup::DISK_READ_BYTES, cgroup::DISK_READ_LIMIT_BYTES_PER_SEC),
    (ResourceKind::DiskWrite, cgroup::DISK_WRITTEN_BYTES, cgroup::DISK_WRITE_LIMIT_BYTES_PER_SEC),
];

/// Resources that are held rather than spent, with their limits.
const HELD: [(ResourceKind, Metric, Metric); 4] = [
    (ResourceKind::Descriptors, process::DESCRIPTORS, process::DESCRIPTORS_LIMIT),
    (ResourceKind::AcceptQueue, listener::QUEUE, listener::QUEUE_LIMIT),
    (ResourceKind::Connections, memcached::CURR_CONNECTIONS, memcached::MAX_CONNECTIONS),
    (ResourceKind::Connections, mariadb::THREADS_CONNECTED, mariadb::MAX_CONNECTIONS),
];

/// All resources of all sampled hosts, with the use of each in each span.
pub(crate) fn used(samples: &StepSamples<'_>) -> Vec<Resource> {
    let names = samples.hosts.names().into_iter().chain([GENERATOR]);
    let mut resources: Vec<Resource> = names.flat_map(|host| of_host(samples, host)).collect();
    resources.retain(|resource| resource.used.iter().any(Option::is_some));
    resources.retain(|one| !one.kind.is_of_machine() || samples.hosts.home(&one.host) == one.host);
    resources
}

/// As [`used`], for the measured time of each step, with the demands that the steps show.
pub(crate) fn resources(samples: &StepSamples<'_>, steps: &[StepSummary], flow: &Flow) -> Vec<Resource> {
    let mut resources = used(samples);
    for resource in resources.iter_mut().filter(|resource| resource.kind.is_spent()) {
        if resource.kind == ResourceKind::Cpu && resource.host != GENERATOR {
            let StepSamples { hosts, spans, .. } = *samples;
            let processes = HostProcesses { host: &resource.host, hosts, spans, steps, flow };
            resource.others =
                processes.others(&resource.used, compute::cores_at_rest(samples, &resource.host));
        }
        resource.demand = demand_of(resource, steps);
    }
    resources
}

/// Cores used by the processes that serve requests, of all sampled hosts together, in the step at this position; `None`
/// where none was sampled. A machine that is sampled under several names counts once.
pub(crate) fn served_cores(
    samples: &StepSamples<'_>,
    steps: &[StepSummary],
    flow: &Flow,
    position: usize,
) -> Option<f64> {
    let StepSamples { hosts, spans, .. } = *samples;
    let homes = hosts.names().into_iter().filter(|name| hosts.home(name) == *name);
    let served = homes.filter_map(|host| HostProcesses { host, hosts, spans, steps, flow }.served(position));
    served.reduce(|a, b| a + b)
}

fn of_host(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let mut resources = compute::resources(samples, host);
    for (interface, track) in samples.hosts.parts(host, Source::Interface) {
        resources.extend(link(samples, host, &interface, track));
    }
    for (device, track) in samples.hosts.parts(host, Source::Disk) {
        let used = samples.each(|span| Some(track.per_sec(disk::BUSY_MS, span)? / 1e3));
        resources.push(Resource::new(ResourceKind::Disk, (host, device), Some(1.0), used));
    }
    for (group, track) in samples.hosts.parts(host, Source::Cgroup) {
        resources.extend(capped_disk(samples, host, &group, track));
    }
    resources.extend(memory(samples, host));
    for (kind, gauge, limit) in HELD {
        for (part, track) in samples.hosts.parts(host, gauge.source) {
            let used = samples.each(|span| track.most(gauge, span));
            resources.push(Resource::new(kind, (host, part), track.last(limit), used));
        }
    }
    resources
}

fn link(samples: &StepSamples<'_>, host: &str, interface: &Part, track: &Track<'_>) -> [Resource; 4] {
    LINKS.map(|(kind, counter, factor, planned)| {
        let used = samples.each(|span| Some(track.per_sec(counter, span)? * factor));
        let capacity = link_capacity(samples, (host, interface), track, (kind, planned));
        Resource::new(kind, (host, interface.clone()), capacity, used)
    })
}

/// The capacity that the plan states, or for bits the speed of the interface. The loopback has no limit of its own. Nor do interfaces to
/// containers, guests or tunnels: the plan's value for a host's link does not apply to them, and their speed is invented.
fn link_capacity(
    samples: &StepSamples<'_>,
    (host, interface): (&str, &Part),
    track: &Track<'_>,
    (kind, planned): (ResourceKind, Metric),
) -> Option<f64> {
    if interface.is_loopback() || matches!(interface, Part::Interface(name) if is_inner_interface(name)) {
        return None;
    }
    let declared = samples.hosts.track(host, Source::Declared, Subject::Host);
    let bits = matches!(kind, ResourceKind::BandwidthOut | ResourceKind::BandwidthIn);
    let speed = || track.last(interface::SPEED_BITS_PER_SEC).filter(|_| bits);
    declared.and_then(|declared| declared.last(planned)).or_else(speed)
}

fn capped_disk(samples: &StepSamples<'_>, host: &str, group: &Part, track: &Track<'_>) -> Vec<Resource> {
    let way = |(kind, counter, limit): (ResourceKind, Metric, Metric)| {
        let limit = track.last(limit)?;
        let used = samples.each(|span| track.per_sec(counter, span));
        Some(Resource::new(kind, (host, group.clone()), Some(limit), used))
    };
    CAPPED_DISKS.into_iter().filter_map(way).collect()
}

fn memory(samples: &StepSamples<'_>, host: &str) -> Option<Resource> {
    if let Some(own) = samples.hosts.track(host, Source::Cgroup, Subject::Host)
        && let Some(limit) = own.last(cgroup::MEMORY_LIMIT_BYTES)
    {
        let used = samples.each(|span| own.most(cgroup::MEMORY_BYTES, span));
        return Some(Resource::new(ResourceKind::Memory, (host, Part::Whole), Some(limit), used));
    }
    let track = samples.hosts.track(host, Source::Memory, Subject::Host)?;
    let total = track.last(memory::TOTAL_BYTES)?;
    let used = samples.each(|span| Some(total - track.mean(memory::AVAILABLE_BYTES, span)?));
    Some(Resource::new(ResourceKind::Memory, (host, Part::Whole), Some(total), used))
}

/// The demand over the steps whose throughput is that of successful answers; other steps mix two kinds of requests. The use by others
/// than the target is subtracted from the use and from the capacity.
fn demand_of(resource: &Resource, steps: &[StepSummary]) -> Option<Demand> {
    let usable = |index: &usize| whole(&steps[*index]) && counts_for_capacity(&steps[*index]);
    let others = |index: usize| resource.others.get(index).copied().flatten().unwrap_or(0.0);
    let load = |index: usize| {
        let used = (resource.used[index]? - others(index)).max(0.0);
        Some((index, Load { throughput_per_sec: steps[index].throughput.value, used }))
    };
    let loads: Vec<(usize, Load)> = (0..steps.len()).filter(usable).filter_map(load).collect();
    let throughput = |(_, load): &(usize, Load)| load.throughput_per_sec;
    let (index, plateau) = *loads.iter().max_by(|a, b| throughput(a).total_cmp(&throughput(b)))?;
    let loads: Vec<Load> = loads.into_iter().map(|(_, load)| load).collect();
    demand(&loads, plateau, resource.capacity.map(|capacity| capacity - others(index)))
}
