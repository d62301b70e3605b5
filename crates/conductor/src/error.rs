//! Errors that leave a run without a result.

use std::io;
use std::time::Duration;

use plimsoll_engine::EngineError;
use plimsoll_store::StoreError;

use crate::peers::PeerError;
use crate::prepare::PrepareError;
use crate::profile::ProfileError;
use crate::traffic::ScenarioError;

/// The reason why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    WarmUp(#[from] WarmUpError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Peers(#[from] PeerError),
    /// The file of a resumed run cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ConductError {
    /// True if the user ended the run before anything was measured.
    pub fn interrupted(&self) -> bool {
        matches!(
            self,
            Self::Prepare(PrepareError::Interrupted) | Self::WarmUp(WarmUpError::Interrupted { .. })
        )
    }

    /// True if the command line is wrong, so that the same command fails on every machine.
    pub fn is_usage_error(&self) -> bool {
        matches!(self, Self::Scenario(_))
    }
}

/// A warm-up after which no step can be measured.
#[derive(Debug, thiserror::Error)]
pub enum WarmUpError {
    #[error("interrupted after {} of warm-up: no step was measured, and nothing is kept", duration_text(*.after))]
    Interrupted { after: Duration },
    #[error(
        "from {} of the warm-up on the target refused every connection: no step was measured; look why it ended under \
         load", duration_text(*.since)
    )]
    TargetLost { since: Duration },
    #[error("the hosts could not be held to their caps after the first part of the warm-up: {0}")]
    NotCapped(#[source] io::Error),
}

pub(crate) fn duration_text(duration: Duration) -> String {
    plimsoll_units::duration_text(duration.as_secs_f64() * 1e9)
}
