//! JVMs, from the file of performance counters that HotSpot keeps for jstat.
//!
//! `jcmd` and `jstat` report these numbers too, but they are JVMs themselves: a call takes 0.15 s and 0.19 s of CPU (JDK 17),
//! and `jcmd PID GC.heap_info` does not report collections. jstat reads the file `/tmp/hsperfdata_USER/PID`: 32 kB of memory
//! shared with the JVM, which takes about 10 µs to read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use plimsoll_record::metric::jvm;
use plimsoll_record::{CounterSet, Source, Subject};

use crate::collector::{Collector, Missing, Read, after};

mod perf_file;

use perf_file::{Value, values};

/// The largest accepted counter file. A JVM creates one of 32 KiB by default (`-XX:PerfDataMemorySize`).
const MAX_BYTES: u64 = 1 << 20;

const ADVICE: &str = "run Plimsoll as the JVM's user or root, and the JVM without -XX:-UsePerfData and -XX:+PerfDisableSharedMem";

/// Returns a collector of the JVM that runs as a process of this machine.
pub(super) fn collector(root: &Path, pid: u32) -> Collector {
    let (root, process) = (root.to_owned(), root.join(format!("proc/{pid}")));
    Collector::new(move || {
        // Empty once the process has ended.
        let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
        let counters = read(&root, &process, pid).map_err(|reason| {
            Missing::Failed(format!(
                "could not read the counters of the JVM {pid} (hsperfdata) ({reason}); {ADVICE}"
            ))
        });
        vec![Read::new(Source::Jvm, Subject::Process { pid, name: name.trim() }, counters)]
    })
}

/// Reads the counters of the JVM whose folder in `/proc` is `process`. The error is the reason why that fails.
fn read(root: &Path, process: &Path, pid: u32) -> Result<CounterSet, String> {
    let file = file(root, process, pid).ok_or("there is no such file")?;
    let read = plimsoll_sys::read_regular_of(&file, MAX_BYTES, user_of(process));
    let bytes = read.map_err(|error| format!("{}: {error}", file.display()))?;
    read_file(&bytes).map_err(|reason| format!("{}: {reason}", file.display()))
}

/// Parses the counters of a counter file.
pub(super) fn read_file(bytes: &[u8]) -> Result<CounterSet, &'static str> {
    values(bytes).map(|values| counters(&values))
}

/// Returns the effective user id of a process, as this user namespace maps it; `None` if it is unknown.
fn user_of(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    after(&status, "Uid:")?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Finds the counter file of a JVM. It is in the JVM's own file tree, under the process id in the JVM's own namespace; in a
/// container both differ from ours.
fn file(root: &Path, process: &Path, pid: u32) -> Option<PathBuf> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let inner = after(&status, "NSpid:").and_then(|pids| pids.split_ascii_whitespace().last());
    let name = inner.map_or_else(|| pid.to_string(), ToOwned::to_owned);
    let folders = [process.join("root/tmp"), root.join("tmp")];
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| files_of(folder, &name)).collect();
    // Another user may have left a file with the same number.
    let user = user_of(process);
    let is_own = |file: &&PathBuf| fs::symlink_metadata(file).is_ok_and(|found| Some(found.uid()) == user);
    files.iter().find(is_own).or(files.first()).cloned()
}

fn files_of(folder: &Path, name: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    // A symbolic link instead of a folder is not followed.
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let ours = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_"));
    ours.map(|entry| entry.path().join(name)).filter(|file| file.exists()).collect()
}

fn counters(values: &BTreeMap<String, Value>) -> CounterSet {
    let number = |name: &str| values.get(name).and_then(Value::number);
    let sum = |begin: &str, end: &str| {
        let named = values.iter().filter(|(name, _)| name.starts_with(begin) && name.ends_with(end));
        named.filter_map(|(_, value)| value.number()).reduce(u64::saturating_add)
    };
    let per_sec = number("sun.os.hrt.frequency").filter(|per_sec| *per_sec > 0);
    let gc_time = || Some(sum("sun.gc.collector.", ".time")? as f64 * 1000.0 / per_sec? as f64);
    CounterSet::from([
        (jvm::GC_COUNT, sum("sun.gc.collector.", ".invocations")),
        (jvm::GC_TIME_MS, gc_time().map(|ms| ms as u64)),
        (jvm::HEAP_USED_BYTES, sum("sun.gc.generation.", ".used")),
        (jvm::HEAP_MAX_BYTES, heap_max(values)),
        (jvm::THREADS, number("java.threads.live")),
        (jvm::THREADS_STARTED, number("java.threads.started")),
    ])
}

/// Returns the largest heap size. Each generation has its share of the heap, but with G1 and ZGC each may grow to all of it.
fn heap_max(values: &BTreeMap<String, Value>) -> Option<u64> {
    let of = |generation: u8| values.get(&format!("sun.gc.generation.{generation}.maxCapacity"))?.number();
    let parts = [of(0), of(1)].into_iter().flatten();
    let collector = values.get("sun.gc.collector.0.name").and_then(Value::text).unwrap_or_default();
    let shared = collector.starts_with("G1") || collector.starts_with("ZGC");
    if shared { parts.max() } else { parts.reduce(u64::saturating_add) }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;

    fn values(named: &[(&str, Value)]) -> BTreeMap<String, Value> {
        named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn the_heap_is_the_sum_of_its_generations_unless_they_share_it() {
        let heap = |collector: &str| {
            heap_max(&values(&[
                ("sun.gc.collector.0.name", Value::Text(collector.to_owned())),
                ("sun.gc.generation.0.maxCapacity", Value::Number(100)),
                ("sun.gc.generation.1.maxCapacity", Value::Number(100)),
            ]))
        };
        assert_eq!(heap("Copy"), Some(200));
        assert_eq!(heap("G1 young collection pauses"), Some(100));
    }

    #[test]
    fn collection_time_is_in_ticks_of_the_jvms_own_clock() {
        let found = counters(&values(&[
            ("sun.gc.collector.0.time", Value::Number(30_000)),
            ("sun.gc.collector.1.time", Value::Number(20_000)),
            ("sun.os.hrt.frequency", Value::Number(1_000_000)),
        ]));
        assert_eq!(Counters::from(found), Counters::from([(jvm::GC_TIME_MS, 50)]), "the others are left out");
    }

    #[test]
    fn a_process_without_the_file_is_a_failure_that_says_why() {
        let mut jvm = collector(Path::new("/"), std::process::id());
        let Reading::Failed(why) = (jvm.read)().remove(0).reading else { panic!("read") };
        assert!(why.contains("UsePerfData") && why.contains(&std::process::id().to_string()), "{why}");
    }
}
