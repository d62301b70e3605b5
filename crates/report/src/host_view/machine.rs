//! CPU, waiting and memory.

use plimsoll_record::metric::{core, cpu, memory, pressure, scheduler};
use plimsoll_record::{Metric, Source};
use plimsoll_units::{bytes_text, count_text};

use super::row::{Row, level_text, percent};
use super::window::{SampledSubject, Window};
use crate::amount::{if_known, list};

/// The share of time from which a CPU, or all of them together, counts as busy.
const BUSY: f64 = 0.9;
/// If a hypervisor takes a larger share than this, the figures are distorted.
const STEAL: f64 = 0.02;
/// The share of time from which waiting explains why tasks are late.
const WAITING: f64 = 0.1;
/// Available memory below this share is notable.
const MEMORY_LEFT: f64 = 0.1;
/// The maximum number of cores shown.
const CORES_SHOWN: usize = 8;

const MODES: [(Metric, &str); 7] = [
    (cpu::USER_MS, "user"),
    (cpu::NICE_MS, "nice"),
    (cpu::SYSTEM_MS, "system"),
    (cpu::IRQ_MS, "irq"),
    (cpu::SOFTIRQ_MS, "softirq"),
    (cpu::IOWAIT_MS, "waiting for disks"),
    (cpu::STEAL_MS, "stolen by the hypervisor"),
];

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let rows = [cpu(window), cores(window), pressure(window), scheduler(window), memory(window)];
    rows.into_iter().flatten().collect()
}

/// Returns the busy share of a CPU from its idle, iowait and total time. A core that waits for a disk is idle.
fn busy(times: &SampledSubject<'_>, [idle, iowait, total]: [Metric; 3]) -> Option<f64> {
    let idle = times.ratio(idle, total)? + times.ratio(iowait, total).unwrap_or(0.0);
    Some((1.0 - idle).clamp(0.0, 1.0))
}

fn cpu(window: &Window<'_>) -> Option<Row> {
    let times = window.host(Source::Cpu)?;
    let busy = busy(&times, [cpu::IDLE_MS, cpu::IOWAIT_MS, cpu::TOTAL_MS])?;
    let cores = times.level(cpu::CORES).or_else(|| Some(window.all(Source::Core).count() as f64))?;
    let modes = MODES.iter().filter_map(|(metric, name)| {
        let share = times.ratio(*metric, cpu::TOTAL_MS).filter(|share| *share >= 0.005)?;
        Some(format!("{name} {}", percent(share)))
    });
    let modes = list(modes, ", ");
    let modes = if modes.is_empty() { modes } else { format!(": {modes}") };
    let of = if cores == 1.0 { "one core".to_owned() } else { format!("{cores} cores") };
    let stolen = times.ratio(cpu::STEAL_MS, cpu::TOTAL_MS).is_some_and(|share| share >= STEAL);
    Some(Row::new("cpu", format!("{} of {of} busy{modes}", percent(busy))).notable(busy >= BUSY || stolen))
}

fn cores(window: &Window<'_>) -> Option<Row> {
    let times = [core::IDLE_MS, core::IOWAIT_MS, core::TOTAL_MS];
    let busy = |core: SampledSubject<'_>| Some((core.subject.to_string(), busy(&core, times)?));
    let mut cores: Vec<(String, f64)> = window.all(Source::Core).filter_map(busy).collect();
    let all = cores.len();
    if all > CORES_SHOWN {
        cores.sort_by(|a, b| b.1.total_cmp(&a.1));
        cores.truncate(CORES_SHOWN);
    }
    let shown = list(cores.iter().map(|(core, busy)| format!("{core}: {}", percent(*busy))), "  ");
    let rest = if all > CORES_SHOWN { format!(" (the busiest of {all})") } else { String::new() };
    let full = cores.iter().any(|(_, busy)| *busy >= BUSY);
    (all > 0).then(|| Row::new("cores", format!("{shown}{rest}")).notable(full))
}

fn pressure(window: &Window<'_>) -> Option<Row> {
    let pressure = window.host(Source::Pressure)?;
    let waits = [
        (pressure::CPU_SOME_US, "a CPU"),
        (pressure::IO_SOME_US, "a disk"),
        (pressure::MEMORY_SOME_US, "memory"),
    ];
    let waits: Vec<(f64, &str)> =
        waits.iter().filter_map(|(metric, what)| Some((pressure.share_us(*metric)?, *what))).collect();
    let text = list(waits.iter().map(|(share, what)| format!("for {what} {}", percent(*share))), ", ");
    let notable = waits.iter().any(|(share, _)| *share >= WAITING);
    let text = format!("some task waited {text} of the time");
    (!waits.is_empty()).then(|| Row::new("waiting", text).notable(notable))
}

fn scheduler(window: &Window<'_>) -> Option<Row> {
    let scheduler = window.host(Source::Scheduler)?;
    let switches = count_text(scheduler.per_sec(scheduler::CONTEXT_SWITCHES)?);
    let level = |metric: Metric| scheduler.level(metric).map_or_else(|| "?".to_owned(), level_text);
    let text = format!(
        "{switches} context switches/s, {} running, {} blocked",
        level(scheduler::RUNNING),
        level(scheduler::BLOCKED)
    );
    Some(Row::new("scheduler", text))
}

fn memory(window: &Window<'_>) -> Option<Row> {
    let memory = window.host(Source::Memory)?;
    let (available, total) = (memory.level(memory::AVAILABLE_BYTES)?, memory.level(memory::TOTAL_BYTES)?);
    let swapped = memory.level(memory::SWAP_USED_BYTES).filter(|used| *used > 0.0);
    let swapped = if_known(swapped, |used| format!(", {} of swap in use", bytes_text(used)));
    let paged = |metric: Metric| memory.per_sec(metric).unwrap_or(0.0);
    let (inward, outward) = (paged(memory::SWAPPED_IN_PAGES), paged(memory::SWAPPED_OUT_PAGES));
    let swaps = inward + outward > 0.0;
    let swapping = if_known(swaps.then_some((inward, outward)), |(inward, outward)| {
        format!(", swapping {} pages/s in, {} out", count_text(inward), count_text(outward))
    });
    let text = format!("{} of {} available{swapped}{swapping}", bytes_text(available), bytes_text(total));
    Some(Row::new("memory", text).notable(swaps || available < total * MEMORY_LEFT))
}
