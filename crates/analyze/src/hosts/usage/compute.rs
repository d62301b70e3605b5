//! The use of processors: of a host, of each core, of a thread, of a control group.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::{cgroup, cpu, declared, process, redis};
use plimsoll_record::{Source, Subject};

use crate::findings::{Part, ProcessId};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::track::{Span, Track};
use crate::hosts::tracks::{Hosts, StepSamples};
use crate::hosts::utilisation::TIE;

/// A thread that was never busier than this is not listed as a resource.
const MIN_THREAD_CORES: f64 = 0.2;

/// Prefixes of the names of HotSpot's compiler threads, cut as the kernel cuts them.
const COMPILERS: [&str; 2] = ["C1 CompilerThre", "C2 CompilerThre"];

/// True for a thread that compiles code while others run it: it serves no requests, and these do not wait for it.
pub(crate) fn is_compiler(thread: &str) -> bool {
    COMPILERS.iter().any(|begin| thread.starts_with(begin))
}

/// All resources of a host that run code.
pub(super) fn resources(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let mut resources: Vec<Resource> = cpu(samples, host).into_iter().collect();
    for (core, track) in samples.hosts.parts(host, Source::Core) {
        let used = samples.each(|span| busy_ratio(track, span));
        resources.push(Resource::new(ResourceKind::Core, (host, core), Some(1.0), used));
    }
    resources.extend(allowed_cores(samples, host));
    resources.extend(quotas(samples, host));
    resources.extend(threads(samples, host));
    resources
}

/// The number of processors that a host may use. For a host that is a control group: its quota, or else what the plan states, what
/// the host has, or what its machine has. For others: what the host has, or else what the plan states.
pub(crate) fn cores_of(samples: &StepSamples<'_>, host: &str) -> Option<f64> {
    let declared = || {
        Some(samples.hosts.track(host, Source::Declared, Subject::Host)?.last(declared::CORES_MILLI)? / 1e3)
    };
    let has = || samples.hosts.track(host, Source::Cpu, Subject::Host)?.last(cpu::CORES);
    match samples.hosts.own_group(host) {
        Some(own) => own.quota().or_else(declared).or_else(has).or(Some(samples.machine_cores)),
        None => has().or_else(declared),
    }
}

/// The cores that busy processes may run on, where these are not all of the host.
fn allowed_cores(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let number = |(subject, track)| match subject {
        Subject::Core(number) => Some((number, track)),
        _ => None,
    };
    let cores: BTreeMap<u32, &Track<'_>> = samples.hosts.of(host, Source::Core).filter_map(number).collect();
    let resource = |set: u64| {
        let allowed: BTreeSet<u32> = cores.keys().copied().filter(|core| is_in(set, *core)).collect();
        let used = |span| allowed.iter().map(|core| busy_ratio(cores[core], span)).sum();
        let (used, capacity) = (samples.each(used), allowed.len());
        (capacity > 0 && capacity < cores.len()).then(|| {
            let part = Part::Cores(allowed);
            Resource::new(ResourceKind::AllowedCores, (host, part), Some(capacity as f64), used)
        })
    };
    core_sets(samples, host).into_iter().filter_map(resource).collect()
}

/// The sets of cores that busy processes may run on, each once. A set with a core beyond the 64th is not recorded.
fn core_sets(samples: &StepSamples<'_>, host: &str) -> BTreeSet<u64> {
    let is_busy = |track: &Track<'_>| {
        let mut used = samples.spans.iter().filter_map(|span| cpu_of(track, *span));
        used.any(|used| used >= MIN_THREAD_CORES)
    };
    let busy = samples.hosts.of(host, Source::Process).filter(|(_, track)| is_busy(track));
    busy.filter_map(|(_, track)| track.last_number(process::ALLOWED_CORES)).collect()
}

/// The cores of a host that one of its processes may run on; `None` where that is not recorded.
pub(crate) fn cores_of_process(hosts: &Hosts<'_>, host: &str, pid: u32) -> Option<BTreeSet<u32>> {
    let (_, track) = hosts.of(host, Source::Process).find(|(subject, _)| subject.pid() == Some(pid))?;
    let set = track.last_number(process::ALLOWED_CORES)?;
    let allowed = |subject| match subject {
        Subject::Core(number) => Some(number).filter(|core| is_in(set, *core)),
        _ => None,
    };
    Some(hosts.of(host, Source::Core).filter_map(|(subject, _)| allowed(subject)).collect())
}

fn is_in(set: u64, core: u32) -> bool {
    set.checked_shr(core).is_some_and(|rest| rest & 1 == 1)
}

fn cpu(samples: &StepSamples<'_>, host: &str) -> Option<Resource> {
    let cores = cores_of(samples, host);
    let track = cpu_track(samples, host)?;
    let used = samples.each(|span| host_cores(track, cores, span));
    Some(Resource::new(ResourceKind::Cpu, (host, Part::Whole), cores, used))
}

/// Cores of a host that were used before there was load; `None` where that was not sampled.
pub(super) fn cores_at_rest(samples: &StepSamples<'_>, host: &str) -> Option<f64> {
    let track = cpu_track(samples, host)?;
    host_cores(track, cores_of(samples, host), samples.hosts.rest(track)?)
}

