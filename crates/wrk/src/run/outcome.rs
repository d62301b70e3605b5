//! How a run ends that does not end well: in wrk's words where wrk has any.

use plimsoll_conductor::{ConductError, PrepareError};
use plimsoll_engine::EngineError;
use plimsoll_record::CorruptHistogram;

use crate::options::{Exit, Url};
use crate::script::ScriptError;

/// An end with a line of Plimsoll's own, and exit code 1.
pub(super) fn failed(words: &str) -> Exit {
    Exit::failed(format!("plimsoll: {words}\n"))
}

/// Why the run could not be made.
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
            // These two are wrk's own words.
            ScriptError::Resolve(_) | ScriptError::Unreachable { .. } => Self::failed(format!("{error}\n")),
            _ => failed(&error.to_string()),
        }
    }
}

/// What the system said, without the words and numbers that Rust puts around it.
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
