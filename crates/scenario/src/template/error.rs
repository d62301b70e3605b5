//! Why a text is not a template, or may not be used where it would be rendered.

/// A position in a template's text. Line and column are counted from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is not a template. Quoted parts are shortened and free of control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    #[error("`${{` at {at} has no `}}` on its line; write `$${{` where you mean the characters themselves")]
    Unclosed {
        /// The beginning of the unclosed variable.
        at: Position,
    },
    #[error(
        "`${{{name}}}` at {at} is no variable{hint}; there are {known}; write `$${{` where you mean the \
         characters `${{` themselves"
    )]
    Unknown {
        name: String,
        at: Position,
        known: String,
        /// The name that was probably meant, in parentheses; empty if none is similar.
        hint: String,
    },
    #[error("`${{{name}}}` at {at} needs two whole numbers, the smaller first: `${{random(1,100)}}`")]
    Range { name: String, at: Position },
    #[error("`${{csv.{column}}}` at {at} needs a CSV file, and none was given; name one with --csv")]
    NoColumns { column: String, at: Position },
    #[error("`${{csv.{column}}}` at {at}: the CSV file has no column `{column}`{hint}; it has {known}")]
    UnknownColumn {
        column: String,
        at: Position,
        known: String,
        /// The column that was probably meant, in parentheses; empty if none is similar.
        hint: String,
    },
    #[error("`${{env.{name}}}` at {at}: {name} is not set in the environment, or is not UTF-8")]
    UnknownEnv { name: String, at: Position },
}

/// A byte that is not allowed where a template is rendered. The text may be a secret and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitError {
    #[error("its text holds byte {byte:#04x}")]
    Text { byte: u8 },
    #[error("column `{column}` in line {line} of the CSV file holds byte {byte:#04x}")]
    Cell { column: String, line: u64, byte: u8 },
}
