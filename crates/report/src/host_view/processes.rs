//! Processes, their threads, and the addresses they are connected to.

use std::collections::BTreeSet;

use plimsoll_record::metric::{cgroup, process, thread, waiting};
use plimsoll_record::{Metric, Source, Subject};
use plimsoll_units::bytes_text;

use super::row::{Row, level_text, percent};
use super::window::{SampledSubject, Window};
use crate::amount::{counted, if_known, list};

/// The share of a core from which a thread counts as hot: the core has no more to give it.
const HOT: f64 = 0.9;
/// The share of time from which waiting for a CPU means that a process is slowed by others.
const WAITING: f64 = 0.1;
/// Threads below this share of a core are not shown.
const THREAD_SHOWN: f64 = 0.05;
/// The maximum number of processes shown. A process that was not named is shown from `BUSY_SHOWN` of a core on.
const PROCESSES_SHOWN: usize = 10;
const BUSY_SHOWN: f64 = 0.005;
/// Processes that were not watched are shown from this share of a core on, at most `OTHERS_SHOWN` of them.
const OTHER_SHOWN: f64 = 0.05;
const OTHERS_SHOWN: usize = 5;
/// The maximum number of threads, and of peers, shown.
const SHOWN: usize = 8;
/// The share of the limit from which descriptors are notable, and the share of periods from which throttling by a quota
/// is.
const NEAR_LIMIT: f64 = 0.8;
const HELD_BACK: f64 = 0.05;

/// Returns the rows of processes. Processes that the user named are shown even when idle, chosen ones only when busy.
pub(super) fn rows(window: &Window<'_>, named: bool) -> Vec<Row> {
    let mut processes = by_cpu(window, Source::Process, process::CPU_US);
    processes.retain(|seen| named || cores(seen, process::CPU_US) >= BUSY_SHOWN);
    let more = processes.split_off(processes.len().min(PROCESSES_SHOWN));
    let shown: BTreeSet<u32> = processes.iter().filter_map(|seen| seen.subject.pid()).collect();
    let is_shown = |seen: &SampledSubject<'_>| seen.subject.pid().is_some_and(|pid| shown.contains(&pid));
    let threads = by_cpu(window, Source::Thread, thread::CPU_US)
        .into_iter()
        .filter_map(|thread| row_of_thread(&thread))
        .take(SHOWN);
    let places = window.all(Source::Waiting).filter(is_shown).filter_map(|process| row_of_places(&process));
    let peers = window.all(Source::Peers).filter(is_shown).filter_map(|process| row_of_peers(&process));
    let groups = window.all(Source::Cgroup).filter_map(|group| row_of_group(&group));
    let processes = processes.iter().filter_map(row_of_process).chain(row_of_more(&more));
    processes.chain(threads).chain(places).chain(peers).chain(groups).collect()
}

/// The CPU time of a process between the two samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessUse {
    pub pid: u32,
    /// The name as the kernel stores it.
    pub name: String,
    pub cpu_ms: u64,
}

/// Returns the rows of processes that ran but were not sampled.
pub(super) fn others(window: &Window<'_>, ran: &[ProcessUse]) -> Vec<Row> {
    let known: BTreeSet<u32> = window.all(Source::Process).filter_map(|seen| seen.subject.pid()).collect();
    let share = |process: &ProcessUse| process.cpu_ms as f64 / 1000.0 / window.span_sec();
    let others = ran.iter().filter(|process| !known.contains(&process.pid) && share(process) >= OTHER_SHOWN);
    let row = |process: &ProcessUse| {
        Row::new("others", format!("{} {} {} of a core", process.pid, process.name, percent(share(process))))
    };
    others.take(OTHERS_SHOWN).map(row).collect()
}

/// Returns all subjects of a source, the busiest first.
fn by_cpu<'a>(window: &Window<'a>, source: Source, cpu: Metric) -> Vec<SampledSubject<'a>> {
    let mut all: Vec<SampledSubject<'a>> = window.all(source).collect();
    all.sort_by(|a, b| cores(b, cpu).total_cmp(&cores(a, cpu)));
    all
}

fn cores(seen: &SampledSubject<'_>, cpu: Metric) -> f64 {
    seen.share_us(cpu).unwrap_or(0.0)
}

