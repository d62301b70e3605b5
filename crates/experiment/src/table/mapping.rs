//! What the columns of a table mean.

use plimsoll_analyze::{TableRow, TableTier};

/// Why a `--map` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    #[error("--map `{0}` has no `=`; write MEANING=COLUMN, such as qps=throughput")]
    Form(String),
    #[error("--map `{0}`: no such meaning; plimsoll explain --help lists them")]
    Meaning(String),
    #[error("no column is mapped to `qps`; add --map qps=COLUMN")]
    NoThroughput,
    #[error("--map {meaning}={column}: the table has no column `{column}`; it has {known}")]
    Column { meaning: String, column: String, known: String },
}

/// The source of a figure: a column, or one number for all rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    Column(String),
    Number(f64),
}

/// Puts a figure into a row.
type SetRow = fn(&mut TableRow, f64);
/// Puts a figure into a tier of a row.
type SetTier = fn(&mut TableTier, f64);

/// Where a figure goes.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Row(SetRow),
    Tier(String, SetTier),
}

/// One `--map`.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) meaning: String,
    pub(super) target: Target,
    pub(super) origin: Origin,
}

/// The meanings of a table's columns.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    pub(super) labels: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) front: Option<String>,
    pub(super) entries: Vec<Entry>,
}

const ROW_MEANINGS: [(&str, SetRow); 7] = [
    ("qps", |row, value| row.throughput_per_sec = value),
    ("connections", |row, value| row.connections = Some(value)),
    ("rt_ms", |row, value| row.response_sec = Some(value / 1e3)),
    ("sleep_ms", |row, value| row.held_sec = Some(value / 1e3)),
    ("load_machines", |row, value| row.load_machines = Some(value)),
    ("response_bytes", |row, value| row.response_bytes = Some(value)),
    ("cores", |row, value| row.cores = Some(value)),
];

const TIER_MEANINGS: [(&str, SetTier); 11] = [
    ("instances", |tier, value| tier.instances = Some(value)),
    ("cpu_percent", |tier, value| tier.cpu_ratio = Some(value / 100.0)),
    ("core_percent", |tier, value| tier.core_ratio = Some(value / 100.0)),
    ("in_mbit", |tier, value| tier.in_bits_per_sec = Some(value * 1e6)),
    ("out_mbit", |tier, value| tier.out_bits_per_sec = Some(value * 1e6)),
    ("link_mbit", |tier, value| tier.link_bits_per_sec = Some(value * 1e6)),
    ("link_both_mbit", |tier, value| tier.link_both_bits_per_sec = Some(value * 1e6)),
    ("in_packets", |tier, value| tier.in_packets_per_sec = Some(value)),
    ("out_packets", |tier, value| tier.out_packets_per_sec = Some(value)),
    ("link_packets", |tier, value| tier.link_packets_per_sec = Some(value)),
    ("qps", |tier, value| tier.alone_per_sec = Some(value)),
];

fn target(meaning: &str) -> Option<Target> {
    if let Some((tier, figure)) = meaning.split_once('.') {
        let known = TIER_MEANINGS.iter().find(|(name, _)| *name == figure).filter(|_| !tier.is_empty())?;
        return Some(Target::Tier(tier.to_owned(), known.1));
    }
    ROW_MEANINGS.iter().find(|(name, _)| *name == meaning).map(|(_, set)| Target::Row(*set))
}

fn origin(text: &str) -> Origin {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Origin::Number(number),
        _ => Origin::Column(text.to_owned()),
    }
}

impl Mapping {
    /// Reads the values of `--map`.
    ///
    /// # Errors
    /// When one of them is not `MEANING=COLUMN`, its meaning is unknown, or none is the throughput.
    pub fn parse(typed: &[String]) -> Result<Self, MappingError> {
        let mut mapping = Self::default();
        for text in typed {
            let (meaning, column) = text.split_once('=').ok_or_else(|| MappingError::Form(text.clone()))?;
            match meaning {
                "label" => mapping.labels.extend(column.split(',').map(str::to_owned)),
                "group" => mapping.groups.extend(column.split(',').map(str::to_owned)),
                "front" => mapping.front = Some(column.to_owned()),
                _ => {
                    let target = target(meaning).ok_or_else(|| MappingError::Meaning(meaning.to_owned()))?;
                    mapping.entries.push(Entry {
                        meaning: meaning.to_owned(),
                        target,
                        origin: origin(column),
                    });
                }
            }
        }
        if !mapping.entries.iter().any(|entry| entry.meaning == "qps") {
            return Err(MappingError::NoThroughput);
        }
        Ok(mapping)
    }

    /// The tiers that are named, in the order they are, each once.
    pub(super) fn tiers(&self) -> Vec<TableTier> {
        let mut tiers: Vec<TableTier> = Vec::new();
        for entry in &self.entries {
            if let Target::Tier(name, _) = &entry.target
                && !tiers.iter().any(|tier| tier.name == *name)
            {
                tiers.push(TableTier { name: name.clone(), ..TableTier::default() });
            }
        }
        tiers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &[&str]) -> Result<Mapping, MappingError> {
        Mapping::parse(&typed.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn meanings_name_columns_or_numbers() {
        let mapping =
            parse(&["label=a,b", "front=nginx", "qps=x", "nginx.link_mbit=1500", "db.qps=y"]).unwrap();
        assert_eq!(mapping.labels, ["a", "b"]);
        assert_eq!(mapping.front.as_deref(), Some("nginx"));
        assert_eq!(mapping.entries[1].origin, Origin::Number(1500.0));
        let tiers = mapping.tiers();
        assert_eq!(tiers.iter().map(|tier| tier.name.as_str()).collect::<Vec<_>>(), ["nginx", "db"]);
    }

    #[test]
    fn a_wrong_mapping_is_named() {
        assert_eq!(parse(&["qps"]).unwrap_err(), MappingError::Form("qps".to_owned()));
        assert_eq!(parse(&["qbs=x"]).unwrap_err(), MappingError::Meaning("qbs".to_owned()));
        assert_eq!(parse(&["db.memory=x"]).unwrap_err(), MappingError::Meaning("db.memory".to_owned()));
        assert_eq!(parse(&["rt_ms=x"]).unwrap_err(), MappingError::NoThroughput);
    }
}
