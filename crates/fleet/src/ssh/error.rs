//! Why there is no agent on a host.

use std::io;

use plimsoll_host::StreamError;

use crate::deadline::Overdue;

/// Why there is no agent on a host.
#[derive(Debug, thiserror::Error)]
pub(super) enum HostError {
    #[error("could not run {program} ({reason}); see that it is installed and on the PATH")]
    NoSsh { program: String, reason: io::Error },
    #[error(transparent)]
    Ssh(StreamError),
    #[error("{0}, or give --copy")]
    NotInstalled(StreamError),
    #[error("plimsoll there is {theirs}, and this one {ours}; install this version there, or give --copy")]
    Version { theirs: String, ours: String },
    #[error(
        "the copy of this program does not run there; see that both machines have one kind of processor and a C library as new"
    )]
    CopyDoesNotRun,
    /// The last words of the command there, or of the agent.
    #[error("{0}")]
    Ended(String),
    #[error("the host did not answer in time")]
    Late,
    #[error("interrupted")]
    Interrupted,
}

impl From<Overdue> for HostError {
    fn from(overdue: Overdue) -> Self {
        match overdue {
            Overdue::Late => Self::Late,
            Overdue::Interrupted => Self::Interrupted,
        }
    }
}
