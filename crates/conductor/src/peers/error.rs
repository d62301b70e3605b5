//! Errors while the generators of a run connect to each other.

use std::io;
use std::time::Duration;

/// The time within which peers must connect to the target and report that they are ready.
pub(crate) const READY_WITHIN: Duration = Duration::from_secs(30);

/// Why the generators of a run could not start together.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("the generators of the run could not speak with each other ({0})")]
    Channel(#[from] io::Error),
    #[error("{name} could not begin: {why}")]
    Failed { name: String, why: String },
    #[error("{name} is plimsoll {theirs}, and this one {ours}; start the same on all")]
    Version { name: String, theirs: String, ours: String },
    #[error(
        "{came} of {expected} other generators were ready within {} s{}", READY_WITHIN.as_secs(), missing_text(.names)
    )]
    Missing {
        came: usize,
        expected: usize,
        /// The names of peers that arrived but did not become ready.
        names: Vec<String>,
    },
    #[error("{why}; the generator that coordinates the run could not be reached either ({source})")]
    Unreported { why: String, source: io::Error },
    #[error("interrupted while the generators came together")]
    Interrupted,
}

fn missing_text(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; still waited for: {}", names.join(", ")) }
}
