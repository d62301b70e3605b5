//! Options that another command has: which one, and what to write.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::UsageError;

const LADDER: &str = "is about a ladder of loads: write plimsoll sweep URL --ladder N,N,… --step TIME";
const RATE: &str =
    "is about one load: write plimsoll run URL -R RATE; a sweep climbs in connections, --ladder N,N,…";
const STEP: &str = "is about one load; in a sweep --step TIME is how long one step lasts at most";
const ONE_LOAD: &str = "is about one load: write plimsoll run URL; a sweep's connections are --ladder N,N,…";
const BUDGET: &str = "is about the whole answer: write plimsoll URL --budget TIME; one load lasts -d TIME";
const VERSION: &str = "has no meaning here: write plimsoll --version";

/// What is wrong with a line that the parser refuses, if it is an option of another command.
pub(super) fn misplaced(error: &clap::Error, line: &[String]) -> Option<UsageError> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(typed))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let command = line.get(1).map(String::as_str).unwrap_or_default();
    let words = match (command, typed.as_str()) {
        (_, "-V" | "--version") => VERSION,
        ("run", "--budget") => BUDGET,
        ("sweep", "-R" | "--rate" | "--arrivals" | "--max-connections") => RATE,
        ("sweep", "-d" | "--duration") => STEP,
        ("sweep", "-c" | "--connections" | "--requests-count" | "--pipeline") => ONE_LOAD,
        ("sweep", "--ladder" | "--step") => return None,
        (_, "--ladder" | "--step") => LADDER,
        _ => return None,
    };
    Some(UsageError(format!("{typed} {words}")))
}
