//! A row of a table: what was written down of one load, and what was found in it.

use crate::findings::{LawBreach, Verdict};
use crate::hosts::utilisation::TIE;

/// Two figures that differ by a quarter tell a law from the 5 % that throughput may be off by: its exponent is then known
/// within ln 1.05/ln 1.25, which is 0.22.
const APART: f64 = 1.25;

/// A row that is used for others, with what was found in it.
pub(crate) type Pair<'a> = (&'a TableRow, &'a RowFinding);

/// One tier in one row, by what each of its machines uses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableTier {
    pub name: String,
    /// How many machines or processes play it. Where the table does not say, figures are taken as those of one, and none
    /// are predicted.
    pub instances: Option<f64>,
    /// Cores of each machine.
    pub cores: Option<f64>,
    /// CPU used of each machine, 1 being all of it.
    pub cpu_ratio: Option<f64>,
    /// CPU used of each machine, in cores.
    pub cores_used: Option<f64>,
    /// CPU used by each process that can use one core at most, 1 being that core.
    pub core_ratio: Option<f64>,
    /// Cores that a quota leaves each machine, below what it has.
    pub quota_cores: Option<f64>,
    /// Workers or connections in the pool of each machine.
    pub pool: Option<f64>,
    /// Those of them that are in use.
    pub pool_used: Option<f64>,
    /// Memory used of each machine, 1 being all of it.
    pub memory_ratio: Option<f64>,
    /// The share of the time that the disk of each machine is busy.
    pub disk_ratio: Option<f64>,
    /// The share of the time that goes to garbage collection.
    pub gc_ratio: Option<f64>,
    pub in_bits_per_sec: Option<f64>,
    pub out_bits_per_sec: Option<f64>,
    /// What the link of each machine carries each way.
    pub link_bits_per_sec: Option<f64>,
    /// What the link of each machine carries both ways together, where it is sold so.
    pub link_both_bits_per_sec: Option<f64>,
    pub in_packets_per_sec: Option<f64>,
    pub out_packets_per_sec: Option<f64>,
    /// Packets per second that the link of each machine carries each way.
    pub link_packets_per_sec: Option<f64>,
    /// Requests per second that it served when it was measured alone.
    pub alone_per_sec: Option<f64>,
    /// The most connections, or requests under way, with which that was tried; `None`: as many as the row has.
    pub alone_connections: Option<f64>,
    /// True if what limited it then holds however many requests it serves at once, a full resource or a rate that it keeps
    /// to, or was not distinguished from such: no pool by itself did.
    pub alone_full: bool,
}

/// One row of a table; what the table does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableRow {
    pub label: String,
    /// Which rows are of the same requests; those of another group cost something else.
    pub group: Option<String>,
    pub throughput_per_sec: f64,
    /// Requests per second that the load offered, where it did not wait for answers.
    pub offered_per_sec: Option<f64>,
    /// Connections, or requests under way.
    pub connections: Option<f64>,
    /// The mean.
    pub response_sec: Option<f64>,
    /// The share of the requests that failed.
    pub failed_ratio: Option<f64>,
    /// The share of the requests that were refused by policy.
    pub refused_ratio: Option<f64>,
    /// How long a client waits from an answer to its next request, in seconds.
    pub think_sec: Option<f64>,
    /// How long the target holds a request by order of the test, in seconds.
    pub held_sec: Option<f64>,
    /// Machines that made the load.
    pub load_machines: Option<f64>,
    pub response_bytes: Option<f64>,
    /// Cores of the machines under test, where that is what differs between rows.
    pub cores: Option<f64>,
    /// The tier that passes requests on to those that were measured alone, if there is one.
    pub front: Option<String>,
    /// The tiers; those with no instance in this row may stand with 0.
    pub tiers: Vec<TableTier>,
}

/// What was found for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFinding {
    pub label: String,
    /// What limits it.
    pub verdict: Verdict,
    /// How it breaks Little's law, if it does. A row with more under way than connections says nothing and is not used for
    /// other rows.
    pub breach: Option<LawBreach>,
}

impl RowFinding {
    /// False for a row that cannot be as it is written.
    pub(crate) fn is_possible(&self) -> bool {
        self.breach.as_ref().is_none_or(|breach| !breach.is_impossible())
    }
}

/// True for two figures that cannot be distinguished.
pub(crate) fn alike(a: f64, b: f64) -> bool {
    a.max(b) <= (1.0 + TIE) * a.min(b)
}

/// True for two figures that differ enough to tell a law.
pub(crate) fn apart(a: f64, b: f64) -> bool {
    a.max(b) > 0.0 && a.max(b) >= APART * a.min(b)
}

impl TableTier {
    pub(crate) fn count(&self) -> f64 {
        self.instances.unwrap_or(1.0)
    }

    /// True if it takes part in this row.
    fn is_there(&self) -> bool {
        self.count() > 0.0
    }
}

impl TableRow {
    /// The tiers that take part.
    pub(crate) fn present(&self) -> impl Iterator<Item = &TableTier> {
        self.tiers.iter().filter(|tier| tier.is_there())
    }

    /// A tier that takes part.
    pub(crate) fn tier(&self, name: &str) -> Option<&TableTier> {
        self.present().find(|tier| tier.name == name)
    }

    /// True for a row of requests that cost the same.
    pub(crate) fn is_of_same_requests(&self, other: &Self) -> bool {
        (&self.group, self.held_sec, self.response_bytes)
            == (&other.group, other.held_sec, other.response_bytes)
    }

    /// True for the same arrangement under another load.
    pub(crate) fn is_same_target(&self, other: &Self) -> bool {
        let fixed = |row: &Self| (row.held_sec, row.response_bytes, row.cores);
        self.group == other.group && self.arranged().eq(other.arranged()) && fixed(self) == fixed(other)
    }

    /// The names of the tiers with what they are made of: instances, and workers of a pool.
    pub(super) fn arranged(&self) -> impl Iterator<Item = (&str, Option<f64>, Option<f64>)> {
        self.tiers.iter().map(|tier| (tier.name.as_str(), tier.instances, tier.pool))
    }

    /// True if it was made with more load than another row.
    pub(crate) fn is_loaded_more_than(&self, other: &Self) -> bool {
        let more = |of: fn(&Self) -> Option<f64>| of(self).zip(of(other)).is_some_and(|(a, b)| a > b);
        more(|row| row.offered_per_sec) || more(|row| row.load_machines) || more(|row| row.connections)
    }
}
