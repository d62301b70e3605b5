//! Lists the recorded runs of a folder, for `plimsoll runs`.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_record::RunCommand;
use rusqlite::Row;

use crate::access::{self, companion};
use crate::error::{self, StoreError};
use crate::file_name::EXTENSION;
use crate::schema::Word;

/// One run file in a listing.
#[derive(Debug)]
pub struct RunRow {
    pub path: PathBuf,
    /// The size, including the write-ahead log of a run that did not end normally.
    pub size_bytes: u64,
    /// The summary of the run, or why it cannot be read.
    pub summary: Result<RunSummary, StoreError>,
}

/// The data shown for a run in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub name: String,
    pub command: RunCommand,
    /// The target's URL; `None` if the plan does not have it in the place that this version knows.
    pub target_url: Option<String>,
    /// The start, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Whether the run ended normally.
    pub sealed: bool,
    /// The number of steps that were begun.
    pub step_count: u64,
}

const SUMMARY: &str = "SELECT name, command, plan ->> '$.target.url' AS target_url, started_unix_ms, sealed, \
    (SELECT count(*) FROM step) AS step_count FROM manifest";

/// Returns the run files in `folder`, newest first. Files that cannot be read come last, by name.
///
/// No frames are read, so the time does not depend on the length of the runs.
///
/// # Errors
/// When the folder is missing or cannot be read. A file that cannot be read becomes a row, not an error.
pub fn list(folder: &Path) -> Result<Vec<RunRow>, StoreError> {
    let mut rows: Vec<RunRow> = run_files(folder)?.into_iter().map(row).collect();
    rows.sort_by(|one, other| rank(one).cmp(&rank(other)));
    Ok(rows)
}

/// Returns the paths of the run files in `folder`, in no particular order and without opening them.
///
/// # Errors
/// When the folder is missing or cannot be read.
pub fn run_files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(|error| error::looking(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error::looking(folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Returns the sort key. Unreadable rows have `None` for a start, the smallest value, so they come last in reverse order.
fn rank(row: &RunRow) -> (Reverse<Option<u64>>, &Path) {
    (Reverse(row.summary.as_ref().ok().map(|summary| summary.started_unix_ms)), &row.path)
}

fn row(path: PathBuf) -> RunRow {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let size_bytes = size(&path) + size(&companion(&path, "-wal"));
    RunRow { summary: summarize(&path), size_bytes, path }
}

/// Reads the summary of one run file.
///
/// # Errors
/// When the file cannot be read.
pub fn summarize(path: &Path) -> Result<RunSummary, StoreError> {
    let connection = access::open(path)?;
    connection.query_row(SUMMARY, [], summary).map_err(|error| error::reading(path, &error))
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        name: row.get("name")?,
        command: row.get("command").map(|Word(command)| command)?,
        target_url: row.get("target_url")?,
        started_unix_ms: row.get("started_unix_ms")?,
        sealed: row.get("sealed")?,
        step_count: row.get("step_count")?,
    })
}

#[cfg(test)]
mod tests;
