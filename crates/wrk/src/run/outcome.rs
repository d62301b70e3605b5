//! How a run ends that does not end well.

use plimsoll_conductor::{ConductError, PrepareError};
use plimsoll_engine::EngineError;
use plimsoll_record::{CorruptHistogram, EventKind, Run};

use crate::options::{Exit, Url};
use crate::script::ScriptError;

/// An end without results.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: u8,
    /// Complete lines for the standard error.
    pub(super) words: String,
}

impl Failed {
    pub(super) fn saying(words: &str) -> Self {
        Self { code: 1, words: format!("plimsoll: {words}\n") }
    }

    /// Why the run could not be made, in wrk's words where wrk has any.
    pub(super) fn conducting(error: &ConductError, url: &Url) -> Self {
        match error {
            ConductError::Prepare(PrepareError::Resolve { source, .. }) => {
                Exit::unresolved(url, &reason(source)).into()
            }
            ConductError::Prepare(PrepareError::Connect { source, .. }) => {
                Exit::unreachable(url, &reason(source)).into()
            }
            ConductError::Prepare(PrepareError::Interrupted) => {
                Self { code: 130, ..Self::saying(&error.to_string()) }
            }
            ConductError::Engine(EngineError::Start { .. }) => {
                Self { code: 2, ..Self::saying(&error.to_string()) }
            }
            _ => Self::saying(&error.to_string()),
        }
    }
}

impl From<CorruptHistogram> for Failed {
    fn from(error: CorruptHistogram) -> Self {
        Self::saying(&error.to_string())
    }
}

impl From<Exit> for Failed {
    fn from(exit: Exit) -> Self {
        Self { code: exit.code, words: exit.stderr }
    }
}

impl From<ScriptError> for Failed {
    fn from(error: ScriptError) -> Self {
        match error {
            // These two are wrk's own words.
            ScriptError::Resolve(_) | ScriptError::Unreachable { .. } => {
                Self { code: 1, words: format!("{error}\n") }
            }
            _ => Self::saying(&error.to_string()),
        }
    }
}

/// What the system said, without the words and numbers that Rust puts around it.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    text.split_once(" (os error").map_or(text, |(text, _)| text).to_owned()
}

/// Whether a worker ended before its time because its requests could not be made.
pub(super) fn a_worker_failed(run: &Run) -> bool {
    run.events.iter().any(|event| event.kind == EventKind::StepFailed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_quoted_as_c_programs_quote_it() {
        assert_eq!(reason(&std::io::Error::from_raw_os_error(111)), "Connection refused");
        let resolver = "failed to lookup address information: Name or service not known";
        assert_eq!(reason(&std::io::Error::other(resolver)), "Name or service not known");
    }
}
