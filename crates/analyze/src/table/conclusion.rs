//! What rows of a table say together, as data; `report` makes sentences of it.

use super::ladder::RowLadder;
use super::row::alike;
use crate::findings::Limit;

/// What several rows say together.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// Throughput grows with the cores where the CPU is full and the link is not.
    CoresHelp {
        ends: RowEnds,
        /// True if it grows more than linearly.
        more_than_linear: bool,
    },
    /// More cores do not raise throughput where the link is full.
    LinkIsFull {
        ends: RowEnds,
    },
    /// More cores do not raise throughput though neither CPU nor link is full.
    LimitIsWithin {
        ends: RowEnds,
        limit: Option<(Limit, String)>,
    },
    /// Larger responses lower throughput in inverse proportion where the link is full.
    LargerResponses {
        ends: RowEnds,
    },
    Ceiling(Ceiling),
    /// Several tiers carry through a front what they carry alone, or do not.
    Multiplied(Multiplied),
    Pool(RowsPool),
    /// How throughput changes with the load, the cores or the instances.
    Ladder(RowLadder),
}

impl Conclusion {
    /// True for what is said of rows that differ by their cores.
    pub(super) fn is_of_cores(&self) -> bool {
        matches!(self, Self::CoresHelp { .. } | Self::LinkIsFull { .. } | Self::LimitIsWithin { .. })
    }
}

/// Two rows that differ in one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct RowEnds {
    pub low: RowPoint,
    pub high: RowPoint,
}

/// What a conclusion says of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPoint {
    pub group: Option<String>,
    pub per_sec: f64,
    pub cores: Option<f64>,
    pub response_bytes: Option<f64>,
}

/// A tier in front that carries about the same in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    pub front: String,
    /// Its mean throughput, requests per second.
    pub mean_per_sec: f64,
    pub least_per_sec: f64,
    pub most_per_sec: f64,
    pub rows: usize,
    pub group: Option<String>,
    /// What limits in all of them; `None` where that differs.
    pub limit: Option<Limit>,
}

/// Rows of which the tiers behind a front were measured alone too.
#[derive(Debug, Clone, PartialEq)]
pub struct Multiplied {
    pub tiers: Vec<String>,
    pub front: String,
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
    pub per_sec: f64,
    /// What the tiers carry alone, together.
    pub together_per_sec: f64,
}

/// A row, and how long it holds its requests unless its label says that.
#[derive(Debug, Clone, PartialEq)]
pub struct RowName {
    pub label: String,
    pub held_us: Option<f64>,
}

/// A pool that was found in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsPool {
    /// Whose it is: each of these has one.
    pub owners: Vec<String>,
    pub least: f64,
    pub most: f64,
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
