//! CPU, waiting and memory.

use plimsoll_units::{bytes_text, count_text};

use super::row::{Row, level_text, percent};
use super::window::{Seen, Window};

/// From here on a CPU, all of them or one, is called busy.
const BUSY: f64 = 0.9;
/// A hypervisor that takes more than this makes figures that belong to somebody else.
const STEAL: f64 = 0.02;
/// Tasks that wait for this share of the time are late for that reason.
const WAITING: f64 = 0.1;
/// Less memory than this is soon none.
const MEMORY_LEFT: f64 = 0.1;
/// So many cores are shown.
const CORES_SHOWN: usize = 8;

const MODES: [(&str, &str); 7] = [
    ("user_ms", "user"),
    ("nice_ms", "nice"),
    ("system_ms", "system"),
    ("irq_ms", "irq"),
    ("softirq_ms", "softirq"),
    ("iowait_ms", "waiting for disks"),
    ("steal_ms", "stolen by the hypervisor"),
];

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let rows = [cpu(window), cores(window), pressure(window), scheduler(window), memory(window)];
    rows.into_iter().flatten().collect()
}

/// A core that waits for a disk is idle.
fn busy(times: &Seen<'_>) -> Option<f64> {
    let idle = times.ratio("idle_ms", "total_ms")? + times.ratio("iowait_ms", "total_ms").unwrap_or(0.0);
    Some((1.0 - idle).clamp(0.0, 1.0))
}

fn cpu(window: &Window<'_>) -> Option<Row> {
    let times = window.host("cpu")?;
    let busy = busy(&times)?;
    let cores = times.level("cores").or_else(|| Some(window.all("core").count() as f64))?;
    let modes = MODES.iter().filter_map(|(counter, name)| {
        let share = times.ratio(counter, "total_ms").filter(|share| *share >= 0.005)?;
        Some(format!("{name} {}", percent(share)))
    });
    let modes: Vec<String> = modes.collect();
    let of = if cores == 1.0 { "one core".to_owned() } else { format!("{cores} cores") };
    let modes = if modes.is_empty() { String::new() } else { format!(": {}", modes.join(", ")) };
    let stolen = times.ratio("steal_ms", "total_ms").is_some_and(|share| share >= STEAL);
    Some(Row::new("cpu", format!("{} of {of} busy{modes}", percent(busy))).notable(busy >= BUSY || stolen))
}

fn cores(window: &Window<'_>) -> Option<Row> {
    let busy = |core: Seen<'_>| Some((core.subject.to_owned(), busy(&core)?));
    let mut cores: Vec<(String, f64)> = window.all("core").filter_map(busy).collect();
    let all = cores.len();
    if all > CORES_SHOWN {
        cores.sort_by(|a, b| b.1.total_cmp(&a.1));
        cores.truncate(CORES_SHOWN);
    }
    let shown: Vec<String> = cores.iter().map(|(core, busy)| format!("{core}: {}", percent(*busy))).collect();
    let rest = if all > CORES_SHOWN { format!(" (the busiest of {all})") } else { String::new() };
    let full = cores.iter().any(|(_, busy)| *busy >= BUSY);
    (all > 0).then(|| Row::new("cores", format!("{}{rest}", shown.join("  "))).notable(full))
}

fn pressure(window: &Window<'_>) -> Option<Row> {
    let pressure = window.host("pressure")?;
    let waits = [("cpu_some_us", "a CPU"), ("io_some_us", "a disk"), ("memory_some_us", "memory")];
    let waits: Vec<(f64, &str)> =
        waits.iter().filter_map(|(name, what)| Some((pressure.share_us(name)?, *what))).collect();
    let text: Vec<String> =
        waits.iter().map(|(share, what)| format!("for {what} {}", percent(*share))).collect();
    let notable = waits.iter().any(|(share, _)| *share >= WAITING);
    let text = format!("some task waited {} of the time", text.join(", "));
    (!waits.is_empty()).then(|| Row::new("waiting", text).notable(notable))
}

fn scheduler(window: &Window<'_>) -> Option<Row> {
    let scheduler = window.host("scheduler")?;
    let switches = count_text(scheduler.per_sec("context_switches")?);
    let level = |name: &str| scheduler.level(name).map_or_else(|| "?".to_owned(), level_text);
    let text =
        format!("{switches} context switches/s, {} running, {} blocked", level("running"), level("blocked"));
    Some(Row::new("scheduler", text))
}

fn memory(window: &Window<'_>) -> Option<Row> {
    let memory = window.host("memory")?;
    let (available, total) = (memory.level("available_bytes")?, memory.level("total_bytes")?);
    let mut text = format!("{} of {} available", bytes_text(available), bytes_text(total));
    if let Some(used) = memory.level("swap_used_bytes").filter(|used| *used > 0.0) {
        text = format!("{text}, {} of swap in use", bytes_text(used));
    }
    let paged = |name: &str| memory.per_sec(name).unwrap_or(0.0);
    let (inward, outward) = (paged("swapped_in_pages"), paged("swapped_out_pages"));
    let swaps = inward + outward > 0.0;
    if swaps {
        text = format!("{text}, swapping {} pages/s in, {} out", count_text(inward), count_text(outward));
    }
    Some(Row::new("memory", text).notable(swaps || available < total * MEMORY_LEFT))
}
