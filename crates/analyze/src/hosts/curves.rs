//! Figures of hosts and processes over time that are not the use of a resource: garbage collection, stalls, waits, and the CPU of
//! each process. A page draws them over the time of the load. No rule reads them.

mod curve;
mod generator;
mod kind;
mod processes;
mod windows;

use plimsoll_record::metric::{cgroup, core, cpu, memory, pressure, process, tcp};
use plimsoll_record::{Metric, Run, Source, Subject};

pub use curve::Curve;
pub use kind::CurveKind;
use windows::{Value, Windows, share_us};

use super::resource::Resource;
use super::track::{Span, Track};
use super::tracks::{GENERATOR, Hosts};
use crate::findings::Part;

/// All curves of a run that are not zero throughout. `resources` are those of the same windows.
pub(crate) fn curves(run: &Run, hosts: &Hosts<'_>, spans: &[Span], resources: &[Resource]) -> Vec<Curve> {
    let names = hosts.names().into_iter().chain([GENERATOR]);
    let mut curves: Vec<Curve> = names
        .flat_map(|host| {
            let windows = Windows { hosts, host, spans };
            of_host(&windows).into_iter().chain(processes::curves(&windows, resources))
        })
        .collect();
    curves.extend(generator::curves(run, spans));
    curves.retain(|curve| curve.peak() > curve.kind.floor());
    curves
}

/// The share of all processor time of a host, or of a core, that these counters of milliseconds have.
fn share_of_total(track: &Track<'_>, metrics: &[Metric], span: Span) -> Option<f64> {
    let total_ms = track.per_sec(track.own(cpu::TOTAL_MS)?, span).filter(|total_ms| *total_ms > 0.0)?;
    let parts = metrics.iter().filter_map(|metric| track.per_sec(track.own(*metric)?, span));
    Some(parts.reduce(|a, b| a + b)? / total_ms)
}

fn of_host(windows: &Windows<'_>) -> Vec<Curve> {
    let pressure: [(CurveKind, Value); 3] = [
        (CurveKind::CpuPressure, |track, span| share_us(track, pressure::CPU_SOME_US, span)),
        (CurveKind::IoPressure, |track, span| share_us(track, pressure::IO_SOME_US, span)),
        (CurveKind::MemoryPressure, |track, span| share_us(track, pressure::MEMORY_SOME_US, span)),
    ];
    let pressure = pressure.map(|(kind, value)| windows.whole(kind, Source::Pressure, value));
    let stolen: Value = |track, span| share_of_total(track, &[cpu::STEAL_MS], span);
    let overflown: Value = |track, span| {
        let overflows = track.per_sec(tcp::LISTEN_OVERFLOWS, span)?;
        Some(overflows.max(track.per_sec(tcp::LISTEN_DROPS, span).unwrap_or(0.0)))
    };
    let whole = [
        windows.whole(CurveKind::Stolen, Source::Cpu, stolen),
        windows.whole(CurveKind::QueueOverflows, Source::Tcp, overflown),
        pages_fetched(windows),
    ];
    let packets: Value = |track, span| share_of_total(track, &[core::SOFTIRQ_MS, core::IRQ_MS], span);
    let throttled: Value = |track, span| track.throttled(span);
    let mut curves: Vec<Curve> = pressure.into_iter().chain(whole).flatten().collect();
    curves.extend(windows.by_part(CurveKind::Throttled, &[Source::Cgroup], throttled, f64::max));
    curves.extend(windows.by_part(CurveKind::PacketTime, &[Source::Core], packets, f64::max));
    curves
}

/// Pages per second that were read from swap, or from files that had been in memory, whichever are more.
fn pages_fetched(windows: &Windows<'_>) -> Option<Curve> {
    let track = |source| windows.hosts.track(windows.host, source, Subject::Host);
    let (machine, group) = (track(Source::Memory), track(Source::Cgroup));
    machine.or(group)?;
    let faults = |span| {
        let processes = windows.hosts.of(windows.host, Source::Process);
        processes.filter_map(|(_, track)| track.per_sec(process::MAJOR_FAULTS, span)).reduce(|a, b| a + b)
    };
    let value = |span| {
        let swapped = machine.and_then(|track| track.per_sec(memory::SWAPPED_IN_PAGES, span));
        let again = group.and_then(|track| track.per_sec(cgroup::REFAULTED_PAGES, span));
        [swapped, again, faults(span)].into_iter().flatten().reduce(f64::max)
    };
    Some(windows.curve(CurveKind::PagesFetched, Part::Whole, value))
}
