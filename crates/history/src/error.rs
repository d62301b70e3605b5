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

impl HistoryError {
    /// True if the file will never be better: what it holds is at fault, and not the way to it or this version.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::File(error) => {
                matches!(error, StoreError::Damaged { .. } | StoreError::NotARunFile { .. })
            }
            Self::Analysis(_) | Self::PartlyDamaged { .. } => true,
        }
    }
}
