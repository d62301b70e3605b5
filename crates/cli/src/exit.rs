//! Exit codes.

use std::process::ExitCode;

use plimsoll_analyze::{FleetError, PriceError, RunStatus, WhatIfError};
use plimsoll_conductor::ConductError;
use plimsoll_experiment::{ErrorKind, ExperimentError, MappingError};
use plimsoll_lab::LabError;
use plimsoll_plan::{PlanError, ProfilerError};
use plimsoll_prometheus::{ClientError, ReadError};

/// A command line that cannot be run as it is typed: what is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// There are too few data to show anything: what is missing, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoEvidence(pub(crate) String);

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Measured, and every condition was met.
    Success = 0,
    /// Could not run, or not to the end: unreachable, unreadable, no permission.
    CouldNotRun = 1,
    /// What the user typed is wrong.
    Usage = 2,
    /// An SLO or a margin was not met.
    Broken = 3,
    /// Measured, but not known to hold: a condition, a margin that lower bounds leave open, or with `--strict` any result that
    /// is no evidence.
    Refused = 4,
    /// The user ended the run; its results are kept.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit code of a command that made several things: interrupted, or all of them complete, or not.
    pub(crate) fn of_all(all_there: bool, interrupted: bool) -> Self {
        match (interrupted, all_there) {
            (true, _) => Self::Interrupted,
            (false, true) => Self::Success,
            (false, false) => Self::CouldNotRun,
        }
    }

    /// Returns the exit code of a command that failed with this error, whose type decides.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if let Some(error) = error.downcast_ref::<ExperimentError>() {
            return error.kind().into();
        }
        let typed = error.is::<UsageError>()
            || error.is::<PlanError>()
            || error.is::<MappingError>()
            || error.is::<ProfilerError>()
            || error.is::<WhatIfError>()
            || error.downcast_ref::<ClientError>().is_some_and(ClientError::is_mistake)
            || error.downcast_ref::<ReadError>().is_some_and(ReadError::is_mistake)
            || error.is::<PriceError>()
            || error.downcast_ref::<FleetError>().is_some_and(FleetError::is_usage_error);
        if let Some(error) = error.downcast_ref::<plimsoll_fleet::FleetError>() {
            return match error {
                error if error.is_interrupt() => Self::Interrupted,
                error if error.is_usage_error() => Self::Usage,
                _ => Self::CouldNotRun,
            };
        }
        if error.is::<NoEvidence>() {
            return Self::Refused;
        }
        let conducted = error.downcast_ref::<ConductError>();
        let lab = error.downcast_ref::<LabError>();
        if conducted.is_some_and(ConductError::interrupted) || lab.is_some_and(LabError::interrupted) {
            Self::Interrupted
        } else if typed || conducted.is_some_and(ConductError::is_usage_error) {
            Self::Usage
        } else {
            Self::CouldNotRun
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Interrupted => Self::Interrupted,
            ErrorKind::Failed => Self::CouldNotRun,
        }
    }
}

impl From<RunStatus> for Exit {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Met => Self::Success,
            RunStatus::Interrupted => Self::Interrupted,
            RunStatus::Incomplete | RunStatus::AllFailed => Self::CouldNotRun,
            RunStatus::NotEvidence | RunStatus::Open => Self::Refused,
            RunStatus::Broken => Self::Broken,
        }
    }
}
