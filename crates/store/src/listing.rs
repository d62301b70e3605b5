//! The recorded runs of a folder, for `plimsoll runs`.

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
    /// With the write-ahead log of a run that did not end in order.
    pub size_bytes: u64,
    /// What is recorded in it, or why that cannot be read.
    pub summary: Result<RunSummary, StoreError>,
}

/// What a listing says about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub name: String,
    pub command: RunCommand,
    /// The target's URL, if the plan has one in the place that this version knows.
    pub target_url: Option<String>,
    /// In milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// True once the run ended in order.
    pub sealed: bool,
    /// How many steps were begun.
    pub step_count: u64,
}

const SUMMARY: &str = "SELECT name, command, plan ->> '$.target.url' AS target_url, started_unix_ms, sealed, \
    (SELECT count(*) FROM step) AS step_count FROM manifest";

/// The run files in `folder`, newest first; those that cannot be read come last, by name.
///
/// Reads no frames, so its time does not grow with the length of the runs.
///
/// # Errors
/// When the folder is missing or cannot be read. A file that cannot be read is a row and not an error.
pub fn list(folder: &Path) -> Result<Vec<RunRow>, StoreError> {
    let mut rows: Vec<RunRow> = run_files(folder)?.into_iter().map(row).collect();
    rows.sort_by(|one, other| rank(one).cmp(&rank(other)));
    Ok(rows)
}

/// The run files in `folder`, in no order; none is opened.
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

/// Readable rows have a start, unreadable ones `None`, which is the smallest and so comes last when reversed.
fn rank(row: &RunRow) -> (Reverse<Option<u64>>, &Path) {
    (Reverse(row.summary.as_ref().ok().map(|summary| summary.started_unix_ms)), &row.path)
}

fn row(path: PathBuf) -> RunRow {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let size_bytes = size(&path) + size(&companion(&path, "-wal"));
    RunRow { summary: summarize(&path), size_bytes, path }
}

/// What a listing says about one run file.
///
/// # Errors
/// When it cannot be read.
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
