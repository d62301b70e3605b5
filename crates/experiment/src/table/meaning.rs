//! The meanings that a column can have: the field of a row that it sets, and its unit.

use plimsoll_analyze::{TableRow, TableTier};

use super::cell::{Cell, NoNumber};
use super::unit::{Dimension, Unit};

/// Sets a field of a row.
type SetRow = fn(&mut TableRow, f64);
/// Sets a field of a tier in a row.
type SetTier = fn(&mut TableTier, f64);

/// The field that a figure sets.
#[derive(Debug, Clone)]
enum Target {
    Row(SetRow),
    Tier(String, SetTier),
}

/// The dimension of a figure, and its unit if the table names none.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measure {
    /// `None` for a plain count.
    dimension: Option<Dimension>,
    base: f64,
}

/// A meaning that `--map` can give to a column.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    measure: Measure,
    target: Target,
}

const COUNT: Measure = Measure { dimension: None, base: 1.0 };
const RATE: Measure = Measure { dimension: Some(Dimension::Rate), base: 1.0 };
const MS: Measure = Measure { dimension: Some(Dimension::Time), base: 1e-3 };
const BYTES: Measure = Measure { dimension: Some(Dimension::Bytes), base: 1.0 };
const PERCENT: Measure = Measure { dimension: Some(Dimension::Share), base: 0.01 };
const CORES: Measure = Measure { dimension: Some(Dimension::Cores), base: 1.0 };
const MBIT: Measure = Measure { dimension: Some(Dimension::BitRate), base: 1e6 };

const OF_ROW: [(&str, Measure, SetRow); 11] = [
    ("qps", RATE, |row, value| row.throughput_per_sec = value),
    ("offered", RATE, |row, value| row.offered_per_sec = Some(value)),
    ("connections", COUNT, |row, value| row.connections = Some(value)),
    ("rt_ms", MS, |row, value| row.response_sec = Some(value)),
    ("error_percent", PERCENT, |row, value| row.failed_ratio = Some(value)),
    ("refused_percent", PERCENT, |row, value| row.refused_ratio = Some(value)),
    ("think_ms", MS, |row, value| row.think_sec = Some(value)),
    ("sleep_ms", MS, |row, value| row.held_sec = Some(value)),
    ("load_machines", COUNT, |row, value| row.load_machines = Some(value)),
    ("response_bytes", BYTES, |row, value| row.response_bytes = Some(value)),
    ("cores", COUNT, |row, value| row.cores = Some(value)),
];

const OF_TIER: [(&str, Measure, SetTier); 19] = [
    ("instances", COUNT, |tier, value| tier.instances = Some(value)),
    ("cores", COUNT, |tier, value| tier.cores = Some(value)),
    ("cpu_percent", PERCENT, |tier, value| tier.cpu_ratio = Some(value)),
    ("cpu_cores", CORES, |tier, value| tier.cores_used = Some(value)),
    ("core_percent", PERCENT, |tier, value| tier.core_ratio = Some(value)),
    ("quota_cores", CORES, |tier, value| tier.quota_cores = Some(value)),
    ("pool", COUNT, |tier, value| tier.pool = Some(value)),
    ("pool_used", COUNT, |tier, value| tier.pool_used = Some(value)),
    ("memory_percent", PERCENT, |tier, value| tier.memory_ratio = Some(value)),
    ("disk_percent", PERCENT, |tier, value| tier.disk_ratio = Some(value)),
    ("gc_percent", PERCENT, |tier, value| tier.gc_ratio = Some(value)),
    ("in_mbit", MBIT, |tier, value| tier.in_bits_per_sec = Some(value)),
    ("out_mbit", MBIT, |tier, value| tier.out_bits_per_sec = Some(value)),
    ("link_mbit", MBIT, |tier, value| tier.link_bits_per_sec = Some(value)),
    ("link_both_mbit", MBIT, |tier, value| tier.link_both_bits_per_sec = Some(value)),
    ("in_packets", RATE, |tier, value| tier.in_packets_per_sec = Some(value)),
    ("out_packets", RATE, |tier, value| tier.out_packets_per_sec = Some(value)),
    ("link_packets", RATE, |tier, value| tier.link_packets_per_sec = Some(value)),
    ("qps", RATE, |tier, value| tier.alone_per_sec = Some(value)),
];

