//! `memory`: a heap too small for what is made in it, or pages that are fetched again and again.

use plimsoll_units::significant;

use crate::hosts::{Track, name_of, pid_of};
use crate::verdict::bounds;
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{EvidenceRow, Limit};

/// A heap that is this full at its fullest leaves the collector no room.
const HEAP_FULL: f64 = 0.8;

/// Processes that collect garbage more than they should, and hosts that fetch pages for requests.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let hosts = scene.hosts().into_iter();
    hosts.filter_map(|host| collecting(scene, host).or_else(|| paging(scene, host))).collect()
}

/// True for a thread that collects garbage, by the names that HotSpot's collectors and .NET's give theirs. The VM thread
/// is the one that the serial collector works in, and has little else to do.
pub(super) fn is_collector(thread: &str) -> bool {
    let begins = [
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
    begins.iter().any(|begin| thread.starts_with(begin)) || thread == "VM Thread"
}

/// The part of its CPU that a process spends on collecting, by its threads' names.
fn by_threads(scene: &Scene<'_>, host: &str) -> Option<(String, f64)> {
    let span = scene.span();
    let collectors =
        scene.seen.hosts.of(host, "thread").filter(|(subject, _)| is_collector(name_of(subject)));
    let mut cores: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
    for (subject, track) in collectors {
        if let (Some(pid), Some(used)) = (pid_of(subject), crate::usage::cpu_of(track, span)) {
            *cores.entry(pid).or_default() += used;
        }
    }
    let (pid, most) = cores.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let owner = scene.seen.hosts.of(host, "process").find(|(subject, _)| pid_of(subject) == Some(pid));
    let (subject, track) = owner?;
    let all = crate::usage::cpu_of(track, span).filter(|all| *all > 0.0)?;
    Some((name_of(subject).to_owned(), (most / all).min(1.0)))
}

/// The part of the time that a Java machine stood still to collect.
fn by_pauses(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let tracks = scene.seen.hosts.of(host, "jvm");
    let paused = tracks.filter_map(|(_, track)| Some(track.per_sec("gc_time_ms", scene.span())? / 1e3));
    paused.reduce(f64::max)
}

/// How full the heap was at its fullest.
fn heap(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let full = |track: &Track<'_>| {
        Some(track.most("heap_used_bytes", scene.span())? / track.last("heap_max_bytes")?)
    };
    scene.seen.hosts.of(host, "jvm").filter_map(|(_, track)| full(track)).reduce(f64::max)
}

fn collecting(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let threads = by_threads(scene, host);
    let pauses = by_pauses(scene, host);
    let (process, part) = match (threads, pauses) {
        (Some((name, part)), Some(pauses)) if part >= pauses => (name, part),
        (Some((name, part)), None) => (name, part),
        (Some((name, _)), Some(pauses)) => (name, pauses),
        (None, Some(pauses)) => ("java".to_owned(), pauses),
        (None, None) => return None,
    };
    if part < bounds::COLLECTING {
        return None;
    }
    let heap = heap(scene, host);
    let fullest =
        heap.map_or_else(String::new, |heap| format!("; its heap was {} full at its fullest", percent(heap)));
    let sentence = format!(
        "the memory of {process} on {host} is the limit: it spent {} of its work on collecting garbage{fullest}",
        percent(part)
    );
    let mut evidence: Vec<EvidenceRow> =
        vec![scene.row(format!("work of {process} on {host} that was collecting garbage"), part, Some(1.0))];
    evidence.extend(
        heap.map(|heap| scene.row(format!("heap of {process} on {host} at its fullest"), heap, Some(1.0))),
    );
    evidence.extend(scene.cpu_share(host).map(|share| scene.row(format!("CPU of {host}"), share, Some(1.0))));
    Some(Suspicion {
        direct: heap.is_some_and(|heap| heap >= HEAP_FULL),
        evidence,
        advice: vec![format!(
            "give {process} on {host} twice the heap and repeat the load: collecting should take half as much, and \
             throughput grow by {} or up to the next limit",
            percent(1.0 / (1.0 - part / 2.0).max(0.5) - 1.0)
        )],
        ..Suspicion::new(Limit::Memory, format!("{host}: {process}"), sentence)
    })
}

/// Pages a request that were fetched from swap, or from files because the group was at its memory limit.
fn pages_per_request(scene: &Scene<'_>, host: &str) -> Option<f64> {
    let span = scene.span();
    let memory = scene.seen.hosts.track(host, "memory", "");
    let swapped = memory.and_then(|track| track.per_sec("swapped_in_pages", span));
    let group = scene.seen.hosts.track(host, "cgroup", "");
    let at_limit = group.is_some_and(|group| is_at_limit(scene, group));
    let processes = scene.seen.hosts.of(host, "process");
    let faults = processes.filter_map(|(_, track)| track.per_sec("major_faults", span)).reduce(|a, b| a + b);
    // What is read without being mapped is no fault of the process, and fetched again all the same.
    let refaults = group.and_then(|group| group.per_sec("refaulted_pages", span));
    let again = faults.into_iter().chain(refaults).filter(|_| at_limit);
    let fetched = swapped.into_iter().chain(again).reduce(f64::max)?;
    (scene.throughput() > 0.0).then(|| fetched / scene.throughput())
}

/// Whether a group was refused memory, or has as much as it may: where swap is limited to the same, version 1 counts no
/// refusals.
fn is_at_limit(scene: &Scene<'_>, group: &Track<'_>) -> bool {
    let span = scene.span();
    let refused = group.per_sec("memory_failures", span).is_some_and(|rate| rate > 0.0);
    let full = || {
        let part = group.most("memory_bytes", span)? / group.last("memory_limit_bytes")?;
        Some(part >= bounds::FULL)
    };
    refused || full() == Some(true)
}

fn paging(scene: &Scene<'_>, host: &str) -> Option<Suspicion> {
    let pages = pages_per_request(scene, host).filter(|pages| *pages >= bounds::PER_REQUEST)?;
    let stalled = scene.seen.hosts.track(host, "pressure", "");
    let stalled = stalled.and_then(|track| track.per_sec("memory_some_us", scene.span())).map(|us| us / 1e6);
    let sentence = format!(
        "the memory of {host} is the limit: {} pages a request were fetched again because there was no room for them",
        significant(pages)
    );
    let mut evidence = vec![scene.row(format!("pages fetched again on {host}, a request"), pages, None)];
    evidence.extend(
        stalled
            .map(|part| scene.row(format!("time that tasks on {host} waited for memory"), part, Some(1.0))),
    );
    let direct = stalled.is_some_and(|part| part >= 0.5);
    // What is fetched for the first time would be fetched with any memory: then the disk itself is the limit.
    let disk =
        || super::disk::waited_for(scene, host).then(|| Suspicion::new(Limit::Disk, host, String::new()));
    Some(Suspicion {
        direct,
        beside: if direct { None } else { disk() }.into_iter().collect(),
        evidence,
        advice: vec![format!(
            "give {host} half as much memory again, or its processes less to hold, and repeat the load"
        )],
        ..Suspicion::new(Limit::Memory, host, sentence)
    })
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
