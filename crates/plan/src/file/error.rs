//! Errors in a plan file, with their lines.

use plimsoll_units::nearest;

pub(super) type Result<T, E = PlanFileError> = std::result::Result<T, E>;

/// An error in a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PlanFileError {
    /// The line, from 1.
    pub line: usize,
    pub problem: Problem,
}

/// What is wrong at one place of a plan file; keys are given with their paths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("this is not TOML: {0}")]
    Syntax(String),
    #[error("`{key}` is not a key of {place}; {instead}")]
    UnknownKey { key: String, place: String, instead: String },
    #[error("`{key}` is missing; {why}")]
    Missing { key: String, why: String },
    #[error("`{key}` is {found}; it must be {expected}")]
    Wrong { key: String, found: String, expected: String },
    #[error("`{key}` and `{other}` say two different things; leave one of them out")]
    Both { key: String, other: String },
    #[error("[slo]: {0}")]
    Conditions(String),
}

impl PlanFileError {
    /// Converts an error of the TOML parser.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        Self { line, problem: Problem::Syntax(error.message().to_owned()) }
    }
}

/// A hint that replaces an unknown name: the nearest known name, or all of them.
pub(super) fn instead(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied()).map_or_else(
        || format!("write one of {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    )
}

/// The line of a byte offset in a text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
