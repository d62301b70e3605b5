//! Processes, their threads, and who they are connected to.

use std::collections::BTreeSet;

use plimsoll_host::Ran;
use plimsoll_units::bytes_text;

use super::row::{Row, level_text, percent};
use super::window::{Seen, Window};

/// From here on a thread is called hot: there is no more for it on one core.
const HOT: f64 = 0.9;
/// A process whose threads wait for a CPU as much of the time is slowed by others.
const WAITING: f64 = 0.1;
/// Threads below this are not shown.
const THREAD_SHOWN: f64 = 0.05;
/// So many processes are shown, and those that were not named from here on.
const PROCESSES_SHOWN: usize = 10;
const BUSY_SHOWN: f64 = 0.005;
/// Processes that were not looked into are shown from here on, and so many.
const OTHER_SHOWN: f64 = 0.05;
const OTHERS_SHOWN: usize = 5;
/// So many threads and peers are shown of each kind.
const SHOWN: usize = 8;
/// From here on descriptors, or periods in which a quota held a group back, are a reason.
const NEAR_LIMIT: f64 = 0.8;
const HELD_BACK: f64 = 0.05;

/// Processes that were named are shown also when they did nothing; of those that were found busy, the busy ones.
pub(super) fn rows(window: &Window<'_>, named: bool) -> Vec<Row> {
    let mut processes = by_cpu(window, "process");
    processes.retain(|process| named || cores(process) >= BUSY_SHOWN);
    let more = processes.split_off(processes.len().min(PROCESSES_SHOWN));
    let shown: BTreeSet<u32> = processes.iter().filter_map(pid).collect();
    let is_shown = |seen: &Seen<'_>| pid(seen).is_some_and(|pid| shown.contains(&pid));
    let threads =
        by_cpu(window, "thread").into_iter().filter_map(|thread| row_of_thread(&thread)).take(SHOWN);
    let places = window.all("waiting").filter(is_shown).filter_map(|process| row_of_places(&process));
    let peers = window.all("peers").filter(is_shown).filter_map(|process| row_of_peers(&process));
    let groups = window.all("cgroup").filter_map(|group| row_of_group(&group));
    let processes = processes.iter().filter_map(row_of_process).chain(row_of_more(&more));
    processes.chain(threads).chain(places).chain(peers).chain(groups).collect()
}

/// The id of the process that a subject is, or that it is a thread of.
fn pid(seen: &Seen<'_>) -> Option<u32> {
    seen.subject.split([' ', '/']).next()?.parse().ok()
}

/// The processes that ran and that no sample tells of.
pub(super) fn others(window: &Window<'_>, ran: &[Ran]) -> Vec<Row> {
    let told: BTreeSet<u32> = window.all("process").filter_map(|process| pid(&process)).collect();
    let share = |process: &Ran| process.cpu_ms as f64 / 1000.0 / window.span_sec();
    let others = ran.iter().filter(|process| !told.contains(&process.pid) && share(process) >= OTHER_SHOWN);
    let row = |process: &Ran| {
        Row::new("others", format!("{} {} {} of a core", process.pid, process.name, percent(share(process))))
    };
    others.take(OTHERS_SHOWN).map(row).collect()
}

fn by_cpu<'a>(window: &Window<'a>, source: &'a str) -> Vec<Seen<'a>> {
    let mut all: Vec<Seen<'a>> = window.all(source).collect();
    all.sort_by(|a, b| cores(b).total_cmp(&cores(a)));
    all
}

fn cores(seen: &Seen<'_>) -> f64 {
    seen.share_us("cpu_us").unwrap_or(0.0)
}

/// A share of the time that something waited, where it did.
fn waited(seen: &Seen<'_>) -> String {
    let share = seen.share_us("run_wait_us").filter(|share| *share >= 0.005);
    share.map_or_else(String::new, |share| format!(", waited for a core {}", percent(share)))
}

fn row_of_process(process: &Seen<'_>) -> Option<Row> {
    let busy = process.share_us("cpu_us")?;
    let mut text = format!("{} {} of a core{}", process.subject, percent(busy), waited(process));
    if let Some(threads) = process.level("threads") {
        let s = if threads == 1.0 { "" } else { "s" };
        text = format!("{text}, {} thread{s}", level_text(threads));
    }
    if let Some(resident) = process.level("resident_bytes") {
        text = format!("{text}, {}", bytes_text(resident));
    }
    let descriptors = process.level("descriptors").zip(process.level("descriptors_limit"));
    if let Some((open, limit)) = descriptors {
        text = format!("{text}, {} of {} descriptors", level_text(open), level_text(limit));
    }
    let near = descriptors.is_some_and(|(open, limit)| open >= limit * NEAR_LIMIT);
    let slowed = process.share_us("run_wait_us").is_some_and(|share| share >= WAITING);
    Some(Row::new("process", text).notable(near || slowed))
}

/// Processes for which there is no room.
fn row_of_more(processes: &[Seen<'_>]) -> Option<Row> {
    let together: f64 = processes.iter().map(cores).sum();
    let text = format!("and {} more, {} of a core together", processes.len(), percent(together));
    (!processes.is_empty()).then(|| Row::new("process", text))
}

fn row_of_thread(thread: &Seen<'_>) -> Option<Row> {
    let busy = thread.share_us("cpu_us").filter(|busy| *busy >= THREAD_SHOWN)?;
    let text = format!("{} {} of a core{}", thread.subject, percent(busy), waited(thread));
    Some(Row::new("thread", text).notable(busy >= HOT))
}

/// A group without a quota, or one that did nothing, is not told of.
fn row_of_group(group: &Seen<'_>) -> Option<Row> {
    let (quota, period) =
        (group.level("quota_us")?, group.level("period_us").filter(|period| *period > 0.0)?);
    let (used, cap) = (group.share_us("usage_us")?, quota / period);
    let name = if group.subject.is_empty() { "this host" } else { group.subject };
    let held_back = group.ratio("throttled_periods", "periods").unwrap_or(0.0);
    let text =
        format!("{name} {used:.2} of its {cap:.2} cores, held back in {} of periods", percent(held_back));
    (used >= 0.005).then(|| Row::new("quota", text).notable(held_back >= HELD_BACK))
}

/// Where threads stood when they were looked at, the most frequent first.
fn row_of_places(process: &Seen<'_>) -> Option<Row> {
    let names = process.names().filter(|name| *name != "looks");
    let mut places: Vec<(&str, f64)> =
        names.filter_map(|name| Some((name, process.per_sec(name).filter(|n| *n > 0.0)?))).collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = places.iter().map(|(_, count)| count).sum();
    let place = |(name, count): &(&str, f64)| format!("{} {}", name.replace('_', " "), percent(count / all));
    let text: Vec<String> = places.iter().take(SHOWN).map(place).collect();
    (all > 0.0).then(|| Row::new("threads in", format!("{}: {}", process.subject, text.join(", "))))
}

fn row_of_peers(process: &Seen<'_>) -> Option<Row> {
    let mut peers: Vec<(&str, f64)> = process
        .names()
        .filter(|name| !name.starts_with("unsent "))
        .filter_map(|name| Some((name, process.level(name).filter(|count| *count > 0.0)?)))
        .collect();
    peers.sort_by(|a, b| b.1.total_cmp(&a.1));
    let text: Vec<String> =
        peers.iter().take(SHOWN).map(|(peer, count)| format!("{peer} ({})", level_text(*count))).collect();
    (!text.is_empty()).then(|| Row::new("peers", format!("{} → {}", process.subject, text.join(", "))))
}
