//! Why a run has no result.

use std::io;
use std::time::Duration;

use plimsoll_engine::EngineError;
use plimsoll_units::duration_text;

use crate::peers::PeerError;
use crate::prepare::PrepareError;
use crate::profile::ProfileError;
use crate::traffic::ScenarioError;

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The run could not begin.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The plan's requests cannot be sent as they were typed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The CPU profile that the plan asks for cannot be taken.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The warm-up broke off.
    #[error(transparent)]
    WarmUp(#[from] WarmUpError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The other generators of the run failed.
    #[error(transparent)]
    Peers(#[from] PeerError),
}

impl ConductError {
    /// True if the user ended the run before anything was measured.
    pub fn interrupted(&self) -> bool {
        matches!(
            self,
            Self::Prepare(PrepareError::Interrupted) | Self::WarmUp(WarmUpError::Interrupted { .. })
        )
    }

    /// True if what was typed is wrong: the same command fails on every machine.
    pub fn is_usage_error(&self) -> bool {
        matches!(self, Self::Scenario(_))
    }
}

/// A warm-up that no step follows.
#[derive(Debug, thiserror::Error)]
pub enum WarmUpError {
    /// The user ended it.
    #[error("interrupted after {} of warm-up: no step was measured, and nothing is kept", text(.after))]
    Interrupted {
        /// How long it had taken.
        after: Duration,
    },
    /// The target is gone.
    #[error(
        "from {} of the warm-up on the target refused every connection: no step was measured; look why it ended under \
         load", text(.since)
    )]
    TargetLost {
        /// The time since the warm-up began.
        since: Duration,
    },
    /// Hosts have more than their caps.
    #[error("the hosts could not be held to their caps after the first part of the warm-up: {0}")]
    NotCapped(#[source] io::Error),
}

fn text(duration: &Duration) -> String {
    duration_text(duration.as_secs_f64() * 1e9)
}
