//! Tables with aligned columns; the last column holds text and wraps.

use super::paragraph::{WIDTH, width};

const GAP: &str = "  ";
/// The minimum width of the last column.
const MIN_NOTES_WIDTH: usize = 16;

/// A column: its name, and the function that returns the cell of a row.
pub(super) type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// Returns a table with a line for each row: numbers to the right, the last column to the left.
pub(super) fn table<T>(rows: &[T], columns: &[Column<'_, T>]) -> String {
    table_within(WIDTH, rows, columns)
}

/// Returns the table for a page of this many columns.
pub(super) fn table_within<T>(page: usize, rows: &[T], columns: &[Column<'_, T>]) -> String {
    laid_out(page, &cells(rows, columns))
}

/// Returns the names of the columns, then the cells of each row.
pub(super) fn cells<T>(rows: &[T], columns: &[Column<'_, T>]) -> Vec<Vec<String>> {
    let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = |row: &T| columns.iter().map(|(_, cell)| cell(row)).collect();
    std::iter::once(header).chain(rows.iter().map(cells)).collect()
}

/// Lays out lines of cells on a page of this many columns.
pub(super) fn laid_out(page: usize, lines: &[Vec<String>]) -> String {
    let widest = |column: usize| lines.iter().map(|cells| width(&cells[column])).max().unwrap_or(0);
    let columns = lines.first().map_or(0, Vec::len).saturating_sub(1);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    lines.iter().map(|cells| line(cells, &widths, page)).collect()
}

fn line(row: &[String], widths: &[usize], page: usize) -> String {
    let numbers: String =
        row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}{GAP}")).collect();
    let indent = width(&numbers);
    let room = page.saturating_sub(indent).max(MIN_NOTES_WIDTH);
    let mut lines = String::new();
    for (index, note) in broken(&row[widths.len()], room).iter().enumerate() {
        let start = if index == 0 { numbers.clone() } else { " ".repeat(indent) };
        lines.push_str(format!("{start}{note}").trim_end());
        lines.push('\n');
    }
    lines
}

/// Breaks a note into lines of at most `room` columns: at commas, and a part longer than a line between its words.
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
        let note = format!("{}, {}", "a".repeat(60), "b".repeat(60));
        let columns: [Column<'_, u32>; 3] =
            [("N", &|row| row.to_string()), ("QPS", &|_| "≥ 3,190".to_owned()), ("notes", &|_| note.clone())];
        let text = table(&[1], &columns);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "N      QPS  notes");
        assert!(lines[1].starts_with("1  ≥ 3,190  aaa"), "{text}");
        assert_eq!(lines[2], format!("{}{}", " ".repeat(12), "b".repeat(60)));
    }
}
