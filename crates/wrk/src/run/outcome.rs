//! How a run that failed exits: with wrk's message if wrk has one.

use plimsoll_conductor::{ConductError, PrepareError};
use plimsoll_engine::EngineError;
use plimsoll_record::CorruptHistogram;

use crate::options::{Exit, Url};
use crate::script::ScriptError;

/// An exit with a message of Plimsoll's own and code 1.
pub(super) fn failed(words: &str) -> Exit {
    Exit::failed(format!("plimsoll: {words}\n"))
}

/// Returns the exit of a run that could not be made.
pub(super) fn not_conducted(error: &ConductError, url: &Url) -> Exit {
    match error {
        ConductError::Prepare(PrepareError::Resolve { source, .. }) => Exit::unresolved(url, &reason(source)),
        ConductError::Prepare(PrepareError::Connect { source, .. }) => {
            Exit::unreachable(url, &reason(source))
        }
        ConductError::Prepare(PrepareError::Interrupted) => Exit { code: 130, ..failed(&error.to_string()) },
        ConductError::Engine(EngineError::Start { .. }) => Exit { code: 2, ..failed(&error.to_string()) },
        _ => failed(&error.to_string()),
    }
}

impl From<CorruptHistogram> for Exit {
    fn from(error: CorruptHistogram) -> Self {
        failed(&error.to_string())
    }
}

impl From<ScriptError> for Exit {
    fn from(error: ScriptError) -> Self {
        match error {
            // These two are wrk's own messages.
            ScriptError::Resolve(_) | ScriptError::Unreachable { .. } => Self::failed(format!("{error}\n")),
            _ => failed(&error.to_string()),
        }
    }
}

/// Returns the system's message, without the words and numbers that Rust adds to it.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    text.split_once(" (os error").map_or(text, |(text, _)| text).to_owned()
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
