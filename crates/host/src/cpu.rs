//! CPU time of the whole machine, from `/proc/stat`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_record::{HostSample, Reading};
use plimsoll_units::{Clock, Instant, RealClock};

/// The columns of the line `cpu` (proc_stat(5)), up to the last that is not contained in another:
/// guest time is part of user time.
const COLUMNS: [&str; 8] =
    ["user_ms", "nice_ms", "system_ms", "idle_ms", "iowait_ms", "irq_ms", "softirq_ms", "steal_ms"];

/// Reads the CPU time of all cores together.
#[derive(Debug)]
pub struct CpuSource {
    host: String,
    file: PathBuf,
    ticks_per_sec: u64,
}

impl CpuSource {
    /// The source of the host called `host`, whose file tree begins at `root` (`/` for this machine).
    pub fn new(host: &str, root: &Path) -> Self {
        let ticks_per_sec = rustix::param::clock_ticks_per_second().max(1);
        Self { host: host.to_owned(), file: root.join("proc/stat"), ticks_per_sec }
    }

    /// Reads once. Times in the sample count from `origin`, when the run began.
    ///
    /// The counters are milliseconds since boot in each state, and `total_ms`, their sum.
    pub fn sample(&self, origin: Instant) -> HostSample {
        let began_ns = RealClock.now().nanos_since(origin);
        let reading = match fs::read_to_string(&self.file) {
            Ok(text) => self.parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Reading::Absent,
            Err(error) => Reading::Failed(format!("could not read {}: {error}", self.file.display())),
        };
        let ended_ns = RealClock.now().nanos_since(origin);
        HostSample { host: self.host.clone(), source: "cpu".to_owned(), began_ns, ended_ns, reading }
    }

    fn parse(&self, text: &str) -> Reading {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let ticks: Option<Vec<u64>> =
            line.map(|line| line.split_ascii_whitespace().map_while(|column| column.parse().ok()).collect());
        match ticks {
            Some(ticks) if ticks.len() >= COLUMNS.len() => Reading::Ok(self.counters(&ticks)),
            _ => Reading::Failed(format!("{} has no line `cpu` with eight numbers", self.file.display())),
        }
    }

    fn counters(&self, ticks: &[u64]) -> BTreeMap<String, u64> {
        let ms = |ticks: u64| ticks * 1000 / self.ticks_per_sec;
        let mut counters: BTreeMap<String, u64> =
            COLUMNS.iter().zip(ticks).map(|(name, ticks)| ((*name).to_owned(), ms(*ticks))).collect();
        let total = counters.values().sum();
        counters.insert("total_ms".to_owned(), total);
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: Option<&str>) -> Reading {
        let root = tempfile::tempdir().unwrap();
        if let Some(content) = content {
            fs::create_dir(root.path().join("proc")).unwrap();
            fs::write(root.path().join("proc/stat"), content).unwrap();
        }
        CpuSource::new("web", root.path()).sample(Instant::default()).reading
    }

    #[test]
    fn ticks_become_milliseconds_and_guest_time_is_not_counted_twice() {
        let Reading::Ok(counters) =
            read(Some("cpu  100 0 50 800 10 5 15 20 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n"))
        else {
            panic!("not read");
        };
        assert_eq!(counters["steal_ms"], 200);
        assert_eq!(counters["total_ms"], 10_000);
    }

    #[test]
    fn a_missing_file_is_absent_and_a_strange_one_a_failure() {
        assert_eq!(read(None), Reading::Absent);
        assert!(matches!(read(Some("intr 5\n")), Reading::Failed(_)));
        assert!(matches!(read(Some("cpu  1 2 x\n")), Reading::Failed(_)));
    }

    #[test]
    fn this_machine_has_used_cpu_time() {
        let sample = CpuSource::new("generator", Path::new("/")).sample(Instant::default());
        let Reading::Ok(counters) = sample.reading else { panic!("{:?}", sample.reading) };
        assert!(counters["total_ms"] > 0 && counters.len() == 9);
        assert!(sample.ended_ns >= sample.began_ns);
    }
}
