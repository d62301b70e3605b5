//! What rows of a table say together, as data; `report` makes sentences of it.

use super::row::alike;
use crate::findings::Limit;

/// What several rows say together.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// Throughput grows with the cores where the CPU is full and the link is not.
    CoresHelp {
        /// The rows with the fewest and the most cores.
        ends: RowEnds,
        /// True if it grows more than linearly.
        more_than_linear: bool,
    },
    /// More cores do not raise throughput where the link is full.
    LinkIsFull {
        /// The rows with the fewest and the most cores.
        ends: RowEnds,
    },
    /// More cores do not raise throughput though neither CPU nor link is full.
    LimitIsWithin {
        /// The rows with the fewest and the most cores.
        ends: RowEnds,
        /// What limits both, and where, if that is known.
        limit: Option<(Limit, String)>,
    },
    /// Larger responses lower throughput in inverse proportion where the link is full.
    LargerResponses {
        /// The rows with the smallest and the largest responses.
        ends: RowEnds,
    },
    /// A tier in front carries so much, whatever is behind it.
    Ceiling(Ceiling),
    /// Several tiers carry through a front what they carry alone, or do not.
    Multiplied(Multiplied),
    /// A pool that limits several rows.
    Pool(RowsPool),
}

/// Two rows that differ in one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct RowEnds {
    /// The row with the least of it.
    pub low: RowPoint,
    /// The row with the most of it.
    pub high: RowPoint,
}

/// What a conclusion says of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPoint {
    /// Which requests it is of.
    pub group: Option<String>,
    /// Requests per second.
    pub per_sec: f64,
    /// Cores of the machines under test.
    pub cores: Option<f64>,
    pub response_bytes: Option<f64>,
}

/// A tier in front that carries about the same in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// The tier.
    pub front: String,
    /// Its mean throughput, requests per second.
    pub mean_per_sec: f64,
    /// The least of it.
    pub least_per_sec: f64,
    /// The most of it.
    pub most_per_sec: f64,
    /// How many rows.
    pub rows: usize,
    /// Which requests they are of.
    pub group: Option<String>,
    /// What limits in all of them; `None` where that differs.
    pub limit: Option<Limit>,
}

/// Rows of which the tiers behind a front were measured alone too.
#[derive(Debug, Clone, PartialEq)]
pub struct Multiplied {
    pub tiers: Vec<String>,
    /// What is in front of them.
    pub front: String,
    /// True if they carry through it what they carry alone.
    pub holds: bool,
    /// True if there are two of them in each row.
    pub two: bool,
    pub rows: Vec<MultipliedRow>,
}

/// One of these rows.
#[derive(Debug, Clone, PartialEq)]
pub struct MultipliedRow {
    pub name: RowName,
    /// Its throughput over that of one tier alone.
    pub of_one: f64,
    /// Its throughput, requests per second.
    pub per_sec: f64,
    /// What the tiers carry alone, together.
    pub together_per_sec: f64,
}

/// A row, and how long it holds its requests unless its label says that.
#[derive(Debug, Clone, PartialEq)]
pub struct RowName {
    /// What the row is called.
    pub label: String,
    /// The time in microseconds.
    pub held_us: Option<f64>,
}

/// A pool that was found in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsPool {
    /// Whose it is: each of these has one.
    pub owners: Vec<String>,
    /// The fewest workers that were found.
    pub least: f64,
    pub most: f64,
    /// How many rows it limits.
    pub rows: usize,
    /// True if these hold their requests for different times and find the same size.
    pub at_all_times: bool,
}

impl RowsPool {
    /// True if all sizes that were found are the same within 5 %.
    pub fn is_one_size(&self) -> bool {
        alike(self.least, self.most)
    }
}
