//! The share of garbage collection in a process, by the CPU time of the threads that do it.

use std::collections::BTreeMap;

use plimsoll_record::Source;

use super::compute::cpu_of;
use crate::hosts::track::Span;
use crate::hosts::tracks::Hosts;

/// Prefixes of the names of threads that collect garbage, in HotSpot's collectors and .NET's.
const COLLECTORS: [&str; 9] = [
    "GC Thread",
    "G1 ",
    "ZWorker",
    "ZDriver",
    "ZMark",
    "Shenandoah",
    "Concurrent Mark",
    ".NET Server GC",
    ".NET BGC",
];

/// True for a thread that collects garbage. HotSpot's serial collector works in the VM thread, which has little else to do.
pub(crate) fn is_collector(thread: &str) -> bool {
    COLLECTORS.iter().any(|begin| thread.starts_with(begin)) || thread == "VM Thread"
}

/// True for a collecting thread that runs only while the others of its process stand still: they stand still for at least as long
/// as it runs.
fn stops_the_world(thread: &str) -> bool {
    thread == "VM Thread" || thread.starts_with("GC Thread")
}

/// A process whose collecting threads were sampled.
pub(crate) struct Collecting<'a> {
    pub(crate) pid: u32,
    /// The name of the process.
    pub(crate) process: &'a str,
    /// Cores that its collecting threads used.
    pub(crate) cores: f64,
    /// The smallest share of the time that its other threads stood still for collection.
    pub(crate) stopped: f64,
    /// Cores that all of its threads used, more than 0.
    pub(crate) of_cores: f64,
}

impl Collecting<'_> {
    /// The share of its CPU time that was garbage collection.
    pub(crate) fn ratio(&self) -> f64 {
        (self.cores / self.of_cores).min(1.0)
    }
}

/// The processes of a host that collect garbage in threads of their own.
pub(crate) fn collecting<'a>(hosts: &Hosts<'a>, host: &str, span: Span) -> Vec<Collecting<'a>> {
    let collectors = hosts.of(host, Source::Thread).filter(|(subject, _)| is_collector(subject.name()));
    let mut by_process: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (subject, track) in collectors {
        if let (Some(pid), Some(used)) = (subject.pid(), cpu_of(track, span)) {
            let (cores, stopped) = by_process.entry(pid).or_default();
            *cores += used;
            if stops_the_world(subject.name()) {
                *stopped = stopped.max(used);
            }
        }
    }
    let process = |(subject, track): (plimsoll_record::Subject<'a>, &_)| {
        let pid = subject.pid()?;
        let (cores, stopped) = *by_process.get(&pid)?;
        let of_cores = cpu_of(track, span).filter(|all| *all > 0.0)?;
        Some(Collecting { pid, process: subject.name(), cores, stopped, of_cores })
    };
    hosts.of(host, Source::Process).filter_map(process).collect()
}

#[cfg(test)]
mod tests {
    use super::is_collector;

    #[test]
    fn collectors_are_known_by_their_names_and_workers_are_not_taken_for_them() {
        for name in ["GC Thread#0", "G1 Conc#0", "VM Thread", "ZWorker#1", ".NET Server GC"] {
            assert!(is_collector(name), "{name}");
        }
        for name in ["http-nio-8080-e", "nginx", "C2 CompilerThre", "main", "G1000"] {
            assert!(!is_collector(name), "{name}");
        }
    }
}
