//! How a table was read: the meaning of its columns, and the parts that were not used.

/// What a user should check before relying on the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableReading {
    /// Columns that were recognised by their headers.
    pub guessed: Vec<GuessedColumn>,
    /// Columns without a known meaning.
    pub unused: Vec<String>,
    /// Rows without a throughput, which are left out of the answer.
    pub left_out: Vec<LeftOut>,
    /// Columns with cells that are not numbers; these cells count as unknown.
    pub unread: Vec<UnreadCells>,
    /// Columns whose figures do not fit their meaning.
    pub doubts: Vec<ColumnDoubt>,
}

/// A column that was recognised by its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedColumn {
    /// The meaning in the form of `--map`: `qps`, `web.cpu_percent`.
    pub meaning: String,
    pub column: String,
}

/// A row without a throughput.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of the row, from 1.
    pub row: usize,
    /// The text in place of the throughput; may be empty.
    pub cell: String,
}

/// Cells of a column that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadCells {
    pub column: String,
    pub meaning: String,
    /// The first such cell.
    pub cell: String,
    /// The number of such cells.
    pub cells: usize,
}

/// Figures of a column that do not fit its meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnDoubt {
    /// More than the whole of a machine or a core: these cells count as unknown.
    MoreThanAll {
        column: String,
        meaning: String,
        /// The highest figure, where 1 is the whole.
        most: f64,
        cells: usize,
    },
    /// No figure is above 1 and none has a unit: they are read as ratios, not as per cent.
    Ratio { column: String, meaning: String },
}