/// Returns the share of time that a process or thread waited for a core; empty if it did not wait.
fn waited(seen: &SampledSubject<'_>, run_wait: Metric) -> String {
    let share = seen.share_us(run_wait).filter(|share| *share >= 0.005);
    if_known(share, |share| format!(", waited for a core {}", percent(share)))
}

fn row_of_process(seen: &SampledSubject<'_>) -> Option<Row> {
    let busy = seen.share_us(process::CPU_US)?;
    let cpu = format!("{} {} of a core{}", seen.subject, percent(busy), waited(seen, process::RUN_WAIT_US));
    let threads = seen.level(process::THREADS).map(|threads| counted(threads as u64, "thread"));
    let resident = seen.level(process::RESIDENT_BYTES).map(bytes_text);
    let descriptors = seen.level(process::DESCRIPTORS).zip(seen.level(process::DESCRIPTORS_LIMIT));
    let near = descriptors.is_some_and(|(open, limit)| open >= limit * NEAR_LIMIT);
    let descriptors =
        descriptors.map(|(open, limit)| format!("{} of {} descriptors", level_text(open), level_text(limit)));
    let slowed = seen.share_us(process::RUN_WAIT_US).is_some_and(|share| share >= WAITING);
    let parts = [Some(cpu), threads, resident, descriptors];
    Some(Row::new("process", list(parts.into_iter().flatten(), ", ")).notable(near || slowed))
}

/// Returns the row that counts the processes beyond those shown.
fn row_of_more(processes: &[SampledSubject<'_>]) -> Option<Row> {
    let together: f64 = processes.iter().map(|seen| cores(seen, process::CPU_US)).sum();
    let text = format!("and {} more, {} of a core together", processes.len(), percent(together));
    (!processes.is_empty()).then(|| Row::new("process", text))
}

fn row_of_thread(seen: &SampledSubject<'_>) -> Option<Row> {
    let busy = seen.share_us(thread::CPU_US).filter(|busy| *busy >= THREAD_SHOWN)?;
    let waited = waited(seen, thread::RUN_WAIT_US);
    let text = format!("{} {} of a core{waited}", seen.subject, percent(busy));
    Some(Row::new("thread", text).notable(busy >= HOT))
}

/// Returns the row of a group; `None` without a quota, or if it did nothing.
fn row_of_group(group: &SampledSubject<'_>) -> Option<Row> {
    let (quota, period) =
        (group.level(cgroup::QUOTA_US)?, group.level(cgroup::PERIOD_US).filter(|period| *period > 0.0)?);
    let (used, cap) = (group.share_us(cgroup::USAGE_US)?, quota / period);
    let name = match group.subject {
        Subject::Host => "this host".to_owned(),
        subject => subject.to_string(),
    };
    let held_back = group.ratio(cgroup::THROTTLED_PERIODS, cgroup::PERIODS).unwrap_or(0.0);
    let text =
        format!("{name} {used:.2} of its {cap:.2} cores, held back in {} of periods", percent(held_back));
    (used >= 0.005).then(|| Row::new("quota", text).notable(held_back >= HELD_BACK))
}

/// Returns the places where threads were sampled, the most frequent first.
fn row_of_places(process: &SampledSubject<'_>) -> Option<Row> {
    let metrics = Source::Waiting.metrics().iter().filter(|metric| **metric != waiting::LOOKS);
    let mut places: Vec<(&str, f64)> = metrics
        .filter_map(|metric| Some((metric.name, process.per_sec(*metric).filter(|n| *n > 0.0)?)))
        .collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let all: f64 = places.iter().map(|(_, count)| count).sum();
    let place = |(name, count): &(&str, f64)| format!("{} {}", name.replace('_', " "), percent(count / all));
    let text = list(places.iter().take(SHOWN).map(place), ", ");
    (all > 0.0).then(|| Row::new("threads in", format!("{}: {text}", process.subject)))
}

fn row_of_peers(process: &SampledSubject<'_>) -> Option<Row> {
    let mut peers: Vec<(&str, f64)> = process.made_levels().filter(|(_, count)| *count > 0.0).collect();
    peers.sort_by(|a, b| b.1.total_cmp(&a.1));
    let peer = |(peer, count): &(&str, f64)| format!("{peer} ({})", level_text(*count));
    let text = list(peers.iter().take(SHOWN).map(peer), ", ");
    (!text.is_empty()).then(|| Row::new("peers", format!("{} → {text}", process.subject)))
}
