//! What all collectors have in common: where they read, and how a read becomes a sample.

use std::path::Path;
use std::{fs, io};

use plimsoll_record::{CounterSet, Reading, Source, Subject, Text};

/// Reads one part of a host.
pub(crate) trait Collector: std::fmt::Debug + Send {
    /// Reads once.
    fn read(&mut self) -> Vec<Read>;
    /// CPU time that threads of its own have used so far, in microseconds; most collectors have none.
    fn threads_cpu_us(&self) -> u64 {
        0
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
    /// A read of one subject of a source.
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The reading of a source that has one subject, the host itself.
    pub(crate) fn only(mut collector: impl Collector) -> Reading {
        let mut reads = collector.read();
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
