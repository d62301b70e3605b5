//! Tables with aligned columns; the last column holds text and wraps.

use super::paragraph::{WIDTH, width};

const GAP: &str = "  ";
/// The minimum width of the last column.
const NOTES_WIDTH_MIN: usize = 16;

/// A table: numbers to the right, the last column to the left.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column names.
    pub(super) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    /// Adds a row of as many cells as the header has.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines of the table.
    pub(super) fn render(&self) -> String {
        let columns = self.rows[0].len();
        let widest = |column: usize| self.rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns - 1).map(widest).collect();
        self.rows.iter().map(|row| line(row, &widths)).collect()
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let numbers: String =
        row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}{GAP}")).collect();
    let indent = width(&numbers);
    let room = WIDTH.saturating_sub(indent).max(NOTES_WIDTH_MIN);
    let mut lines = String::new();
    for (index, note) in broken(&row[widths.len()], room).iter().enumerate() {
        let start = if index == 0 { numbers.clone() } else { " ".repeat(indent) };
        lines.push_str(format!("{start}{note}").trim_end());
        lines.push('\n');
    }
    lines
}

/// A note in lines of at most `room` columns. It is broken at commas, and a part longer than a line between its words.
fn broken(note: &str, room: usize) -> Vec<String> {
    let fits = |part: &&str| width(part.trim_end()) <= room;
    let pieces = note.split_inclusive(", ").flat_map(|part| match Some(part).filter(fits) {
        Some(part) => vec![part],
        None => part.split_inclusive(' ').collect(),
    });
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut().filter(|line| width(line) + width(piece.trim_end()) <= room) {
            Some(line) => line.push_str(piece),
            None => lines.push(piece.to_owned()),
        }
    }
    if lines.is_empty() { vec![String::new()] } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_align_right_and_long_notes_wrap_below_themselves() {
        let mut table = Table::new(&["N", "QPS", "notes"]);
        let note = format!("{}, {}", "a".repeat(60), "b".repeat(60));
        table.row(vec!["1".into(), "≥ 3,190".into(), note]);
        let text = table.render();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "N      QPS  notes");
        assert!(lines[1].starts_with("1  ≥ 3,190  aaa"), "{text}");
        assert_eq!(lines[2], format!("{}{}", " ".repeat(12), "b".repeat(60)));
    }
}
