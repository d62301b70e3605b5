//! A JVM, by the file of counters that HotSpot keeps for jstat.
//!
//! There are three ways to these numbers. `jcmd` and `jstat` are JVMs themselves, which take 0.15 s and 0.19 s of CPU for each
//! call (JDK 17), and jcmd's `GC.heap_info` says nothing of collections. The file `/tmp/hsperfdata_USER/PID` is what jstat
//! reads: memory shared with the JVM, 32 kB, read in about 10 µs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use super::told;
use super::trouble::Trouble;
use crate::source::{Counters, Source};

mod perf_file;

use perf_file::{Value, values};

const ADVICE: &str = "run Plimsoll as the JVM's user or root, and the JVM without -XX:-UsePerfData and -XX:+PerfDisableSharedMem";

/// `gc_count` and `gc_time_ms` over all collectors (of a concurrent collector only its pauses), `heap_used_bytes` and
/// `heap_max_bytes`, `threads` and `threads_started`. With G1 the heap in use is what it was after the last collection or
/// change of phase.
#[derive(Debug)]
pub(super) struct Jvm {
    root: PathBuf,
    pid: u32,
}

impl Jvm {
    pub(super) fn new(root: &Path, pid: u32) -> Self {
        Self { root: root.to_owned(), pid }
    }

    fn counters(&self) -> Result<Counters, Trouble> {
        let file = self.file().ok_or_else(|| self.unreadable("there is no such file"))?;
        let bytes =
            fs::read(&file).map_err(|error| self.unreadable(&format!("{}: {error}", file.display())))?;
        let values =
            values(&bytes).map_err(|reason| self.unreadable(&format!("{}: {reason}", file.display())))?;
        Ok(counters(&values))
    }

    fn unreadable(&self, reason: &str) -> Trouble {
        let what = format!("the counters of the JVM {} (hsperfdata)", self.pid);
        Trouble::Unreadable { what, reason: reason.to_owned(), advice: ADVICE }
    }

    /// The file lies in the JVM's own file tree and bears the number that the process has there, which in a container
    /// are not ours.
    fn file(&self) -> Option<PathBuf> {
        let process = self.root.join(format!("proc/{}", self.pid));
        let status = fs::read_to_string(process.join("status")).ok()?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let inner = inner.and_then(|pids| pids.split_ascii_whitespace().last());
        let name = inner.map_or_else(|| self.pid.to_string(), ToOwned::to_owned);
        let folders = [process.join("root/tmp"), self.root.join("tmp")];
        folders.iter().find_map(|folder| file_of(folder, &name))
    }

    /// As processes are called in samples: number and name.
    fn subject(&self) -> String {
        let name = fs::read_to_string(self.root.join(format!("proc/{}/comm", self.pid))).unwrap_or_default();
        format!("{} {}", self.pid, name.trim()).trim().to_owned()
    }
}

fn file_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let ours = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_"));
    ours.map(|entry| entry.path().join(name)).find(|file| file.exists())
}

fn counters(values: &BTreeMap<String, Value>) -> Counters {
    let number = |name: &str| values.get(name).and_then(Value::number);
    let sum = |begin: &str, end: &str| {
        let named = values.iter().filter(|(name, _)| name.starts_with(begin) && name.ends_with(end));
        named.filter_map(|(_, value)| value.number()).reduce(|sum, value| sum + value)
    };
    let per_sec = number("sun.os.hrt.frequency").filter(|per_sec| *per_sec > 0);
    let gc_time = || Some(sum("sun.gc.collector.", ".time")? as f64 * 1000.0 / per_sec? as f64);
    let told = [
        ("gc_count", sum("sun.gc.collector.", ".invocations")),
        ("gc_time_ms", gc_time().map(|ms| ms as u64)),
        ("heap_used_bytes", sum("sun.gc.generation.", ".used")),
        ("heap_max_bytes", heap_max(values)),
        ("threads", number("java.threads.live")),
        ("threads_started", number("java.threads.started")),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Each generation has a part of the heap; but G1 and ZGC give their generations whatever they need, so that each may
/// become the whole.
fn heap_max(values: &BTreeMap<String, Value>) -> Option<u64> {
    let of = |generation: u8| values.get(&format!("sun.gc.generation.{generation}.maxCapacity"))?.number();
    let parts = [of(0), of(1)].into_iter().flatten();
    let collector = values.get("sun.gc.collector.0.name").and_then(Value::text).unwrap_or_default();
    let shared = collector.starts_with("G1") || collector.starts_with("ZGC");
    if shared { parts.max() } else { parts.reduce(|sum, part| sum + part) }
}

impl Source for Jvm {
    fn name(&self) -> &'static str {
        "jvm"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        vec![(self.subject(), told(self.counters()))]
    }
}

#[cfg(test)]
mod tests {
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
        let told = counters(&values(&[
            ("sun.gc.collector.0.time", Value::Number(30_000)),
            ("sun.gc.collector.1.time", Value::Number(20_000)),
            ("sun.os.hrt.frequency", Value::Number(1_000_000)),
        ]));
        assert_eq!(told, Counters::from([("gc_time_ms".to_owned(), 50)]), "and what is not told is left out");
    }

    #[test]
    fn a_process_without_the_file_is_a_failure_that_says_why() {
        let mut jvm = Jvm::new(Path::new("/"), std::process::id());
        let Reading::Failed(why) = jvm.read().remove(0).1 else { panic!("read") };
        assert!(why.contains("UsePerfData") && why.contains(&std::process::id().to_string()), "{why}");
    }
}
