//! What the exit code says.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Measured, and every condition held.
    Held,
    /// Could not run, or not to the end: unreachable, unreadable, no permission.
    CouldNotRun,
    /// The command line is wrong.
    Usage,
    /// An SLO or a margin was broken.
    Broken,
    /// Measured, but refused as evidence under `--strict`.
    Refused,
    /// The user ended the run; its results are kept.
    Interrupted,
}

impl Exit {
    /// How a command ended that made several things: by the user, or with all of them there, or not.
    pub(crate) fn of_all(all_there: bool, interrupted: bool) -> Self {
        match (interrupted, all_there) {
            (true, _) => Self::Interrupted,
            (false, true) => Self::Held,
            (false, false) => Self::CouldNotRun,
        }
    }

    /// The code that a shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::CouldNotRun => 1,
            Self::Usage => 2,
            Self::Broken => 3,
            Self::Refused => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
