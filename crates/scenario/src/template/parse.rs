//! Parses a text into pieces.

use std::sync::Arc;

use memchr::{memchr_iter, memchr2, memmem, memrchr};

use super::error::{Position, TemplateError};
use super::variable::Variable;
use crate::feeder::Feeder;
use crate::suggestion::quoted;

const OPENING: &[u8] = b"${";

/// The data that the variables of a template may refer to.
#[derive(Clone, Copy)]
pub struct TemplateScope<'a> {
    /// The rows of the CSV file; `None` without such a file.
    pub feeder: Option<&'a Arc<Feeder>>,
    /// Returns the value of an environment variable, if it is set.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

/// One piece of a parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes that are the same in every request. They are never empty, and there are never two such pieces in a row.
    Literal(Vec<u8>),
    Variable(Variable),
}

/// Splits a text into pieces. `$${` means a literal `${`; the text is read from left to right.
pub(super) fn parse(text: &[u8], scope: &TemplateScope<'_>) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut lines = Lines::default();
    let mut from = 0;
    while let Some(found) = memmem::find(&text[from..], OPENING) {
        let (start, inside) = (from + found, from + found + OPENING.len());
        if text[from..start].ends_with(b"$") {
            // Drops the first of the two dollar signs, and keeps the rest.
            push_literal(&mut pieces, &text[from..start - 1]);
            push_literal(&mut pieces, OPENING);
            from = inside;
            continue;
        }
        push_literal(&mut pieces, &text[from..start]);
        let at = lines.position(text, start);
        let end = match memchr2(b'}', b'\n', &text[inside..]) {
            Some(length) if text[inside + length] == b'}' => inside + length,
            _ => return Err(TemplateError::Unclosed { at }),
        };
        push_variable(&mut pieces, &text[inside..end], at, scope)?;
        from = end + 1;
    }
    push_literal(&mut pieces, &text[from..]);
    Ok(pieces)
}

fn push_literal(pieces: &mut Vec<Piece>, text: &[u8]) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Literal(before)) => before.extend_from_slice(text),
        _ => pieces.push(Piece::Literal(text.to_vec())),
    }
}

fn push_variable(
    pieces: &mut Vec<Piece>,
    name: &[u8],
    at: Position,
    scope: &TemplateScope<'_>,
) -> Result<(), TemplateError> {
    let name = String::from_utf8_lossy(name);
    let columns = scope.feeder.map_or(&[][..], |feeder| feeder.columns());
    match name.trim().strip_prefix("env.") {
        Some(name) => push_literal(pieces, env(name, at, scope)?.as_bytes()),
        None => pieces.push(Piece::Variable(Variable::parse(name.trim(), at, columns)?)),
    }
    Ok(())
}

fn env(name: &str, at: Position, scope: &TemplateScope<'_>) -> Result<String, TemplateError> {
    (scope.env)(name).ok_or_else(|| TemplateError::UnknownEnv { name: quoted(name), at })
}

/// Finds lines and columns of ascending offsets in a text, counting each line only once.
#[derive(Default)]
struct Lines {
    read: usize,
    ended: usize,
    line_start: usize,
}

impl Lines {
    fn position(&mut self, text: &[u8], start: usize) -> Position {
        let passed = &text[self.read..start];
        if let Some(end) = memrchr(b'\n', passed) {
            self.ended += memchr_iter(b'\n', passed).count();
            self.line_start = self.read + end + 1;
        }
        self.read = start;
        Position { line: self.ended + 1, column: start - self.line_start + 1 }
    }
}
