//! The folder of a comparison: its parameters, and a run file for each load.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_analyze::ab::{AbLoad, AbRule, AbSide, Unusable};
use serde::{Deserialize, Serialize};

use super::error::{AbFolderError, RECORD};
use crate::ExperimentError;
use crate::recorded::read_run;

const FORMAT: u32 = 1;

/// The parameters of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbRecord {
    format: u32,
    /// The labels of A and B: their URLs, or the commands that start them.
    pub labels: [String; 2],
    /// The seed for the order of loads.
    pub seed: u64,
    /// True if the services were started for each load.
    pub restarts: bool,
    #[serde(flatten)]
    pub rule: AbRule,
}

impl AbRecord {
    pub(super) fn new(labels: [String; 2], seed: u64, restarts: bool, rule: AbRule) -> Self {
        Self { format: FORMAT, labels, seed, restarts, rule }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), ExperimentError> {
        let path = folder.join(RECORD);
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other);
        text.and_then(|text| fs::write(&path, text + "\n")).map_err(ExperimentError::file("write", &path))
    }

    fn read(folder: &Path) -> Result<Self, AbFolderError> {
        let path = folder.join(RECORD);
        let text = fs::read_to_string(&path)
            .map_err(|source| AbFolderError::NoRecord { folder: folder.to_owned(), source })?;
        let wrong = |reason: String| AbFolderError::Record { path: path.clone(), reason };
        let record: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match record.format {
            FORMAT => Ok(record),
            other => {
                Err(wrong(format!("its format is {other}, and this version of plimsoll reads {FORMAT}")))
            }
        }
    }
}

/// Creates a folder for one comparison. If the name is taken, a number is appended.
pub(super) fn new_folder(out: &Path, name: &str) -> Result<PathBuf, ExperimentError> {
    fs::create_dir_all(out).map_err(ExperimentError::file("make", out))?;
    let (mut folder, mut number) = (out.join(name), 1);
    loop {
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(ExperimentError::file("make", &folder)(error)),
        }
        folder = out.join(format!("{name}-{number}"));
    }
}

/// The name of a load's run; round 0 does not count.
pub(super) fn run_name(round: u32, side: AbSide) -> String {
    format!("r{round:04}-{}", side.name().to_lowercase())
}

/// Parses the round and the side from the name of a run file; `None` for other runs.
fn parsed(file: &Path) -> Option<(u32, AbSide)> {
    let mut parts = file.file_name()?.to_str()?.split('-');
    let round = parts.next()?.strip_prefix('r')?.parse().ok().filter(|round| *round > 0)?;
    let side = parts.next()?;
    let side = AbSide::BOTH.into_iter().find(|known| known.name().eq_ignore_ascii_case(side))?;
    Some((round, side))
}

/// Renames the file of a load whose service ended during it, so that it does not count in the comparison.
pub(super) fn set_aside(path: &Path) -> Result<(), ExperimentError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    fs::rename(path, path.with_file_name(format!("failed-{name}")))
        .map_err(ExperimentError::file("rename", path))
}

/// Reads the comparison of a folder: its parameters, and its loads in the order in which they were made.
///
/// # Errors
/// When the folder holds no comparison, or a run file in it cannot be read.
pub fn read_ab(folder: &Path) -> Result<(AbRecord, Vec<AbLoad>), ExperimentError> {
    let record = AbRecord::read(folder)?;
    let mut loads = Vec::new();
    for row in plimsoll_store::list(folder)? {
        let Some((round, side)) = parsed(&row.path) else { continue };
        loads.push(read_load(&row.path, side, round)?);
    }
    // An interrupted load is no evidence about its side.
    loads.retain(|load| load.unusable != Some(Unusable::Cut));
    // Sorting by round first keeps the order if the clock was set.
    loads.sort_by_key(|load| (load.round, load.began_unix_ms));
    Ok((record, loads))
}

/// Reads the load of a run file.
pub(super) fn read_load(path: &Path, side: AbSide, round: u32) -> Result<AbLoad, ExperimentError> {
    let recorded = read_run(path)?;
    Ok(AbLoad::new(&recorded.run, &recorded.findings, side, round)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_found_by_the_name_of_its_file() {
        let file = |name: &str| parsed(&Path::new("runs").join(format!("{name}-20260101-120000.plimsoll")));
        for (round, side) in [(1, AbSide::A), (9999, AbSide::B), (12_345, AbSide::A)] {
            assert_eq!(file(&run_name(round, side)), Some((round, side)));
        }
        assert_eq!(file(&run_name(0, AbSide::A)), None, "a trial");
        assert_eq!(["ladder", "rx-a", "r3-c", "failed-r0003-a"].map(file), [None; 4]);
    }

    #[test]
    fn comparisons_of_one_name_have_folders_of_their_own() {
        let out = tempfile::tempdir().unwrap();
        let made = [0; 3].map(|_| new_folder(&out.path().join("runs"), "ab").unwrap());
        let names = made.each_ref().map(|folder| folder.file_name().unwrap());
        assert_eq!(names, ["ab", "ab-2", "ab-3"]);
    }

    #[test]
    fn what_was_asked_for_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let rule = AbRule { margin: 0.05, precision: 0.01, budget_sec: 600.0, rounds_max: Some(9) };
        let labels = ["http://127.0.0.1:1/".to_owned(), "http://127.0.0.1:2/".to_owned()];
        let record = AbRecord::new(labels, 7, true, rule);
        record.write(folder.path()).unwrap();
        assert_eq!(AbRecord::read(folder.path()).unwrap(), record);
        let none = AbRecord::read(&folder.path().join("none")).unwrap_err();
        assert!(matches!(none, AbFolderError::NoRecord { .. }));
        fs::write(folder.path().join(RECORD), "{}").unwrap();
        assert!(matches!(AbRecord::read(folder.path()), Err(AbFolderError::Record { .. })));
    }
}
