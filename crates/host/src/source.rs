//! What all sources have in common: where they read, and how a read becomes a sample.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use plimsoll_record::Reading;

/// One thing that a host tells about itself.
pub(crate) trait Source: std::fmt::Debug + Send {
    /// Its name in samples.
    fn name(&self) -> &'static str;
    /// Reads once: one reading for each subject, see [`HostSample::subject`](plimsoll_record::HostSample::subject).
    fn read(&mut self) -> Vec<(String, Reading)>;
    /// What threads of its own have cost so far, in microseconds of CPU time; most sources have none.
    fn threads_cpu_us(&self) -> u64 {
        0
    }
}

/// The readings of a source that has one subject, the host itself.
pub(crate) fn of_host(attempt: Result<Counters, Missing>) -> Vec<(String, Reading)> {
    vec![(String::new(), reading(attempt))]
}

/// Why a source gives no counters.
#[derive(Debug, Clone)]
pub(crate) enum Missing {
    /// The host does not have it.
    Absent,
    /// It is there and cannot be read; the text says why.
    Failed(String),
}

/// Counters by name.
pub(crate) type Counters = BTreeMap<String, u64>;

/// The reading that a source's attempt comes to.
pub(crate) fn reading(attempt: Result<Counters, Missing>) -> Reading {
    match attempt {
        Ok(counters) => Reading::Ok(counters.into()),
        Err(Missing::Absent) => Reading::Absent,
        Err(Missing::Failed(why)) => Reading::Failed(why),
    }
}

/// The text of a file below `/proc`; one that does not exist is absent and no failure.
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
pub(crate) fn strange(file: &Path, expected: &str) -> Missing {
    Missing::Failed(format!("{} has no {expected}", file.display()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The reading of a source that has one subject, the host itself.
    pub(crate) fn only(mut source: impl Source) -> Reading {
        let mut readings = source.read();
        let (subject, reading) = readings.pop().unwrap();
        assert!(readings.is_empty() && subject.is_empty(), "{readings:?} {subject}");
        reading
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
    fn what_is_not_there_is_absent_and_what_cannot_be_read_is_a_failure() {
        let root = tree(&[("proc/stat/inner", "")]);
        assert!(matches!(text(&root.path().join("proc/none")), Err(Missing::Absent)));
        assert!(matches!(text(&root.path().join("proc/stat")), Err(Missing::Failed(_))), "a folder");
    }
}
