//! Why a recorded run has no place in a history.

use std::path::PathBuf;

use plimsoll_analyze::AnalyzeError;
use plimsoll_store::StoreError;

/// A run file that no figures can be derived from.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(transparent)]
    File(#[from] StoreError),
    #[error(transparent)]
    Analysis(#[from] AnalyzeError),
    /// Its figures would be of a part of the run.
    #[error("{path} is damaged in part; `plimsoll report` shows what is intact")]
    PartlyDamaged { path: PathBuf },
}