/// The track that counts the processor time of a host: that of its own control group, or of its machine.
fn cpu_track<'s>(samples: &'s StepSamples<'_>, host: &str) -> Option<&'s Track<'s>> {
    let own = samples.hosts.own_group(host);
    own.or_else(|| samples.hosts.track(host, Source::Cpu, Subject::Host))
}

fn host_cores(track: &Track<'_>, cores: Option<f64>, span: Span) -> Option<f64> {
    match track.is_of(Source::Cgroup) {
        true => group_cores(track, span),
        false => Some(busy_ratio(track, span)? * cores?),
    }
}

/// The share of the time of processors, all or one, in which they were not idle. Time stolen by other guests of the machine counts as
/// busy: it is unavailable.
fn busy_ratio(track: &Track<'_>, span: Span) -> Option<f64> {
    let per_sec = |metric| track.per_sec(track.own(metric)?, span);
    let total_ms = per_sec(cpu::TOTAL_MS).filter(|total_ms| *total_ms > 0.0)?;
    let idle_ms = per_sec(cpu::IDLE_MS)? + per_sec(cpu::IOWAIT_MS).unwrap_or(0.0);
    Some((1.0 - idle_ms / total_ms).max(0.0))
}

/// Quotas that are lower than what the host has. A process of a lab host is in the host's own group and reports that group's quota.
fn quotas(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let has = cores_of(samples, host);
    let mut quotas = all_quotas(samples, host);
    quotas.retain(|quota| has.zip(quota.capacity).is_none_or(|(has, quota)| quota < (1.0 - TIE) * has));
    quotas
}

/// Groups below the host's own that have a quota; or, where groups are not read, the quotas that processes report of their groups.
fn all_quotas(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let of = |source, cores: fn(&Track<'_>, Span) -> Option<f64>| -> Vec<Resource> {
        let quota = |(part, track): (Part, &Track<'_>)| {
            let group = group_of(part)?;
            let quota = track.quota()?;
            let used = samples.each(|span| cores(track, span));
            Some(Resource::new(ResourceKind::Quota, (host, group), Some(quota), used))
        };
        samples.hosts.parts(host, source).filter_map(quota).collect()
    };
    let groups = of(Source::Cgroup, group_cores);
    if groups.is_empty() { of(Source::Process, cpu_of) } else { groups }
}

/// The control group whose quota a sample reports; `None` for the host's own.
fn group_of(sampled: Part) -> Option<Part> {
    match sampled {
        Part::Whole => None,
        Part::Process(process) => Some(Part::GroupOf(process)),
        group => Some(group),
    }
}

/// Cores that a control group used.
fn group_cores(track: &Track<'_>, span: Span) -> Option<f64> {
    track.per_sec(cgroup::USAGE_US, span).map(|us| us / 1e6)
}

/// Cores that a thread, a process or a component used.
pub(crate) fn cpu_of(track: &Track<'_>, span: Span) -> Option<f64> {
    track.per_sec(track.own(process::CPU_US)?, span).map(|us| us / 1e6)
}

/// Cores used by the thread of a Redis server that runs all commands (others may read and write for it); `None` for other sources.
fn main_thread_of(track: &Track<'_>, span: Span) -> Option<f64> {
    if !track.is_of(Source::Redis) {
        return None;
    }
    track.per_sec(redis::MAIN_THREAD_CPU_US, span).map(|us| us / 1e6)
}

/// Cores used by those children of a process that ended and that it waited for.
pub(crate) fn cpu_of_children(track: &Track<'_>, span: Span) -> Option<f64> {
    track.per_sec(process::CHILDREN_CPU_MS, span).map(|ms| ms / 1e3)
}

/// Threads that were ever busy, and processes of one thread whose threads were not sampled.
fn threads(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let sampled: BTreeSet<u32> =
        samples.hosts.of(host, Source::Thread).filter_map(|(subject, _)| subject.pid()).collect();
    let is_sole = |process: &ProcessId, track: &Track<'_>| {
        !sampled.contains(&process.pid) && track.last(process::THREADS) == Some(1.0)
    };
    let processes = samples.hosts.of(host, Source::Process).filter_map(|(subject, track)| {
        let process = ProcessId::from_subject(subject).filter(|process| is_sole(process, track))?;
        Some((Part::SoleThread(process), track))
    });
    let components = samples.hosts.of(host, Source::Redis).filter(|_| sampled.is_empty());
    let components = components.map(|(subject, track)| {
        (Part::ComponentThread { component: Source::Redis, address: subject.to_string() }, track)
    });
    let one = |(part, track): (Part, &Track<'_>)| {
        let used = samples.each(|span| main_thread_of(track, span).or_else(|| cpu_of(track, span)));
        Resource::new(ResourceKind::Thread, (host, part), Some(1.0), used)
    };
    let busy = |resource: &Resource| resource.used.iter().flatten().any(|used| *used >= MIN_THREAD_CORES);
    let threads = samples.hosts.parts(host, Source::Thread).chain(processes).chain(components);
    threads.map(one).filter(busy).collect()
}
