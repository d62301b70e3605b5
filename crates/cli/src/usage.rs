//! Command lines that cannot be run as they are typed.

/// What is wrong with a command line, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);
