//! What processes did with their time, apart from the CPU of their busiest threads.

use plimsoll_record::metric::{go, jvm, mariadb, memcached, nginx, process, redis, waiting};
use plimsoll_record::{Metric, Source};

use super::curve::Curve;
use super::kind::CurveKind;
use super::windows::{Value, Windows, share_us};
use crate::findings::Part;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::track::{Span, Track};
use crate::hosts::usage::collecting::collecting;
use crate::hosts::usage::compute::cpu_of;

pub(super) fn curves(windows: &Windows<'_>, resources: &[Resource]) -> Vec<Curve> {
    let mut curves = garbage(windows);
    curves.extend(waiting_threads(windows));
    curves.extend(waits_of_threads(windows, resources));
    curves.push(wait_of_host(windows));
    let processes = [Source::Process, Source::OtherProcesses];
    curves.extend(windows.by_part(CurveKind::ProcessCpu, &processes, cpu_of, sum));
    curves.extend(turned_away(windows));
    curves
}

fn sum(a: f64, b: f64) -> f64 {
    a + b
}

/// Pauses as the runtimes report them, the CPU of collecting threads, and how full heaps are.
fn garbage(windows: &Windows<'_>) -> Vec<Curve> {
    let of_jvm: Value = |track, span| track.per_sec(jvm::GC_TIME_MS, span).map(|ms| ms / 1e3);
    let of_go: Value = |track, span| share_us(track, go::GC_PAUSE_US, span);
    let heap: Value =
        |track, span| Some(track.most(jvm::HEAP_USED_BYTES, span)? / track.last(jvm::HEAP_MAX_BYTES)?);
    let mut curves = windows.by_part(CurveKind::GcPauses, &[Source::Jvm], of_jvm, f64::max);
    curves.extend(windows.by_part(CurveKind::GcPauses, &[Source::Go], of_go, f64::max));
    curves.extend(windows.by_part(CurveKind::Heap, &[Source::Jvm], heap, f64::max));
    curves.extend(collector_threads(windows));
    curves
}

/// The share of collecting threads, for each process name: in each window that of the process that collects most.
fn collector_threads(windows: &Windows<'_>) -> Vec<Curve> {
    let by_window: Vec<Vec<(String, f64)>> = windows
        .spans
        .iter()
        .map(|span| {
            let found = collecting(windows.hosts, windows.host, *span).into_iter();
            found.map(|one| (one.process.to_owned(), one.ratio())).collect()
        })
        .collect();
    let mut names: Vec<&String> = by_window.iter().flatten().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let curve = |name: &String| {
        let of = |found: &Vec<(String, f64)>| {
            found.iter().filter(|(process, _)| process == name).map(|(_, ratio)| *ratio).reduce(f64::max)
        };
        let values = by_window.iter().map(of).collect();
        let part = Part::Processes(name.clone());
        Curve { kind: CurveKind::GcThreads, host: windows.host.to_owned(), part, values }
    };
    names.into_iter().map(curve).collect()
}

fn waiting_threads(windows: &Windows<'_>) -> Vec<Curve> {
    fn mean(track: &Track<'_>, metric: Metric, span: Span) -> Option<f64> {
        let samples = track.per_sec(waiting::LOOKS, span).filter(|samples| *samples > 0.0)?;
        Some(track.per_sec(metric, span)? / samples)
    }
    let of = |kind, value: Value| windows.by_part(kind, &[Source::Waiting], value, sum);
    let mut curves = of(CurveKind::LockWaits, |track, span| mean(track, waiting::FUTEX, span));
    curves.extend(of(CurveKind::DiskWaits, |track, span| mean(track, waiting::DISK, span)));
    curves
}

/// The share of the time in which busy threads were ready and had no CPU.
fn waits_of_threads(windows: &Windows<'_>, resources: &[Resource]) -> Vec<Curve> {
    let threads = resources
        .iter()
        .filter(|resource| resource.kind == ResourceKind::Thread && resource.host == windows.host);
    let curve = |thread: &Resource| {
        let track = |source| windows.hosts.track(windows.host, source, thread.subject()?);
        let track = track(Source::Thread).or_else(|| track(Source::Process))?;
        let ready = track.own(process::RUN_WAIT_US)?;
        Some(windows.curve(CurveKind::CpuWait, thread.part.clone(), |span| share_us(track, ready, span)))
    };
    threads.filter_map(curve).collect()
}

/// The share of the CPU time needed by the watched processes of a host that they did not get.
fn wait_of_host(windows: &Windows<'_>) -> Curve {
    let part = |span| {
        let processes = windows.hosts.of(windows.host, Source::Process);
        let times = processes.filter_map(|(_, track)| {
            Some((share_us(track, process::RUN_WAIT_US, span)?, cpu_of(track, span)?))
        });
        let (waited, used) = times.reduce(|a, b| (a.0 + b.0, a.1 + b.1))?;
        Some(waited / (waited + used).max(f64::MIN_POSITIVE))
    };
    windows.curve(CurveKind::CpuWait, Part::Whole, part)
}

fn turned_away(windows: &Windows<'_>) -> Vec<Curve> {
    let of = |source, value: Value| windows.by_part(CurveKind::TurnedAway, &[source], value, sum);
    let nginx: Value =
        |track, span| Some(track.per_sec(nginx::ACCEPTS, span)? - track.per_sec(nginx::HANDLED, span)?);
    [
        of(Source::Nginx, nginx),
        of(Source::Redis, |track, span| track.per_sec(redis::REJECTED_CONNECTIONS, span)),
        of(Source::Memcached, |track, span| track.per_sec(memcached::LISTEN_DISABLED, span)),
        of(Source::Mariadb, |track, span| track.per_sec(mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS, span)),
    ]
    .concat()
}
