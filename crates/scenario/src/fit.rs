//! Whether whatever a template may render can stand where it goes.
//!
//! A line end in a CSV value or in the environment would write another header, or another request.
//! Everything a template can render is known before the load, so it is looked through then, once.

use crate::template::{Piece, Variable};
use crate::{Feeder, Template};

#[cfg(test)]
mod tests;

/// The part of a request's head that a template is rendered into. A body may hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Path and query: visible ASCII.
    Target,
    /// A header's value: anything but CR, LF and NUL.
    HeaderValue,
}

impl Place {
    fn takes(self, byte: u8) -> bool {
        match self {
            Self::Target => byte.is_ascii_graphic(),
            Self::HeaderValue => !matches!(byte, b'\r' | b'\n' | 0),
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Target => "a URL; percent-encode everything but visible ASCII",
            Self::HeaderValue => "a header; remove CR, LF and NUL",
        }
    }

    fn misfit(self, text: &[u8]) -> Option<u8> {
        text.iter().copied().find(|byte| !self.takes(*byte))
    }
}

/// Something that would break the request's head. The text may be a secret and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitError {
    /// The template's own text, variables of the environment included.
    #[error("the text holds byte {byte:#04x}, which cannot stand in {}", .place.advice())]
    Text {
        /// The first byte that does not fit.
        byte: u8,
        /// Where it would go.
        place: Place,
    },
    /// A value of the CSV file.
    #[error(
        "column `{column}` in line {line} of the CSV file holds byte {byte:#04x}, which cannot stand in {}",
        .place.advice()
    )]
    Cell {
        /// The column's name.
        column: String,
        /// The line its row begins in.
        line: u64,
        /// The first byte that does not fit.
        byte: u8,
        /// Where it would go.
        place: Place,
    },
}

impl Template {
    /// Checks that no request can be broken by what this template renders in its head.
    ///
    /// # Errors
    /// When its text, or a value of a column it uses, holds a byte that cannot stand there.
    pub fn require_fit(&self, place: Place, feeder: Option<&Feeder>) -> Result<(), UnfitError> {
        self.pieces().iter().try_for_each(|piece| match piece {
            Piece::Literal(text) => {
                place.misfit(text).map_or(Ok(()), |byte| Err(UnfitError::Text { byte, place }))
            }
            Piece::Variable(Variable::Column(column)) => {
                feeder.map_or(Ok(()), |feeder| require_column_fit(feeder, *column, place))
            }
            Piece::Variable(_) => Ok(()),
        })
    }
}

fn require_column_fit(feeder: &Feeder, column: usize, place: Place) -> Result<(), UnfitError> {
    let misfit = |row| Some((row, place.misfit(feeder.cell(row, column))?));
    let Some((row, byte)) = (0..feeder.rows()).find_map(misfit) else {
        return Ok(());
    };
    let name = feeder.columns().get(column).cloned().unwrap_or_default();
    Err(UnfitError::Cell { column: name, line: feeder.line(row).unwrap_or(0), byte, place })
}
