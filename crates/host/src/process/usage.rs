//! The resource use of each watched process, and its limits.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::metric::process;
use plimsoll_record::{CounterSet, Metric, Source, Subject};
use plimsoll_units::{Clock, Instant, RealClock};

use super::descriptors::{self, DescriptorCounts};
use super::stat::{SmallFiles, ticks_ms};
use super::threads::Use;
use super::tracker::{ProcessTracker, SharedTracker};
use crate::collector::{Collector, Missing, Read, after, numbers};
use crate::system::cgroup::{Membership, Quota};

/// Limits change rarely; they are read again at this interval.
const LIMITS_INTERVAL: Duration = Duration::from_secs(5);

/// The kernel's names in `/proc/PID/io`.
const IO: &[(&str, Metric)] = &[
    ("syscr: ", process::READ_CALLS),
    ("syscw: ", process::WRITE_CALLS),
    ("read_bytes: ", process::READ_BYTES),
    ("write_bytes: ", process::WRITE_BYTES),
];

/// Returns a collector of the use and limits of each watched process. CPU time and waits are sums over its threads, exact
/// except for threads that no read has seen. In a round in which reading threads would exceed its share of CPU time, it
/// reports nothing.
pub(crate) fn collector(root: &Path, tracker: SharedTracker) -> Collector {
    let mut usage =
        Usage { root: root.to_owned(), limits: HashMap::new(), descriptors: DescriptorCounts::new() };
    Collector::new(move || usage.read(&mut tracker.refreshed()))
}

struct Usage {
    root: PathBuf,
    limits: HashMap<u32, Limits>,
    descriptors: DescriptorCounts,
}

/// The limits of a process.
#[derive(Debug, Clone, Copy)]
struct Limits {
    started_ticks: u64,
    read_at: Instant,
    descriptors: Option<u64>,
    cores: Option<u64>,
    quota: Option<Quota>,
}

impl Usage {
    fn read(&mut self, tracker: &mut ProcessTracker) -> Vec<Read> {
        if tracker.members.is_empty() {
            return tracker.no_members(Source::Process);
        }
        if !tracker.has_read_threads() {
            return Vec::new();
        }
        let now = RealClock.now();
        self.refresh_limits(tracker, now);
        self.descriptors.begin_round(now);
        let mut reads = Vec::new();
        for (pid, process) in &tracker.members {
            let used = tracker.threads(*pid).and_then(|threads| threads.used());
            let folder = tracker.proc.join(pid.to_string());
            let Some(mut counters) = counters(&folder, &mut tracker.files, used) else { continue };
            // Left out if this user is not the process's own user and so may not read it.
            counters.put(process::DESCRIPTORS, self.descriptors.open(&folder).ok().flatten());
            self.put_limits(*pid, &mut counters);
            reads.push(Read::new(Source::Process, process.subject(), Ok(counters)));
        }
        reads.extend(overflow(tracker));
        reads
    }

    fn refresh_limits(&mut self, tracker: &mut ProcessTracker, now: Instant) {
        let members = &tracker.members;
        self.limits.retain(|pid, limits| {
            let same = members.get(pid).is_some_and(|process| process.started_ticks == limits.started_ticks);
            same && now.since(limits.read_at) < LIMITS_INTERVAL
        });
        for process in members.values() {
            let folder = tracker.proc.join(process.pid.to_string());
            self.limits.entry(process.pid).or_insert_with(|| Limits {
                started_ticks: process.started_ticks,
                read_at: now,
                descriptors: descriptors_limit(&folder, &mut tracker.files),
                cores: allowed_cores(&folder, &mut tracker.files),
                quota: quota(&self.root, &folder, &mut tracker.files),
            });
        }
    }

