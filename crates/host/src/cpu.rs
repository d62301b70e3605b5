//! CPU time of the whole machine, from `/proc/stat`.

use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, reading, strange, text};

/// The columns of the line `cpu` (proc_stat(5)), up to the last that is not contained in another:
/// guest time is part of user time.
const COLUMNS: [&str; 8] =
    ["user_ms", "nice_ms", "system_ms", "idle_ms", "iowait_ms", "irq_ms", "softirq_ms", "steal_ms"];

/// The CPU time of all cores together: milliseconds since boot in each state, and `total_ms`, their sum.
#[derive(Debug)]
pub(crate) struct Cpu {
    file: PathBuf,
    ticks_per_sec: u64,
}

impl Cpu {
    pub(crate) fn new(root: &Path) -> Self {
        let ticks_per_sec = rustix::param::clock_ticks_per_second().max(1);
        Self { file: root.join("proc/stat"), ticks_per_sec }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let text = text(&self.file)?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let columns = line.into_iter().flat_map(str::split_ascii_whitespace);
        let ticks: Vec<u64> = columns.map_while(|column| column.parse().ok()).collect();
        if ticks.len() < COLUMNS.len() {
            return Err(strange(&self.file, "line `cpu` with eight numbers"));
        }
        let ms = |ticks: &u64| ticks * 1000 / self.ticks_per_sec;
        let mut counters: Counters =
            COLUMNS.iter().zip(&ticks).map(|(name, ticks)| ((*name).to_owned(), ms(ticks))).collect();
        counters.insert("total_ms".to_owned(), counters.values().sum());
        Ok(counters)
    }
}

impl Source for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn read(&self) -> Reading {
        reading(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    fn read(content: &str) -> Reading {
        Cpu::new(tree(&[("proc/stat", content)]).path()).read()
    }

    #[test]
    fn ticks_become_milliseconds_and_guest_time_is_not_counted_twice() {
        let Reading::Ok(counters) = read("cpu  100 0 50 800 10 5 15 20 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
        else {
            panic!("not read");
        };
        assert_eq!(counters["steal_ms"], 200);
        assert_eq!(counters["total_ms"], 10_000);
    }

    #[test]
    fn a_strange_file_is_a_failure() {
        assert!(matches!(read("intr 5\n"), Reading::Failed(_)));
        assert!(matches!(read("cpu  1 2 x\n"), Reading::Failed(_)));
    }
}
