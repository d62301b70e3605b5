//! Errors of a calibration.

use std::io;
use std::time::Duration;

use plimsoll_engine::EngineError;
use plimsoll_plan::TargetError;
use plimsoll_record::CorruptHistogram;

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    #[error(transparent)]
    Server(#[from] plimsoll_target::ServerError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Request(#[from] TargetError),
    #[error(
        "the null server answered nothing within {0:?}; give the calibration more time, or run it when the machine is quiet"
    )]
    Unanswered(Duration),
    #[error(transparent)]
    Frame(#[from] CorruptHistogram),
    #[error("a thread could not be bound to its core ({0}); run the calibration again")]
    Pinning(#[source] io::Error),
    #[error("the calibration was interrupted; nothing is remembered")]
    Interrupted,
}
