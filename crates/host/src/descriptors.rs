//! Descriptors of this process, from `/proc/self`.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_record::Reading;

use crate::source::{Counters, Missing, Source, missing, of_host, strange, text};

/// The descriptors that the generator's own process has open, `open`, and may have open, `limit`. Both are levels.
#[derive(Debug)]
pub(crate) struct Descriptors {
    open: PathBuf,
    limits: PathBuf,
}

impl Descriptors {
    pub(crate) fn new(root: &Path) -> Self {
        Self { open: root.join("proc/self/fd"), limits: root.join("proc/self/limits") }
    }

    fn counters(&self) -> Result<Counters, Missing> {
        let open = self.count()?;
        let text = text(&self.limits)?;
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_ascii_whitespace().next());
        let limit = soft.map(|soft| if soft == "unlimited" { Ok(u64::MAX) } else { soft.parse() });
        let limit = limit.and_then(Result::ok);
        let limit = limit.ok_or_else(|| strange(&self.limits, "number in the line `Max open files`"))?;
        Ok(Counters::from([("open".to_owned(), open), ("limit".to_owned(), limit)]))
    }

    /// Since Linux 6.2 the folder's size is the number of its entries. Before, it is zero, and they are counted one by one,
    /// which takes some ten milliseconds for as many thousand.
    fn count(&self) -> Result<u64, Missing> {
        let failed = |error: std::io::Error| missing(&self.open, &error);
        let size = fs::metadata(&self.open).map_err(failed)?.len();
        if size > 0 {
            return Ok(size);
        }
        Ok(fs::read_dir(&self.open).map_err(failed)?.count() as u64)
    }
}

impl Source for Descriptors {
    fn name(&self) -> &'static str {
        "descriptors"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        of_host(self.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{only, tree};

    #[test]
    fn descriptors_that_are_open_are_counted() {
        let files: Vec<fs::File> = (0..200).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let Reading::Ok(counters) = only(Descriptors::new(Path::new("/"))) else { panic!("not read") };
        assert!(counters["open"] >= files.len() as u64, "{counters:?}");
        assert!(counters["limit"] > counters["open"], "{counters:?}");
    }

    #[test]
    fn the_soft_limit_is_the_one_that_counts() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
        let root = tree(&[("proc/self/limits", limits), ("proc/self/fd/0", "")]);
        let Reading::Ok(counters) = only(Descriptors::new(root.path())) else { panic!("not read") };
        assert_eq!(counters["limit"], 1024);
        let root = tree(&[("proc/self/limits", "Max stack\n"), ("proc/self/fd/0", "")]);
        assert!(matches!(only(Descriptors::new(root.path())), Reading::Failed(_)));
    }
}
