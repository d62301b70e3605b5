//! Recorded runs, read back and analysed as the live run was.

use std::path::{Path, PathBuf};

use plimsoll_analyze::{Findings, analyze};
use plimsoll_record::Run;

use crate::ExperimentError;

/// A run and its findings.
#[derive(Debug)]
pub struct RecordedRun {
    /// The run file.
    pub path: PathBuf,
    /// What was recorded.
    pub run: Run,
    /// What it means.
    pub findings: Findings,
}

/// Reads a run file and analyses it.
///
/// # Errors
/// When it cannot be read.
pub fn read_run(path: &Path) -> Result<RecordedRun, ExperimentError> {
    let run = plimsoll_store::read(path)?;
    let findings = analyze(&run)?;
    Ok(RecordedRun { path: path.to_owned(), run, findings })
}
