//! Conclusions from several rows of a table, as data; `report` makes sentences of them.

use super::ladder::RowLadder;
use super::row::alike;
use crate::findings::Limit;

/// A conclusion from several rows.
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
    /// More cores do not raise throughput although neither CPU nor link is full.
    LimitIsWithin {
        ends: RowEnds,
        limit: Option<(Limit, String)>,
    },
    /// Larger responses lower throughput in inverse proportion where the link is full.
    LargerResponses {
        ends: RowEnds,
    },
    Ceiling(Ceiling),
    /// Whether several tiers carry through a front what they carry alone.
    Multiplied(Multiplied),
    Pool(RowsPool),
    /// How throughput changes with the load, the cores or the instances.
    Ladder(RowLadder),
}

impl Conclusion {
    /// True for a conclusion from rows that differ in their cores.
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

/// The figures of a row that a conclusion needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPoint {
    pub group: Option<String>,
    pub per_sec: f64,
    pub cores: Option<f64>,
    pub response_bytes: Option<f64>,
}

/// A front tier with about the same throughput in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    pub front: String,
    /// Its mean throughput, requests per second.
    pub mean_per_sec: f64,
    pub least_per_sec: f64,
    pub most_per_sec: f64,
    pub rows: usize,
    pub group: Option<String>,
    /// The limit in all of them; `None` where it differs.
    pub limit: Option<Limit>,
}

/// Rows whose tiers behind a front were also measured alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Multiplied {
    pub tiers: Vec<String>,
    pub front: String,
    pub holds: bool,
    /// True if each row has two of the tiers.
    pub two: bool,
    pub rows: Vec<MultipliedRow>,
}

/// One row of [`Multiplied`].
#[derive(Debug, Clone, PartialEq)]
pub struct MultipliedRow {
    pub name: RowName,
    /// Its throughput over that of one tier alone.
    pub of_one: f64,
    pub per_sec: f64,
    /// The sum of the throughputs of the tiers alone.
    pub together_per_sec: f64,
}

/// A row, with its hold time in microseconds unless the label contains it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowName {
    pub label: String,
    pub held_us: Option<f64>,
}

/// A pool that was found in several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsPool {
    /// The owners of the pool; each has one.
    pub owners: Vec<String>,
    pub least: f64,
    pub most: f64,
    pub rows: usize,
    /// True if the rows have different hold times and agree on the size.
    pub at_all_times: bool,
}

impl RowsPool {
    /// True if all sizes agree within 5 %.
    pub fn is_one_size(&self) -> bool {
        alike(self.least, self.most)
    }
}
