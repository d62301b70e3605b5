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
            // Its digests match: another version wrote it, and can deliver it.
            Self::Analysis(AnalyzeError::Plan(_)) => false,
            Self::Analysis(AnalyzeError::Histogram { .. }) | Self::PartlyDamaged { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::Plan;

    use super::*;

    #[test]
    fn a_plan_of_another_version_is_not_the_end_of_a_run() {
        let plan = Plan::from_json(r#"{"what": "a later version adds"}"#).unwrap_err();
        assert!(!HistoryError::from(AnalyzeError::from(plan)).is_final());
        assert!(HistoryError::PartlyDamaged { path: PathBuf::new() }.is_final());
    }
}
