//! CPU time of the machine and of each core, from `/proc/stat`.

use std::path::Path;

use plimsoll_record::Reading;

use crate::recent::Recent;
use crate::source::{Counters, Missing, Source, of_host, reading, strange};

/// The columns of a line `cpu` (proc_stat(5)), up to the last that is not contained in another:
/// guest time is part of user time.
const COLUMNS: [&str; 8] =
    ["user_ms", "nice_ms", "system_ms", "idle_ms", "iowait_ms", "irq_ms", "softirq_ms", "steal_ms"];

/// The file that tells of CPU time and of what the scheduler did.
pub(crate) fn stat_file(root: &Path) -> Recent {
    Recent::new(root.join("proc/stat"))
}

/// The CPU time of all cores together: milliseconds since boot in each state, `total_ms`, their sum, and the level `cores`.
#[derive(Debug)]
pub(crate) struct Cpu {
    stat: Recent,
}

impl Cpu {
    pub(crate) fn new(stat: &Recent) -> Self {
        Self { stat: stat.clone() }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let text = self.stat.text()?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let mut counters = line.and_then(times).ok_or_else(|| odd(&self.stat))?;
        let cores = cores(&text).count() as u64;
        if cores > 0 {
            counters.insert("cores".to_owned(), cores);
        }
        Ok(counters)
    }
}

impl Source for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

/// The CPU time of each core by itself, in the same columns.
#[derive(Debug)]
pub(crate) struct Cores {
    stat: Recent,
}

impl Cores {
    pub(crate) fn new(stat: &Recent) -> Self {
        Self { stat: stat.clone() }
    }
}

impl Source for Cores {
    fn name(&self) -> &'static str {
        "core"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let text = match self.stat.text() {
            Ok(text) => text,
            Err(missing) => return of_host(Err(missing)),
        };
        let counters = |line| reading(times(line).ok_or_else(|| odd(&self.stat)));
        cores(&text).map(|(core, line)| (core.to_owned(), counters(line))).collect()
    }
}

fn odd(stat: &Recent) -> Missing {
    strange(stat.file(), "line `cpu` with eight numbers")
}

/// The number of each core that is on, with its columns.
fn cores(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split_once(' '));
    lines.filter(|(core, _)| !core.is_empty())
}

fn times(columns: &str) -> Option<Counters> {
    let per_sec = rustix::param::clock_ticks_per_second().max(1);
    let ticks = columns.split_ascii_whitespace().map_while(|column| column.parse::<u64>().ok());
    let ms: Vec<u64> = ticks.map(|ticks| ticks * 1000 / per_sec).collect();
    if ms.len() < COLUMNS.len() {
        return None;
    }
    let mut counters: Counters = COLUMNS.iter().zip(ms).map(|(name, ms)| ((*name).to_owned(), ms)).collect();
    counters.insert("total_ms".to_owned(), counters.values().sum());
    Some(counters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    fn read(content: &str) -> Reading {
        only(Cpu::new(&stat_file(tree(&[("proc/stat", content)]).path())))
    }

    #[test]
    fn ticks_become_milliseconds_and_guest_time_is_not_counted_twice() {
        let Reading::Ok(counters) = read("cpu  100 0 50 800 10 5 15 20 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
        else {
            panic!("not read");
        };
        assert_eq!(counters["steal_ms"], 200);
        assert_eq!(counters["total_ms"], 10_000);
        assert_eq!(counters["cores"], 1);
    }

    #[test]
    fn a_strange_file_is_a_failure() {
        assert!(matches!(read("intr 5\n"), Reading::Failed(_)));
        assert!(matches!(read("cpu  1 2 x\n"), Reading::Failed(_)));
    }

    #[test]
    fn cores_are_told_by_their_numbers_also_when_some_are_off() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu3 10 0 0 90 0 0 0 0 0 0\nintr 1\n";
        let root = tree(&[("proc/stat", stat)]);
        let readings = Cores::new(&stat_file(root.path())).read();
        let subjects: Vec<&str> = readings.iter().map(|(core, _)| core.as_str()).collect();
        assert_eq!(subjects, ["0", "3"]);
        let Reading::Ok(counters) = &readings[1].1 else { panic!("not read") };
        assert_eq!((counters["user_ms"], counters["total_ms"]), (100, 1_000));
    }
}
