//! File descriptors of this process, from `/proc/self`, and the counting of those of any process.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use plimsoll_record::metric::descriptors;
use plimsoll_record::{CounterSet, Source};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::collector::{Collector, Missing, Read, after, malformed, missing, text};
use crate::cost::{Pace, thread_cpu};

/// Returns a collector of the descriptors that this process, the generator, has open, and of their limit. In a round in which counting
/// would exceed its share of CPU time, it reports nothing.
pub(crate) fn collector(root: &Path) -> Collector {
    let process = root.join("proc/self");
    let mut counts = DescriptorCounts::new();
    Collector::subjects(Source::Descriptors, move || {
        counts.begin_round(RealClock.now());
        let open = counts.open(&process).map_err(|error| missing(&process.join("fd"), &error))?;
        let Some(open) = open else { return Ok(Vec::new()) };
        let levels =
            CounterSet::from([(descriptors::OPEN, open), (descriptors::LIMIT, own_limit(&process)?)]);
        Ok(Read::host(Source::Descriptors, Ok(levels)))
    })
}

fn own_limit(process: &Path) -> Result<u64, Missing> {
    let limits = process.join("limits");
    limit(&text(&limits)?).ok_or_else(|| malformed(&limits, "number in the line `Max open files`"))
}

/// Counts the descriptors of processes. Since Linux 6.2 the size of a folder `fd` is its number of entries. In older kernels it is zero,
/// and the entries must be listed, which takes about ten milliseconds for ten thousand. Such a round counts either all processes, or
/// none if that would exceed the share of CPU time.
#[derive(Debug)]
pub(super) struct DescriptorCounts {
    pace: Pace,
    round_began: Instant,
    may_list: bool,
    /// The CPU time spent in this round; `None` if no folder was listed.
    spent: Option<Duration>,
}

impl DescriptorCounts {
    pub(super) fn new() -> Self {
        let pace = Pace::of_each_sample();
        Self { pace, round_began: Instant::default(), may_list: true, spent: None }
    }

    pub(super) fn begin_round(&mut self, now: Instant) {
        if let Some(spent) = self.spent.take() {
            self.pace.done(self.round_began, spent);
        }
        (self.round_began, self.may_list) = (now, self.pace.is_due(now));
    }

    /// Returns the number of open descriptors of the process with this folder in `/proc`; `None` if this round counts none.
    pub(super) fn open(&mut self, process: &Path) -> io::Result<Option<u64>> {
        let folder = process.join("fd");
        match fs::metadata(&folder)?.len() {
            0 if self.may_list => {
                let began = thread_cpu();
                let count = fs::read_dir(&folder)?.count() as u64;
                *self.spent.get_or_insert_default() += thread_cpu() - began;
                Ok(Some(count))
            }
            0 => Ok(None),
            size => Ok(Some(size)),
        }
    }
}

/// Parses the soft limit of open descriptors from `/proc/PID/limits`.
pub(super) fn limit(limits: &str) -> Option<u64> {
    let soft = after(limits, "Max open files")?.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use plimsoll_record::Reading;

    use super::*;
    use crate::collector::tests::{only, tree};

    #[test]
    fn open_descriptors_are_counted() {
        let files: Vec<fs::File> = (0..200).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let Reading::Ok(counters) = only(collector(Path::new("/"))) else { panic!("not read") };
        assert!(counters[descriptors::OPEN] >= files.len() as u64, "{counters:?}");
        assert!(counters[descriptors::LIMIT] > counters[descriptors::OPEN], "{counters:?}");
    }

    #[test]
    fn descriptors_that_are_counted_one_by_one_are_counted_when_that_is_due() {
        let processes = tempfile::tempdir().unwrap();
        let process = |name: &str| processes.path().join(name);
        for name in ["a", "b"] {
            fs::create_dir(process(name)).unwrap();
            // A folder of the kernel whose size is zero, as that of `fd` was.
            symlink("/proc/self/task", process(name).join("fd")).unwrap();
        }
        let hour = Duration::from_secs(3600);
        let mut counts = DescriptorCounts { pace: Pace::new(hour, 1), ..DescriptorCounts::new() };
        let mut round = |now: Instant| {
            counts.begin_round(now);
            ["a", "b"].map(|name| counts.open(&process(name)).unwrap().is_some())
        };
        let began = Instant::default() + hour;
        assert_eq!(round(began), [true; 2]);
        assert_eq!(round(began + hour / 2), [false; 2], "not counted, and not zero");
        assert_eq!(round(began + hour), [true; 2]);
    }

    #[test]
    fn the_soft_limit_is_the_one_that_counts() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
        let root = tree(&[("proc/self/limits", limits), ("proc/self/fd/0", "")]);
        let Reading::Ok(counters) = only(collector(root.path())) else { panic!("not read") };
        assert_eq!(counters[descriptors::LIMIT], 1024);
        let root = tree(&[("proc/self/limits", "Max stack\n"), ("proc/self/fd/0", "")]);
        assert!(matches!(only(collector(root.path())), Reading::Failed(_)));
    }
}
