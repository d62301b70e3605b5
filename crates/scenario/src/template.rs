//! Texts with variables: parsed once before the load, rendered for every request.

use crate::{Feeder, Values};

mod parse;
#[cfg(test)]
mod tests;
mod variable;

pub(crate) use variable::Variable;

/// What a template may refer to.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The columns of the CSV file, see [`Feeder::columns`]; none without such a file.
    pub columns: &'a [String],
    /// The environment: the value of a name, if it is set.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

/// Where something stands in a template's text, both counted from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line.
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

/// One piece of a parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes that are the same in every request; never empty, never two in a row.
    Literal(Vec<u8>),
    /// Bytes made for each request.
    Variable(Variable),
}

/// A text in which variables stand for values of the request; see `docs/scenario.md` for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a text, which need not be UTF-8. Variables of the environment are put in here and now.
    ///
    /// # Errors
    /// When a variable is unknown, is not closed, or has arguments that make no sense.
    pub fn parse(text: &[u8], known: &Known<'_>) -> Result<Self, TemplateError> {
        Ok(Self { pieces: parse::parse(text, known)? })
    }

    /// The text, if it is the same for every request.
    pub fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the text has to do with the instant of its request.
    pub fn is_timed(&self) -> bool {
        self.pieces.contains(&Piece::Variable(Variable::TimestampMs))
    }

    /// Appends the text of the current request, see [`Values::next_request`].
    ///
    /// Nothing is allocated while `out` has room for [`Template::bytes_max`] more. `values` must come with
    /// the CSV file whose columns the template was parsed with; a column it does not have renders as nothing.
    pub fn render(&self, values: &mut Values, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text),
                Piece::Variable(variable) => variable.render(values, out),
            }
        }
    }

    /// The most bytes a rendering can take, with the values of this CSV file.
    pub fn bytes_max(&self, feeder: Option<&Feeder>) -> usize {
        let longest = |piece: &Piece| match piece {
            Piece::Literal(text) => text.len(),
            Piece::Variable(variable) => variable.bytes_max(feeder),
        };
        self.pieces.iter().map(longest).sum()
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}
