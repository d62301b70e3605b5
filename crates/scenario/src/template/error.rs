//! Why a text is no template, or none that may stand where it is rendered.

/// Where something stands in a template's text, both counted from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    /// Byte within the line.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is no template. Texts quoted from it are shortened and free of control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// `${` without a `}` on the same line.
    #[error("`${{` at {at} has no `}}` on its line; write `$${{` where you mean the characters themselves")]
    Unclosed {
        /// Where it begins.
        at: Position,
    },
    /// No variable has this name.
    #[error(
        "`${{{name}}}` at {at} is no variable{hint}; there are {known}; write `$${{` where you mean the \
         characters `${{` themselves"
    )]
    Unknown {
        /// The name as typed.
        name: String,
        /// Where the variable begins.
        at: Position,
        /// The variables there are.
        known: String,
        /// The name that was perhaps meant, in parentheses; empty if none is near.
        hint: String,
    },
    /// `random` without two whole numbers in order.
    #[error("`${{{name}}}` at {at} needs two whole numbers, the smaller first: `${{random(1,100)}}`")]
    Range {
        /// The variable as typed.
        name: String,
        /// Where the variable begins.
        at: Position,
    },
    /// A column, but no CSV file.
    #[error("`${{csv.{column}}}` at {at} needs a CSV file, and none was given; name one with --csv")]
    NoColumns {
        /// The column's name as typed.
        column: String,
        /// Where the variable begins.
        at: Position,
    },
    /// A column that the CSV file does not have.
    #[error("`${{csv.{column}}}` at {at}: the CSV file has no column `{column}`{hint}; it has {known}")]
    UnknownColumn {
        /// The column's name as typed.
        column: String,
        /// Where the variable begins.
        at: Position,
        /// The columns there are.
        known: String,
        /// The column that was perhaps meant, in parentheses; empty if none is near.
        hint: String,
    },
    /// A variable of the environment that is not set.
    #[error("`${{env.{name}}}` at {at}: {name} is not set in the environment, or is not UTF-8")]
    UnknownEnv {
        /// The name in the environment.
        name: String,
        /// Where the variable begins.
        at: Position,
    },
}

/// A byte that may not stand where a template is rendered. The text may be a secret and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitError {
    /// The template's own text, variables of the environment included.
    #[error("its text holds byte {byte:#04x}")]
    Text {
        /// The first byte that is not allowed.
        byte: u8,
    },
    /// A value of the CSV file.
    #[error("column `{column}` in line {line} of the CSV file holds byte {byte:#04x}")]
    Cell {
        /// The column's name.
        column: String,
        /// The line its row begins in.
        line: u64,
        /// The first byte that is not allowed.
        byte: u8,
    },
}
