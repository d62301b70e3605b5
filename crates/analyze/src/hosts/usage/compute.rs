//! Processors: of a host, one by one, of a thread, of a control group.

use std::collections::BTreeSet;

use plimsoll_record::metric::{cgroup, cpu, declared, process};
use plimsoll_record::{Source, Subject};

use crate::hosts::step_samples::StepSamples;
use crate::hosts::track::{Span, Track};
use crate::hosts::tracks::Hosts;
use crate::hosts::utilisation::TIE;
use crate::{Resource, ResourceKind};

/// A thread that was never busier than this is not worth a row of its own.
const MIN_THREAD_CORES: f64 = 0.2;

/// Everything of a host that runs code.
pub(super) fn resources(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let mut resources: Vec<Resource> = cpu(samples, host).into_iter().collect();
    resources.extend(cores(samples, host));
    resources.extend(quotas(samples, host));
    resources.extend(threads(samples, host));
    resources
}

/// How many processors a host may use: its own group's quota where it is made on this machine, what the plan says, or
/// what it has.
pub(crate) fn cores_of(samples: &StepSamples<'_>, host: &str) -> Option<f64> {
    let declared = || {
        Some(samples.hosts.track(host, Source::Declared, Subject::Host)?.last(declared::CORES_MILLI)? / 1e3)
    };
    let has = || samples.hosts.track(host, Source::Cpu, Subject::Host)?.last(cpu::CORES);
    match samples.hosts.track(host, Source::Cgroup, Subject::Host) {
        Some(own) => quota_of(own).or_else(declared).or(Some(samples.machine_cores)),
        None => has().or_else(declared),
    }
}

fn quota_of(track: &Track<'_>) -> Option<f64> {
    let period_us = track.last(track.own(cgroup::PERIOD_US)?).filter(|period_us| *period_us > 0.0)?;
    Some(track.last(track.own(cgroup::QUOTA_US)?)? / period_us)
}

fn cpu(samples: &StepSamples<'_>, host: &str) -> Option<Resource> {
    let used = match samples.hosts.track(host, Source::Cgroup, Subject::Host) {
        Some(own) => samples.each(|span| own.per_sec(cgroup::USAGE_US, span).map(|us| us / 1e6)),
        None => {
            let all = samples.hosts.track(host, Source::Cpu, Subject::Host)?;
            let cores = cores_of(samples, host);
            samples.each(|span| Some(busy_ratio(all, span)? * cores?))
        }
    };
    Some(Resource { used, ..Resource::new(ResourceKind::Cpu, host, "", cores_of(samples, host)) })
}

/// Time that processors, all or one, did not idle, over all their time. Time stolen by other guests of the machine is busy: it is
/// unavailable.
fn busy_ratio(track: &Track<'_>, span: Span) -> Option<f64> {
    let per_sec = |metric| track.per_sec(track.own(metric)?, span);
    let total_ms = per_sec(cpu::TOTAL_MS).filter(|total_ms| *total_ms > 0.0)?;
    let idle_ms = per_sec(cpu::IDLE_MS)? + per_sec(cpu::IOWAIT_MS).unwrap_or(0.0);
    Some((1.0 - idle_ms / total_ms).max(0.0))
}

fn cores<'s>(samples: &'s StepSamples<'_>, host: &'s str) -> impl Iterator<Item = Resource> + 's {
    samples.hosts.of(host, Source::Core).map(move |(number, track)| {
        let used = samples.each(|span| busy_ratio(track, span));
        Resource { used, ..Resource::new(ResourceKind::Core, host, &format!("core {number}"), Some(1.0)) }
    })
}

/// Quotas that are less than what the host has. A process of a lab's host is in the host's own group and reports its quota.
fn quotas(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let has = cores_of(samples, host);
    let mut quotas = all_quotas(samples, host);
    quotas.retain(|quota| has.zip(quota.capacity).is_none_or(|(has, quota)| quota < (1.0 - TIE) * has));
    quotas
}

/// Groups below the host's own that have a quota. A process reports its group's quota too, for where groups are not read.
fn all_quotas(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let group = |(group, track): (Subject<'_>, &Track<'_>)| {
        let quota = quota_of(track).filter(|_| group != Subject::Host)?;
        let used = samples.each(|span| track.per_sec(cgroup::USAGE_US, span).map(|us| us / 1e6));
        Some(Resource { used, ..Resource::new(ResourceKind::Quota, host, &group.to_string(), Some(quota)) })
    };
    let groups: Vec<Resource> = samples.hosts.of(host, Source::Cgroup).filter_map(group).collect();
    if !groups.is_empty() {
        return groups;
    }
    let process = |(subject, track): (Subject<'_>, &Track<'_>)| {
        let quota = quota_of(track)?;
        let used = samples.each(|span| cpu_of(track, span));
        Some(Resource { used, ..Resource::new(ResourceKind::Quota, host, &subject.to_string(), Some(quota)) })
    };
    samples.hosts.of(host, Source::Process).filter_map(process).collect()
}

/// Cores that a thread, a process or a component used.
pub(crate) fn cpu_of(track: &Track<'_>, span: Span) -> Option<f64> {
    track.per_sec(track.own(process::CPU_US)?, span).map(|us| us / 1e6)
}

/// Threads that were ever busy, and processes of one thread whose threads were not sampled.
fn threads(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let sampled: BTreeSet<u32> = pids(samples.hosts, host);
    let single = |(subject, track): &(Subject<'_>, &Track<'_>)| {
        let unsampled = subject.pid().is_some_and(|pid| !sampled.contains(&pid));
        unsampled && track.last(process::THREADS) == Some(1.0)
    };
    let components = samples.hosts.of(host, Source::Redis).filter(|_| sampled.is_empty());
    let tracks =
        samples.hosts.of(host, Source::Thread).chain(samples.hosts.of(host, Source::Process).filter(single));
    let one = |detail: String, track: &Track<'_>| {
        let used = samples.each(|span| cpu_of(track, span));
        Resource { used, ..Resource::new(ResourceKind::Thread, host, &detail, Some(1.0)) }
    };
    let busy = |resource: &Resource| resource.used.iter().flatten().any(|used| *used >= MIN_THREAD_CORES);
    let components = components.map(|(address, track)| one(format!("redis {address}"), track));
    tracks.map(|(subject, track)| one(subject.to_string(), track)).chain(components).filter(busy).collect()
}

fn pids(hosts: &Hosts<'_>, host: &str) -> BTreeSet<u32> {
    hosts.of(host, Source::Thread).filter_map(|(subject, _)| subject.pid()).collect()
}
