//! File descriptors of this process, from `/proc/self`.

use std::fs;
use std::path::Path;

use plimsoll_record::metric::descriptors;
use plimsoll_record::{CounterSet, Source};

use crate::collector::{Collector, after, malformed, missing, text};

/// A collector of the descriptors that the generator's own process has open and may have open.
pub(crate) fn collector(root: &Path) -> Collector {
    let process = root.join("proc/self");
    let limits = process.join("limits");
    Collector::host(Source::Descriptors, move || {
        let open = open(&process).map_err(|error| missing(&process.join("fd"), &error))?;
        let limit = limit(&text(&limits)?);
        let limit = limit.ok_or_else(|| malformed(&limits, "number in the line `Max open files`"))?;
        Ok(CounterSet::from([(descriptors::OPEN, open), (descriptors::LIMIT, limit)]))
    })
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
    let soft = after(limits, "Max open files")?.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

#[cfg(test)]
mod tests {
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
    fn the_soft_limit_is_the_one_that_counts() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
        let root = tree(&[("proc/self/limits", limits), ("proc/self/fd/0", "")]);
        let Reading::Ok(counters) = only(collector(root.path())) else { panic!("not read") };
        assert_eq!(counters[descriptors::LIMIT], 1024);
        let root = tree(&[("proc/self/limits", "Max stack\n"), ("proc/self/fd/0", "")]);
        assert!(matches!(only(collector(root.path())), Reading::Failed(_)));
    }
}
