//! Why there is no calibration.

use std::io;
use std::time::Duration;

use plimsoll_engine::EngineError;
use plimsoll_plan::TargetError;
use plimsoll_record::CorruptHistogram;

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The null server cannot run.
    #[error(transparent)]
    Server(#[from] plimsoll_target::ServerError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The request cannot be made.
    #[error(transparent)]
    Request(#[from] TargetError),
    /// No closed loop was answered, so there is no rate to begin with.
    #[error(
        "the null server answered nothing within {0:?}; give the calibration more time, or run it when the machine is quiet"
    )]
    Unanswered(Duration),
    /// A frame of the engine cannot be read.
    #[error(transparent)]
    Frame(#[from] CorruptHistogram),
    /// A thread could not be bound to its core.
    #[error("a thread could not be bound to its core ({0}); run the calibration again")]
    Pinning(#[source] io::Error),
    /// The user ended it.
    #[error("the calibration was interrupted; nothing is remembered")]
    Interrupted,
}
