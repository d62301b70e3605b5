//! How a table was read: what its columns were taken for, and what was not used.

/// What is to be known of a table before its answer is trusted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableReading {
    /// Columns that were recognised by their headers.
    pub guessed: Vec<GuessedColumn>,
    /// Columns that have no meaning.
    pub unused: Vec<String>,
    /// Rows without a throughput, from 1. They are no part of the answer.
    pub left_out: Vec<LeftOut>,
    /// Columns with cells that are no figure; these cells count as unknown.
    pub unread: Vec<UnreadCells>,
    /// Columns whose figures are not what their meaning can have.
    pub doubts: Vec<ColumnDoubt>,
}

/// A column that was recognised by its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedColumn {
    /// As `--map` has it: `qps`, `web.cpu_percent`.
    pub meaning: String,
    pub column: String,
}

/// A row without a throughput.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its number among the rows, from 1.
    pub row: usize,
    /// What stands in place of the throughput; may be empty.
    pub cell: String,
}

/// Cells of a column that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadCells {
    pub column: String,
    pub meaning: String,
    /// The first of them.
    pub cell: String,
    /// How many there are.
    pub cells: usize,
}

/// Figures of a column that its meaning cannot have.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnDoubt {
    /// More than all of a machine, or of a core: these cells count as unknown.
    MoreThanAll {
        column: String,
        meaning: String,
        /// The highest, 1 being all.
        most: f64,
        cells: usize,
    },
    /// No figure is above 1 and none has a unit: they are taken for ratios and not for per cent.
    Ratio { column: String, meaning: String },
}
