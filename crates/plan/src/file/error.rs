//! What can be wrong in a plan file, and where.

use plimsoll_units::nearest;

/// The outcome of reading a part of a plan file.
pub(super) type Result<T, E = PlanFileError> = std::result::Result<T, E>;

/// Something wrong in a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PlanFileError {
    /// The first is 1.
    pub line: usize,
    pub problem: Problem,
}

/// What is wrong at one place of a plan file; keys stand here with their paths.
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
    /// The error of the TOML parser.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        Self { line, problem: Problem::Syntax(error.message().to_owned()) }
    }
}

/// What to write instead of a name that is not known.
pub(super) fn instead(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied()).map_or_else(
        || format!("write one of {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    )
}

/// The line of a place in a text, the first is 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
