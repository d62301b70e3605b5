//! Rows of values from a CSV file.

#[cfg(test)]
mod tests;

/// The order in which requests take rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// From the first row to the last, then again from the first. In each round every row is used once, over all workers together.
    #[default]
    Sequential,
    Random,
}

/// Why a text is not a CSV file of values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeederError {
    #[error(
        "the CSV file is empty; its first line names the columns, each further line is one row of values"
    )]
    Empty,
    #[error("the CSV file has column names in line 1 but no row of values below them")]
    NoRows,
    #[error(
        "column {index} of the CSV file has no name that can be read; name every column in line 1, in UTF-8"
    )]
    ColumnName { index: usize },
    #[error("two columns of the CSV file are named `{name}`; every column in line 1 needs a name of its own")]
    ColumnTwice { name: String },
    #[error(
        "line {line} of the CSV file has {found} cells where line 1 names {expected} columns; put double quotes \
         around values that hold a comma"
    )]
    Cells { line: u64, found: u64, expected: usize },
    #[error(
        "the value in double quotes that begins in line {line} of the CSV file has no end; write \"\" for a quote within a value"
    )]
    Unclosed { line: u64 },
    #[error("the CSV file cannot be read: {0}")]
    Csv(#[from] csv::Error),
}

/// The rows of a CSV file with a header row, in one block of memory.
#[derive(Debug)]
pub struct Feeder {
    columns: Vec<String>,
    bytes: Vec<u8>,
    /// The end of each cell in `bytes`, row by row. A cell begins at the end of the previous one.
    ends: Vec<usize>,
    /// The line in which each row begins.
    lines: Vec<u64>,
    /// The length of the longest cell of each column, in bytes.
    longest: Vec<usize>,
}

impl Feeder {
    /// Parses a CSV file (RFC 4180): commas, double quotes, and the names of columns in the first line.
    ///
    /// # Errors
    /// When there is no row, when column names are missing or repeated, or a row does not have one cell for each column.
    pub fn from_csv(text: &[u8]) -> Result<Self, FeederError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
        let columns = column_names(reader.byte_headers()?)?;
        let longest = vec![0; columns.len()];
        let mut feeder = Self { columns, bytes: Vec::new(), ends: Vec::new(), lines: Vec::new(), longest };
        let mut row = csv::ByteRecord::new();
        let mut last = (1, 0);
        while reader.read_byte_record(&mut row)? {
            let line = row.position().map_or(0, |position| first_line(text, position));
            last = (line, row.position().map_or(0, |position| position.byte() as usize));
            feeder.push(&row, line)?;
        }
        if is_unclosed(text.get(last.1..).unwrap_or_default()) {
            return Err(FeederError::Unclosed { line: last.0 });
        }
        if feeder.lines.is_empty() { Err(FeederError::NoRows) } else { Ok(feeder) }
    }

    fn push(&mut self, row: &csv::ByteRecord, line: u64) -> Result<(), FeederError> {
        if row.len() != self.columns.len() {
            return Err(FeederError::Cells { line, found: row.len() as u64, expected: self.columns.len() });
        }
        for (cell, longest) in row.iter().zip(&mut self.longest) {
            self.bytes.extend_from_slice(cell);
            self.ends.push(self.bytes.len());
            *longest = cell.len().max(*longest);
        }
        self.lines.push(line);
        Ok(())
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the number of rows, at least one.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Returns the value of a cell; empty if there is no such row or column.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        if column >= self.columns.len() {
            return &[];
        }
        let index = row * self.columns.len() + column;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(index).map_or(&[], |end| &self.bytes[start..*end])
    }

    /// Returns the line of the file in which a row begins, counted from 1; `None` if there is no such row.
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    pub(crate) fn max_cell_bytes(&self, column: usize) -> usize {
        self.longest.get(column).copied().unwrap_or(0)
    }
}

/// Returns the line in which a row begins. The reader's position is the end of the previous row, so that a line feed and blank lines
/// may still follow.
fn first_line(text: &[u8], position: &csv::Position) -> u64 {
    let rest = &text[text.len().min(position.byte() as usize)..];
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + blank.filter(|byte| **byte == b'\n').count() as u64
}

/// Whether the last row ends within a quoted value. Only a quote at the beginning of a cell starts one.
fn is_unclosed(row: &[u8]) -> bool {
    let (mut is_quoted, mut begins) = (false, true);
    let mut bytes = row.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if is_quoted => is_quoted = bytes.next_if(|next| **next == b'"').is_some(),
            b'"' => is_quoted = begins,
            _ => {}
        }
        begins = matches!(byte, b',' | b'\r' | b'\n') && !is_quoted;
    }
    is_quoted
}

fn column_names(header: &csv::ByteRecord) -> Result<Vec<String>, FeederError> {
    if header.is_empty() {
        return Err(FeederError::Empty);
    }
    let mut columns: Vec<String> = Vec::new();
    for (index, name) in header.iter().enumerate() {
        let name = std::str::from_utf8(name).unwrap_or_default().trim().to_owned();
        if name.is_empty() {
            return Err(FeederError::ColumnName { index: index + 1 });
        }
        if columns.contains(&name) {
            return Err(FeederError::ColumnTwice { name });
        }
        columns.push(name);
    }
    Ok(columns)
}
