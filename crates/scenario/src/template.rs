//! Texts with variables: parsed once before the load, rendered for every request.
//!
//! A line end in a CSV value or in the environment would add another header or another request. All values that a template can render
//! are known before the load, and are checked then, once.

use std::sync::Arc;

use plimsoll_http::Part;

use crate::feeder::Feeder;
use crate::values::Values;
use parse::Piece;
use variable::Variable;

mod error;
mod parse;
#[cfg(test)]
mod tests;
mod variable;

pub use error::{Position, TemplateError, UnfitError};
pub use parse::TemplateScope;

/// A text with variables for values of the request; see `docs/scenario.md` for the variables.
///
/// As a [`Part`](plimsoll_http::Part) of a request it gets its values from [`Values`], which must use the same CSV file as the parsing
/// did. A column that is missing there renders as an empty text.
#[derive(Debug, Clone)]
pub struct Template {
    pieces: Vec<Piece>,
    feeder: Option<Arc<Feeder>>,
}

impl Template {
    /// Parses a text, which need not be UTF-8. Environment variables are substituted immediately.
    ///
    /// # Errors
    /// When a variable is unknown, is not closed, or has invalid arguments.
    pub fn parse(text: &[u8], scope: &TemplateScope<'_>) -> Result<Self, TemplateError> {
        Ok(Self { pieces: parse::parse(text, scope)?, feeder: scope.feeder.cloned() })
    }

    /// Returns the text if it is the same for every request.
    pub fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a variable writes the time of the request.
    pub fn is_timed(&self) -> bool {
        self.pieces.contains(&Piece::Variable(Variable::TimestampMs))
    }
}

impl Part for Template {
    type Values = Values;
    type Misfit = UnfitError;

    fn constant(&self) -> Option<&[u8]> {
        self.constant()
    }

    fn max_bytes(&self) -> usize {
        let longest = |piece: &Piece| match piece {
            Piece::Literal(text) => text.len(),
            Piece::Variable(variable) => variable.max_bytes(self.feeder.as_deref()),
        };
        self.pieces.iter().map(longest).sum()
    }

    fn check(&self, allowed: fn(u8) -> bool) -> Result<(), UnfitError> {
        let misfit = |text: &[u8]| text.iter().copied().find(|byte| !allowed(*byte));
        self.pieces.iter().try_for_each(|piece| match (piece, &self.feeder) {
            (Piece::Literal(text), _) => misfit(text).map_or(Ok(()), |byte| Err(UnfitError::Text { byte })),
            (Piece::Variable(Variable::Column(column)), Some(feeder)) => {
                check_column(feeder, *column, misfit)
            }
            (Piece::Variable(_), _) => Ok(()),
        })
    }

    fn render(&self, values: &mut Values, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text),
                Piece::Variable(variable) => variable.render(values, out),
            }
        }
    }
}

fn check_column(
    feeder: &Feeder,
    column: usize,
    misfit: impl Fn(&[u8]) -> Option<u8>,
) -> Result<(), UnfitError> {
    let found = |row| Some((row, misfit(feeder.cell(row, column))?));
    let Some((row, byte)) = (0..feeder.rows()).find_map(found) else {
        return Ok(());
    };
    let name = feeder.columns().get(column).cloned().unwrap_or_default();
    Err(UnfitError::Cell { column: name, line: feeder.line(row).unwrap_or(0), byte })
}
