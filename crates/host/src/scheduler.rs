//! What the scheduler of the machine did, from `/proc/stat`.

use plimsoll_record::Reading;

use crate::recent::Recent;
use crate::source::{Counters, Missing, Source, of_host, strange};

/// The kernel's names and ours.
const LINES: [(&str, &str); 3] =
    [("ctxt ", "context_switches"), ("procs_running ", "running"), ("procs_blocked ", "blocked")];

/// `context_switches` since boot, and two levels: the tasks that run or could, `running`, and those that wait for disks,
/// `blocked`.
#[derive(Debug)]
pub(crate) struct Scheduler {
    stat: Recent,
}

impl Scheduler {
    pub(crate) fn new(stat: &Recent) -> Self {
        Self { stat: stat.clone() }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let text = self.stat.text()?;
        let of = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)).and_then(|value| value.trim().parse().ok())
        };
        let counters: Counters =
            LINES.iter().filter_map(|(name, ours)| Some(((*ours).to_owned(), of(name)?))).collect();
        if counters.is_empty() {
            return Err(strange(self.stat.file(), "line `ctxt`"));
        }
        Ok(counters)
    }
}

impl Source for Scheduler {
    fn name(&self) -> &'static str {
        "scheduler"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::stat_file;
    use crate::source::tests::{only, tree};

    #[test]
    fn switches_and_queues_are_told_and_a_file_without_them_is_a_failure() {
        let read = |content| only(Scheduler::new(&stat_file(tree(&[("proc/stat", content)]).path())));
        let Reading::Ok(counters) = read("cpu 1\nctxt 1990473\nprocs_running 3\nprocs_blocked 1\n") else {
            panic!("not read");
        };
        let values = ["context_switches", "running", "blocked"].map(|name| counters[name]);
        assert_eq!(values, [1_990_473, 3, 1]);
        assert!(matches!(read("cpu 1\n"), Reading::Failed(_)));
    }
}
