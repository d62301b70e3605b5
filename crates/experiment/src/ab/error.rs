//! Errors in the folder of a comparison.

use std::io;
use std::path::PathBuf;

/// The file with the parameters of a comparison, in its folder.
pub(super) const RECORD: &str = "ab.json";

/// Why a folder holds no readable comparison.
#[derive(Debug, thiserror::Error)]
pub enum AbFolderError {
    #[error("{} is no folder of `plimsoll ab`: it has no {RECORD} ({source})", folder.display())]
    NoRecord { folder: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Record { path: PathBuf, reason: String },
}
