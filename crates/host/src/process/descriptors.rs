//! File descriptors of this process, from `/proc/self`.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_record::metric::descriptors;
use plimsoll_record::{CounterSet, Source};

use crate::collector::{Collector, Missing, Read, malformed, missing, text};

/// The descriptors that the generator's own process has open and may have open.
#[derive(Debug)]
pub(crate) struct Descriptors {
    process: PathBuf,
}

impl Descriptors {
    pub(crate) fn new(root: &Path) -> Self {
        Self { process: root.join("proc/self") }
    }

    fn counters(&self) -> Result<CounterSet, Missing> {
        let folder = self.process.join("fd");
        let open = open(&self.process).map_err(|error| missing(&folder, &error))?;
        let limits = self.process.join("limits");
        let limit = limit(&text(&limits)?)
            .ok_or_else(|| malformed(&limits, "number in the line `Max open files`"))?;
        Ok(CounterSet::from([(descriptors::OPEN, open), (descriptors::LIMIT, limit)]))
    }
}

/// The descriptors that a process has open, by its folder in `/proc`. Since Linux 6.2 the size of the folder `fd` is the
/// number of its entries. Before, it is zero, and they are counted one by one, which takes some ten milliseconds for as
/// many thousand.
pub(super) fn open(process: &Path) -> std::io::Result<u64> {
    let folder = process.join("fd");
    match fs::metadata(&folder)?.len() {
        0 => Ok(fs::read_dir(&folder)?.count() as u64),
        size => Ok(size),
    }
}

/// The soft limit of open descriptors in a file `/proc/PID/limits`.
pub(super) fn limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = line.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

impl Collector for Descriptors {
    fn read(&mut self) -> Vec<Read> {
        Read::host(Source::Descriptors, self.counters())
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Reading;

    use super::*;
    use crate::collector::tests::{only, tree};

    #[test]
    fn open_descriptors_are_counted() {
        let files: Vec<fs::File> = (0..200).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let Reading::Ok(counters) = only(Descriptors::new(Path::new("/"))) else { panic!("not read") };
        assert!(counters[descriptors::OPEN] >= files.len() as u64, "{counters:?}");
        assert!(counters[descriptors::LIMIT] > counters[descriptors::OPEN], "{counters:?}");
    }

    #[test]
    fn the_soft_limit_is_the_one_that_counts() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
        let root = tree(&[("proc/self/limits", limits), ("proc/self/fd/0", "")]);
        let Reading::Ok(counters) = only(Descriptors::new(root.path())) else { panic!("not read") };
        assert_eq!(counters[descriptors::LIMIT], 1024);
        let root = tree(&[("proc/self/limits", "Max stack\n"), ("proc/self/fd/0", "")]);
        assert!(matches!(only(Descriptors::new(root.path())), Reading::Failed(_)));
    }
}
