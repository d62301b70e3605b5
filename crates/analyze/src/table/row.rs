//! A row of a table: the figures recorded for one load, and the findings about it.

use crate::findings::{LawBreach, Verdict};
use crate::hosts::utilisation::TIE;

/// Figures that differ by this ratio determine a law in spite of a possible error of 5 % in throughput: the exponent is then known to
/// ln 1.05/ln 1.25, which is 0.22.
const APART: f64 = 1.25;

/// A row that is used to judge others, with its findings.
pub(crate) type Pair<'a> = (&'a TableRow, &'a RowFinding);

/// One tier in one row. Figures of use are per machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableTier {
    pub name: String,
    /// The number of its machines or processes. If the table does not give it, figures are taken as those of one machine, and no number is
    /// predicted.
    pub instances: Option<f64>,
    /// Cores of each machine.
    pub cores: Option<f64>,
    /// CPU utilisation of each machine, from 0 to 1.
    pub cpu_ratio: Option<f64>,
    /// CPU used of each machine, in cores.
    pub cores_used: Option<f64>,
    /// Utilisation of the one core that each process can use, from 0 to 1.
    pub core_ratio: Option<f64>,
    /// The CPU quota of each machine in cores, below its own cores.
    pub quota_cores: Option<f64>,
    /// Workers or connections in the pool of each machine.
    pub pool: Option<f64>,
    /// The number of those in use.
    pub pool_used: Option<f64>,
    /// Memory utilisation of each machine, from 0 to 1.
    pub memory_ratio: Option<f64>,
    /// The share of the time that the disk of each machine is busy.
    pub disk_ratio: Option<f64>,
    /// The share of the time spent in garbage collection.
    pub gc_ratio: Option<f64>,
    pub in_bits_per_sec: Option<f64>,
    pub out_bits_per_sec: Option<f64>,
    /// Capacity of each machine's link in each direction.
    pub link_bits_per_sec: Option<f64>,
    /// Capacity of each machine's link in both directions together, where it is sold so.
    pub link_both_bits_per_sec: Option<f64>,
    pub in_packets_per_sec: Option<f64>,
    pub out_packets_per_sec: Option<f64>,
    /// Capacity of each machine's link in packets per second, in each direction.
    pub link_packets_per_sec: Option<f64>,
    /// Requests per second of the tier when it was measured alone.
    pub alone_per_sec: Option<f64>,
    /// The most connections, or requests under way, of that measurement; `None` if as many as in the row.
    pub alone_connections: Option<f64>,
    /// True if the limit in that measurement does not depend on the number of requests served at once, such as a full resource or a rate
    /// limit, or may be such. False if only a pool limited it.
    pub alone_full: bool,
}

/// One row of a table; figures that the table lacks are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableRow {
    pub label: String,
    /// The name of the row's requests; requests of another group have other costs.
    pub group: Option<String>,
    pub throughput_per_sec: f64,
    /// The offered rate of an open loop, requests per second.
    pub offered_per_sec: Option<f64>,
    /// Connections, or requests under way.
    pub connections: Option<f64>,
    /// Mean response time in seconds.
    pub response_sec: Option<f64>,
    /// The share of the requests that failed.
    pub failed_ratio: Option<f64>,
    /// The share of the requests that were refused by policy.
    pub refused_ratio: Option<f64>,
    /// Think time of a client, in seconds.
    pub think_sec: Option<f64>,
    /// Hold time: how long the test makes the target keep a request, in seconds.
    pub held_sec: Option<f64>,
    /// Machines that made the load.
    pub load_machines: Option<f64>,
    pub response_bytes: Option<f64>,
    /// Cores of the machines under test, where rows differ in them.
    pub cores: Option<f64>,
    /// The tier that passes requests on to the tiers that were measured alone, if there is one.
    pub front: Option<String>,
    /// The tiers; a tier without instances in this row may be listed with 0.
    pub tiers: Vec<TableTier>,
}

/// The findings about one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFinding {
    pub label: String,
    /// What limits it.
    pub verdict: Verdict,
    /// How the row breaks Little's law, if it does. A row with more requests under way than connections is not used, neither for itself nor
    /// for other rows.
    pub breach: Option<LawBreach>,
}

impl RowFinding {
    /// False for a row whose figures are impossible.
    pub(crate) fn is_possible(&self) -> bool {
        self.breach.as_ref().is_none_or(|breach| !breach.is_impossible())
    }
}

/// True for two figures within 5 %.
pub(crate) fn alike(a: f64, b: f64) -> bool {
    a.max(b) <= (1.0 + TIE) * a.min(b)
}

/// True for two figures that differ enough to determine a law.
pub(crate) fn apart(a: f64, b: f64) -> bool {
    a.max(b) > 0.0 && a.max(b) >= APART * a.min(b)
}

impl TableTier {
    pub(crate) fn count(&self) -> f64 {
        self.instances.unwrap_or(1.0)
    }

    /// True if the tier takes part in this row.
    fn is_there(&self) -> bool {
        self.count() > 0.0
    }
}

impl TableRow {
    /// The tiers that take part.
    pub(crate) fn present(&self) -> impl Iterator<Item = &TableTier> {
        self.tiers.iter().filter(|tier| tier.is_there())
    }

    /// The tier of this name, if it takes part.
    pub(crate) fn tier(&self, name: &str) -> Option<&TableTier> {
        self.present().find(|tier| tier.name == name)
    }

    /// True if both rows are of requests with the same cost.
    pub(crate) fn is_of_same_requests(&self, other: &Self) -> bool {
        (&self.group, self.held_sec, self.response_bytes)
            == (&other.group, other.held_sec, other.response_bytes)
    }

    /// True for rows of the same arrangement, possibly under different loads.
    pub(crate) fn is_same_target(&self, other: &Self) -> bool {
        let fixed = |row: &Self| (row.held_sec, row.response_bytes, row.cores);
        self.group == other.group && self.arranged().eq(other.arranged()) && fixed(self) == fixed(other)
    }

    /// The names of the tiers with their instances and the sizes of their pools.
    pub(super) fn arranged(&self) -> impl Iterator<Item = (&str, Option<f64>, Option<f64>)> {
        self.tiers.iter().map(|tier| (tier.name.as_str(), tier.instances, tier.pool))
    }

    /// True if the load of this row is higher than that of another.
    pub(crate) fn is_loaded_more_than(&self, other: &Self) -> bool {
        let more = |of: fn(&Self) -> Option<f64>| of(self).zip(of(other)).is_some_and(|(a, b)| a > b);
        more(|row| row.offered_per_sec) || more(|row| row.load_machines) || more(|row| row.connections)
    }
}
