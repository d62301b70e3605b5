//! Why a recorded run has no history entry.

use std::path::PathBuf;

use plimsoll_analyze::AnalyzeError;
use plimsoll_store::StoreError;

/// Why no figures can be derived from a run file.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(transparent)]
    File(#[from] StoreError),
    #[error(transparent)]
    Analysis(#[from] AnalyzeError),
    /// The figures would describe only a part of the run.
    #[error("{path} is damaged in part; `plimsoll report` shows what is intact")]
    PartlyDamaged { path: PathBuf },
}

impl HistoryError {
    /// Whether the error is permanent: the file's content is at fault, not the access to it or this version.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::File(error) => {
                matches!(error, StoreError::Damaged { .. } | StoreError::NotARunFile { .. })
            }
            // Its digests match, so another version wrote it and can deliver it.
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