impl Meaning {
    /// The meaning with this name; `None` if there is none.
    pub(super) fn named(name: &str) -> Option<Self> {
        if let Some((tier, figure)) = name.split_once('.') {
            let known = OF_TIER.iter().find(|(name, ..)| *name == figure).filter(|_| !tier.is_empty())?;
            return Some(Self { measure: known.1, target: Target::Tier(tier.to_owned(), known.2) });
        }
        let known = OF_ROW.iter().find(|(known, ..)| *known == name)?;
        Some(Self { measure: known.1, target: Target::Row(known.2) })
    }

    /// The tier of the meaning; `None` for one of the whole row.
    pub(super) fn tier(&self) -> Option<&str> {
        match &self.target {
            Target::Row(_) => None,
            Target::Tier(name, _) => Some(name),
        }
    }

    /// True for a part of a whole, which cannot exceed 100 %.
    pub(super) fn is_share(&self) -> bool {
        self.measure == PERCENT
    }

    /// Converts a number from the unit in the meaning's name to base units.
    pub(super) fn plain(&self, number: f64) -> f64 {
        number * self.measure.base
    }

    /// Converts a cell to base units, by its own unit or else by its column's.
    pub(super) fn value(&self, cell: Cell, of_column: Option<Unit>) -> Result<f64, NoNumber> {
        let Some(unit) = cell.unit.or(of_column) else { return Ok(self.plain(cell.number)) };
        self.takes(unit).then_some(cell.number * unit.base).ok_or(NoNumber::Unit)
    }

    /// True if figures of this meaning can have this unit: CPU summed over cores is also given in per cent of a core, and a number
    /// of cores may carry the unit `cores`.
    pub(super) fn takes(&self, unit: Unit) -> bool {
        let is_same = self.measure.dimension == Some(unit.dimension);
        let is_of_cores = self.measure == CORES && unit.dimension == Dimension::Share;
        let is_count = self.measure == COUNT && unit.dimension == Dimension::Cores;
        is_same || is_of_cores || is_count
    }

    /// Sets the value in a row.
    pub(super) fn set(&self, row: &mut TableRow, value: f64) {
        match &self.target {
            Target::Row(set) => set(row, value),
            Target::Tier(name, set) => {
                row.tiers.iter_mut().filter(|tier| tier.name == *name).for_each(|tier| set(tier, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(meaning: &str, cell: &str) -> Result<f64, NoNumber> {
        Meaning::named(meaning).unwrap().value(Cell::parse(cell).unwrap(), None)
    }

    #[test]
    fn a_cell_counts_in_its_own_unit_before_that_of_the_meaning() {
        assert_eq!(value("rt_ms", "5"), Ok(0.005));
        assert_eq!(value("rt_ms", "250 µs"), Ok(250.0 * 1e-6));
        assert_eq!(value("api.in_mbit", "2 MB/s"), Ok(16e6));
        assert_eq!(value("api.cpu_cores", "250 %"), Ok(2.5));
        assert_eq!(value("cores", "4 vCPU"), Ok(4.0));
        assert_eq!(value("rt_ms", "5 MB"), Err(NoNumber::Unit));
    }

    #[test]
    fn meanings_are_known_by_name() {
        assert_eq!(Meaning::named("db.cpu_percent").unwrap().tier(), Some("db"));
        assert!(Meaning::named("qbs").is_none());
        assert!(Meaning::named("db.memory").is_none());
        assert!(Meaning::named(".qps").is_none());
    }
}
