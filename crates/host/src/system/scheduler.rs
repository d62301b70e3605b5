//! Tasks and context switches of the machine, from `/proc/stat`.

use plimsoll_record::metric::scheduler;
use plimsoll_record::{CounterSet, Metric, Source};

use crate::collector::{Collector, Missing, Read, malformed};
use crate::round::SharedFile;

/// The kernel's names.
const LINES: [(&str, Metric); 3] = [
    ("ctxt ", scheduler::CONTEXT_SWITCHES),
    ("procs_running ", scheduler::RUNNING),
    ("procs_blocked ", scheduler::BLOCKED),
];

/// What the scheduler did since boot, and the tasks that run or wait now.
#[derive(Debug)]
pub(crate) struct Scheduler {
    stat: SharedFile,
}

impl Scheduler {
    pub(crate) fn new(stat: &SharedFile) -> Self {
        Self { stat: stat.clone() }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let text = self.stat.text()?;
        let value = |name: &str| -> Option<u64> {
            text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        let counters: CounterSet = LINES.iter().map(|(name, metric)| (*metric, value(name))).collect();
        if counters.is_empty() {
            return Err(malformed(self.stat.file(), "line `ctxt`"));
        }
        Ok(counters)
    }
}

impl Collector for Scheduler {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Scheduler, self.counters())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Counters, Reading};

    use super::*;
    use crate::collector::tests::{only, tree};
    use crate::round::Round;
    use crate::system::cpu::stat_file;

    #[test]
    fn switches_and_queues_are_read_and_a_file_without_them_is_a_failure() {
        let read = |content| {
            only(Scheduler::new(&stat_file(tree(&[("proc/stat", content)]).path(), &Round::default())))
        };
        let expected =
            [(scheduler::CONTEXT_SWITCHES, 1_990_473), (scheduler::RUNNING, 3), (scheduler::BLOCKED, 1)];
        let found = read("cpu 1\nctxt 1990473\nprocs_running 3\nprocs_blocked 1\n");
        assert_eq!(found, Reading::Ok(Counters::from(expected)));
        assert!(matches!(read("cpu 1\n"), Reading::Failed(_)));
    }
}
