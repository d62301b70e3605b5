//! Errors of run files, with advice for the user.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_record::FormatVersion;
use rusqlite::ErrorCode;

/// Why a run file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path} exists already; choose another name, or overwrite it with --force")]
    Exists { path: PathBuf },
    /// A run file, or a folder of run files.
    #[error("{path} does not exist; check the path, or list the recorded runs with `plimsoll runs`")]
    Missing { path: PathBuf },
    #[error("cannot write {path}: {reason}; choose a folder that can be written to")]
    Unwritable { path: PathBuf, reason: String },
    /// The reason includes advice.
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "cannot write {path}: the disk is full; what was committed before can be read, make room for more"
    )]
    DiskFull { path: PathBuf },
    #[error("{path} is not a run file: {reason}; give the path of a file that Plimsoll recorded")]
    NotARunFile { path: PathBuf, reason: String },
    #[error(
        "{path} was written by format {}.{}; this Plimsoll reads {}.x: use {} one, or record the run again",
        .found.major, .found.minor, FormatVersion::CURRENT.major,
        if .found.major > FormatVersion::CURRENT.major { "a newer" } else { "an older" }
    )]
    OtherFormat { path: PathBuf, found: FormatVersion },
    /// The content of the run file cannot be true.
    #[error("{path} is damaged: {reason}; restore it from a copy, or record the run again")]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the run of {path} is complete, but its log could not be moved into the file ({reason}); keep {path}-wal with it"
    )]
    LogStays { path: PathBuf, reason: String },
    #[error("another process is making the run of {path}; wait until it has ended")]
    UnderWay { path: PathBuf },
    #[error("the run of {path} is complete; read it with plimsoll report {path}")]
    Complete { path: PathBuf },
    /// An earlier write failed. Further writes would leave a gap in the middle of the run.
    #[error("{path} ends at its last commit because a write to it failed; record the run again")]
    Stopped { path: PathBuf },
}

/// Converts an error of SQLite while writing `path`.
pub(crate) fn writing(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        _ => StoreError::Unwritable { path, reason: error.to_string() },
    }
}

/// Converts an error of the system while preparing to write `path`.
pub(crate) fn preparing(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { path },
        io::ErrorKind::StorageFull => StoreError::DiskFull { path },
        _ => StoreError::Unwritable { path, reason: error.to_string() },
    }
}

/// Converts an error of SQLite while reading `path`.
pub(crate) fn reading(path: &Path, error: &rusqlite::Error) -> StoreError {
    let (path, reason) = (path.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            StoreError::NotARunFile { path, reason: "it is no SQLite database".to_owned() }
        }
        // `Unknown` means that the SQL does not fit the tables: a table or a column is missing.
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => StoreError::Damaged { path, reason },
        Some(_) => StoreError::Unreadable { path, reason },
    }
}

/// Converts an error of the system about `path`.
pub(crate) fn looking(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Missing { path },
        _ => StoreError::Unreadable { path, reason: error.to_string() },
    }
}