    fn put_limits(&self, pid: u32, counters: &mut CounterSet) {
        if let Some(Limits { descriptors, cores, quota, .. }) = self.limits.get(&pid) {
            counters.put(process::DESCRIPTORS_LIMIT, *descriptors);
            counters.put(process::ALLOWED_CORES, *cores);
            counters.put(process::QUOTA_US, quota.map(|quota| quota.quota_us));
            counters.put(process::PERIOD_US, quota.map(|quota| quota.period_us));
        }
    }
}

fn descriptors_limit(folder: &Path, files: &mut SmallFiles) -> Option<u64> {
    descriptors::limit(files.text(&folder.join("limits")).ok()?)
}

fn allowed_cores(folder: &Path, files: &mut SmallFiles) -> Option<u64> {
    core_set(after(files.text(&folder.join("status")).ok()?, "Cpus_allowed:")?)
}

/// Parses a CPU mask: words of 32 bits in hex, the highest first (proc_pid_status(5)). Returns `None` if it contains a core
/// beyond the 64th.
fn core_set(mask: &str) -> Option<u64> {
    let mut words = mask.trim().split(',').map(|word| u64::from_str_radix(word, 16));
    words.try_fold(0_u64, |set, word| Some((set.checked_mul(1 << 32)?) | word.ok()?))
}

fn quota(root: &Path, folder: &Path, files: &mut SmallFiles) -> Option<Quota> {
    Membership::parse(root, files.text(&folder.join("cgroup")).ok()?)?.quota()
}

/// Returns the counters of a process; `None` if it has ended.
fn counters(folder: &Path, files: &mut SmallFiles, used: Option<Use>) -> Option<CounterSet> {
    let stat = files.stat(folder).ok()?;
    let mut counters = CounterSet::from([
        (process::PARENT, u64::from(stat.parent)),
        (process::THREADS, stat.threads),
        (process::RESIDENT_BYTES, stat.resident_pages * rustix::param::page_size() as u64),
        (process::MAJOR_FAULTS, stat.major_faults),
        (process::CHILDREN_CPU_MS, ticks_ms(stat.children_ticks)),
        (process::USER_MS, ticks_ms(stat.user_ticks)),
        (process::SYSTEM_MS, ticks_ms(stat.system_ticks)),
    ]);
    let whole_us = 1000 * ticks_ms(stat.user_ticks + stat.system_ticks);
    counters.put(process::CPU_US, used.map_or(whole_us, |used| used.run_ns / 1000));
    if let Some(used) = used {
        counters.put(process::RUN_WAIT_US, used.wait_ns / 1000);
        counters.put(process::VOLUNTARY_SWITCHES, used.voluntary);
        counters.put(process::INVOLUNTARY_SWITCHES, used.involuntary);
    }
    // Like descriptors, readable only by the process's own user.
    if let Ok(text) = files.text(&folder.join("io")) {
        counters.extend(numbers(text, IO));
    }
    Some(counters)
}

/// Returns a failed read if there are too many processes to read all of them.
fn overflow(tracker: &ProcessTracker) -> Option<Read> {
    let (members, overflow) = (tracker.members.len(), tracker.overflow.len());
    let why = format!(
        "{} processes belong to what is watched, and only {members} of them are read, those that ran most; \
         name those that matter by their ids",
        members + overflow
    );
    (overflow > 0).then(|| Read::new(Source::Process, Subject::Host, Err(Missing::Failed(why))))
}

#[cfg(test)]
mod tests {
    use super::core_set;

    #[test]
    fn a_mask_of_up_to_64_cores_is_read() {
        assert_eq!(core_set("\t3\n"), Some(0b11));
        assert_eq!(core_set("\t00000001,80000000\n"), Some(0x1_8000_0000));
        assert_eq!(core_set("\t00000000,00000000,0000000f\n"), Some(0b1111));
        assert_eq!(core_set("\t00000001,00000000,00000000\n"), None, "core 64");
        assert_eq!(core_set("\t0000007f,f0000000,00000000\n"), None, "cores 60 to 70");
        assert_eq!(core_set("\tx\n"), None);
    }
}
