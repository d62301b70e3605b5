//! What all collectors have in common: how they read files, and how a read becomes a sample.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::{fmt, fs, io};

use plimsoll_record::{CounterSet, Metric, Reading, Source, Subject, Text};

/// Reads one part of a host.
pub(crate) struct Collector {
    pub(crate) read: Box<dyn FnMut() -> Vec<Read> + Send>,
    /// CPU time in microseconds that the collector's own thread has used so far; 0 for a collector without one.
    pub(crate) thread_cpu_us: Arc<AtomicU64>,
}

impl Collector {
    /// Creates a collector of any number of subjects.
    pub(crate) fn new(read: impl FnMut() -> Vec<Read> + Send + 'static) -> Self {
        Self { read: Box::new(read), thread_cpu_us: Arc::default() }
    }

    /// Creates a collector of a source whose one subject is the host itself.
    pub(crate) fn host(
        source: Source,
        mut counters: impl FnMut() -> Result<CounterSet, Missing> + Send + 'static,
    ) -> Self {
        Self::new(move || Read::host(source, counters()))
    }

    /// Creates a collector of a source with several subjects. A missing source becomes a read whose subject is the host.
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

/// The result of reading one subject once.
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

    /// Returns a read of a source whose one subject is the host itself.
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

/// Returns the text of a file below `/proc`. A file that does not exist is [`Missing::Absent`], not a failure.
pub(crate) fn text(file: &Path) -> Result<String, Missing> {
    fs::read_to_string(file).map_err(|error| missing(file, &error))
}

/// Converts an I/O error on `file` to what it means for the source.
pub(crate) fn missing(file: &Path, error: &io::Error) -> Missing {
    // A kernel with pressure information built in but switched off answers "operation not supported".
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => Missing::Absent,
        _ => Missing::Failed(format!("could not read {}: {error}", file.display())),
    }
}

/// Returns the failure for a file that lacks the `expected` content.
pub(crate) fn malformed(file: &Path, expected: &str) -> Missing {
    Missing::Failed(format!("{} has no {expected}", file.display()))
}

/// Returns the rest of the first line that begins with `key`, trimmed. `key` includes its separator, such as a colon.
pub(crate) fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// Returns the number that follows `key` at the beginning of a line. A unit may follow the number.
pub(crate) fn number(text: &str, key: &str) -> Option<u64> {
    after(text, key)?.split_ascii_whitespace().next()?.parse().ok()
}

/// Looks up the number of each key in `table`; `None` for a key without one.
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
