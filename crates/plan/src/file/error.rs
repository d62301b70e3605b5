//! What can be wrong in a plan file, and where.

use toml::de::DeValue;

/// Something wrong in a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PlanFileError {
    /// The line, the first is 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong at one place of a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No TOML.
    #[error("this is not TOML: {0}")]
    Syntax(String),
    /// A key that means nothing.
    #[error("`{key}` is not a key of {place}; {instead}")]
    UnknownKey {
        key: String,
        /// Where it stands.
        place: String,
        /// The nearest known key, or all of them.
        instead: String,
    },
    /// A key that is needed.
    #[error("`{key}` is missing; {why}")]
    Missing {
        /// The key with its path.
        key: String,
        /// What it is needed for.
        why: String,
    },
    /// A value that its key cannot have.
    #[error("`{key}` is {found}; it must be {expected}")]
    Wrong {
        /// The key with its path.
        key: String,
        /// What stands there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// Keys that exclude each other.
    #[error("`{key}` and `{other}` say two different things; leave one of them out")]
    Both {
        /// One key with its path.
        key: String,
        other: String,
    },
}

impl PlanFileError {
    /// The error of the TOML parser.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        Self { line, problem: Problem::Syntax(error.message().to_owned()) }
    }
}

/// How alike two names must be, from 0 to 1 as Jaro and Winkler count it, before one is suggested for the other.
const MIN_LIKENESS: f64 = 0.75;

/// The known name most like a mistyped one, if any is near.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|one| (strsim::jaro_winkler(name, one), *one));
    let likely = scored.filter(|(likeness, _)| *likeness >= MIN_LIKENESS);
    likely.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
}

/// What to write instead of a name that is not known.
pub(super) fn instead(name: &str, known: &[&str]) -> String {
    nearest(name, known).map_or_else(
        || format!("write one of {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    )
}

/// The line of a place in a text, the first is 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// What a value is called in an error.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
