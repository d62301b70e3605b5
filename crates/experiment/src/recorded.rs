//! Reads back recorded runs and analyses them as the live run was.

use std::path::{Path, PathBuf};

use plimsoll_analyze::{Findings, analyze};
use plimsoll_record::Run;

use crate::ExperimentError;

/// A run and its findings.
#[derive(Debug)]
pub struct RecordedRun {
    pub path: PathBuf,
    pub run: Run,
    pub findings: Findings,
}

/// The name of a file without its extension.
pub fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a run file and analyses it.
///
/// # Errors
/// When it cannot be read, or a part of it is damaged.
pub fn read_run(path: &Path) -> Result<RecordedRun, ExperimentError> {
    let recorded = read_what_is_intact(path)?;
    if recorded.run.damage.is_empty() {
        return Ok(recorded);
    }
    Err(ExperimentError::PartlyDamaged { path: path.to_owned() })
}

/// Reads a run file and analyses its intact parts.
///
/// # Errors
/// When it cannot be read.
pub fn read_what_is_intact(path: &Path) -> Result<RecordedRun, ExperimentError> {
    let run = plimsoll_store::read(path)?;
    let findings = analyze(&run)?;
    Ok(RecordedRun { path: path.to_owned(), run, findings })
}
