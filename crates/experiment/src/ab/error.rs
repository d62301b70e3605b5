//! Why a folder holds no comparison.

use std::io;
use std::path::PathBuf;

/// The file of a comparison's folder that says what was asked for.
pub(super) const RECORD: &str = "ab.json";

/// A folder that holds no comparison.
#[derive(Debug, thiserror::Error)]
pub enum AbFolderError {
    #[error("{} is no folder of `plimsoll ab`: it has no {RECORD} ({source})", folder.display())]
    NoRecord { folder: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Record { path: PathBuf, reason: String },
}
