//! What all collectors have in common: how they read files, and how a read becomes a sample.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::{fmt, fs, io};

use plimsoll_record::{CounterSet, Metric, Reading, Source, Subject, Text};

/// Reads one part of a host.
pub(crate) struct Collector {
    pub(crate) read: Box<dyn FnMut() -> Vec<Read> + Send>,
    /// CPU time that a thread of its own has used so far, in microseconds; most collectors have none.
    pub(crate) thread_cpu_us: Arc<AtomicU64>,
}

impl Collector {
    /// A collector of any number of subjects.
    pub(crate) fn new(read: impl FnMut() -> Vec<Read> + Send + 'static) -> Self {
        Self { read: Box::new(read), thread_cpu_us: Arc::default() }
    }

    /// A collector of a source whose one subject is the host itself.
    pub(crate) fn host(
        source: Source,
        mut counters: impl FnMut() -> Result<CounterSet, Missing> + Send + 'static,
    ) -> Self {
        Self::new(move || Read::host(source, counters()))
    }

    /// A collector of a source with several subjects; that it is missing is a read of the host itself.
    pub(crate) fn subjects(
        source: Source,
        mut reads: impl FnMut() -> Result<Vec<Read>, Missing> + Send + 'static,
    ) -> Self {
        Self::new(move || reads().unwrap_or_else(|missing| Read::host(source, Err(missing))))
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

/// What one read of one subject gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) source: Source,
    pub(crate) subject: Text,
    pub(crate) reading: Reading,
}

impl Read {
    pub(crate) fn new(source: Source, subject: Subject<'_>, attempt: Result<CounterSet, Missing>) -> Self {
        let reading = match attempt {
            Ok(counters) => {
                debug_assert!(counters.belongs_to(source), "{source} reports {counters:?}");
                Reading::Ok(counters.into())
            }
            Err(Missing::Absent) => Reading::Absent,
            Err(Missing::Failed(why)) => Reading::Failed(why),
        };
        Self { source, subject: subject.into(), reading }
    }

    /// A read of a source whose one subject is the host itself.
    pub(crate) fn host(source: Source, attempt: Result<CounterSet, Missing>) -> Vec<Self> {
        vec![Self::new(source, Subject::Host, attempt)]
    }
}

/// Why a source gives no counters.
#[derive(Debug, Clone)]
pub(crate) enum Missing {
    /// The host does not have it.
    Absent,
    /// It exists and cannot be read; the text says why.
    Failed(String),
}

/// The text of a file below `/proc`; a file that does not exist is absent, which is no failure.
pub(crate) fn text(file: &Path) -> Result<String, Missing> {
    fs::read_to_string(file).map_err(|error| missing(file, &error))
}

/// What an error of the system means for a source.
pub(crate) fn missing(file: &Path, error: &io::Error) -> Missing {
    // A kernel that has pressure built in and switched off says that the operation is not supported.
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => Missing::Absent,
        _ => Missing::Failed(format!("could not read {}: {error}", file.display())),
    }
}

/// A file that does not hold what it should.
pub(crate) fn malformed(file: &Path, expected: &str) -> Missing {
    Missing::Failed(format!("{} has no {expected}", file.display()))
}

/// What follows `key` at the beginning of a line; the key includes what separates it from its value.
pub(crate) fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// The number that follows `key` at the beginning of a line; a unit may stand behind it.
pub(crate) fn number(text: &str, key: &str) -> Option<u64> {
    after(text, key)?.split_ascii_whitespace().next()?.parse().ok()
}

/// The metrics of a table, by the numbers that follow their keys.
pub(crate) fn numbers(text: &str, table: &[(&str, Metric)]) -> impl Iterator<Item = (Metric, Option<u64>)> {
    table.iter().map(|(key, metric)| (*metric, number(text, key)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The reading of a source that has one subject, the host itself.
    pub(crate) fn only(mut collector: Collector) -> Reading {
        let mut reads = (collector.read)();
        let read = reads.pop().unwrap();
        assert!(reads.is_empty() && read.subject.is_empty(), "{reads:?} {read:?}");
        read.reading
    }

    /// The counters of a read.
    pub(crate) fn counters(read: &Read) -> &plimsoll_record::Counters {
        let Reading::Ok(counters) = &read.reading else { panic!("{read:?}") };
        counters
    }

    /// The subjects of some reads.
    pub(crate) fn subjects(reads: &[Read]) -> Vec<&str> {
        reads.iter().map(|read| read.subject.as_str()).collect()
    }

    /// A host's file tree with these files.
    pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    #[test]
    fn a_file_that_does_not_exist_is_absent_and_one_that_cannot_be_read_is_a_failure() {
        let root = tree(&[("proc/stat/inner", "")]);
        assert!(matches!(text(&root.path().join("proc/none")), Err(Missing::Absent)));
        assert!(matches!(text(&root.path().join("proc/stat")), Err(Missing::Failed(_))), "a folder");
    }
}
