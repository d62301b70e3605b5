//! Tables of runs with switches on and off.

use std::path::Path;

use anyhow::{Context, bail};
use csv::StringRecord;
use plimsoll_analyze::{Trial, Trials};

/// What stands before the name of a switch in the tables that `ablate -f` writes.
pub(super) const SWITCH: &str = "switch:";
/// What stands there before the name of another figure.
pub(super) const BESIDE: &str = "beside:";

/// The column that tells which state of the service a run is of, where there are several.
pub(super) const GROUP: &str = "group";

/// Columns that cannot be taken as they are typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ColumnError {
    /// Not a meaning and a column.
    #[error(
        "--map `{0}` is no MEANING=COLUMN with a meaning of switch, qps, connections, round, group or beside"
    )]
    Form(String),
    /// Not a column of the table.
    #[error("the table has no column `{column}`; it has {known}")]
    Missing {
        /// The column.
        column: String,
        /// Those that are there.
        known: String,
    },
    /// No switches.
    #[error("no column is a switch; add --map switch=COLUMN,COLUMN")]
    NoSwitch,
}

/// The column that tells whether the throughput is a lower bound, the load generator having been the limit.
pub(super) const AT_LEAST: &str = "qps_at_least";

/// What a table tells, or what was just measured.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) switches: Vec<String>,
    /// The states of the service, in their order.
    pub(super) states: Vec<Trials>,
    /// The same in all rows, if it is.
    pub(super) connections: Option<f64>,
}

/// Columns by their meaning.
#[derive(Debug, Default)]
struct Columns {
    switches: Vec<usize>,
    beside: Vec<usize>,
    groups: Vec<usize>,
    throughput: usize,
    at_least: Option<usize>,
    connections: Option<usize>,
    round: Option<usize>,
}

fn place(header: &StringRecord, column: &str) -> Result<usize, ColumnError> {
    header.iter().position(|name| name == column).ok_or_else(|| ColumnError::Missing {
        column: column.to_owned(),
        known: header.iter().collect::<Vec<_>>().join(", "),
    })
}

impl Columns {
    fn of(header: &StringRecord, maps: &[String]) -> Result<Self, ColumnError> {
        let columns = if maps.is_empty() { Self::by_name(header)? } else { Self::mapped(header, maps)? };
        if columns.switches.is_empty() { Err(ColumnError::NoSwitch) } else { Ok(columns) }
    }

    fn by_name(header: &StringRecord) -> Result<Self, ColumnError> {
        let with = |prefix: &str| {
            let named = header.iter().enumerate().filter(|(_, name)| name.starts_with(prefix));
            named.map(|(index, _)| index).collect()
        };
        Ok(Self {
            switches: with(SWITCH),
            beside: with(BESIDE),
            groups: place(header, GROUP).into_iter().collect(),
            throughput: place(header, "qps")?,
            at_least: place(header, AT_LEAST).ok(),
            connections: place(header, "connections").ok(),
            round: place(header, "round").ok(),
        })
    }

    fn mapped(header: &StringRecord, maps: &[String]) -> Result<Self, ColumnError> {
        let mut columns = Self::default();
        let mut throughput = None;
        for map in maps {
            let form = || ColumnError::Form(map.clone());
            let (meaning, names) = map.split_once('=').ok_or_else(form)?;
            let several =
                || names.split(',').map(|name| place(header, name.trim())).collect::<Result<Vec<_>, _>>();
            match meaning {
                "switch" => columns.switches.extend(several()?),
                "beside" => columns.beside.extend(several()?),
                "group" => columns.groups.extend(several()?),
                "qps" => throughput = Some(place(header, names)?),
                "connections" => columns.connections = Some(place(header, names)?),
                "round" => columns.round = Some(place(header, names)?),
                _ => return Err(form()),
            }
        }
        columns.throughput = throughput.map_or_else(|| place(header, "qps"), Ok)?;
        Ok(columns)
    }
}

/// The rows of a table; those without a throughput were not measured and are left out.
pub(super) fn read(path: &Path, maps: &[String]) -> anyhow::Result<Measured> {
    let context = || format!("could not read the table {}", path.display());
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).with_context(context)?;
    let header = reader.headers().with_context(context)?.clone();
    let columns = Columns::of(&header, maps)?;
    let named = |places: &[usize], prefix: &str| {
        let name = |place: &usize| header.get(*place).unwrap_or_default();
        places.iter().map(|place| name(place).trim_start_matches(prefix).to_owned()).collect::<Vec<String>>()
    };
    let mut measured = Measured { switches: named(&columns.switches, SWITCH), ..Measured::default() };
    let beside = named(&columns.beside, BESIDE);
    let mut connections = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.with_context(context)?;
        let place = || format!("{}, row {}", path.display(), index + 1);
        let Some(trial) = trial(&columns, &record).with_context(place)? else { continue };
        connections.extend(columns.connections.and_then(|column| record.get(column)?.parse::<f64>().ok()));
        measured.add(group(&columns, &record), trial, &beside);
    }
    if measured.states.is_empty() {
        bail!("{} has no row with a throughput", path.display());
    }
    let first = connections.first().copied();
    measured.connections = first.filter(|first| connections.iter().all(|other| other == first));
    Ok(measured)
}

impl Measured {
    /// Adds a run to its state, which is made if it is not there.
    pub(super) fn add(&mut self, group: Option<String>, trial: Trial, beside: &[String]) {
        match self.states.iter_mut().find(|state| state.group == group) {
            Some(state) => state.trials.push(trial),
            None => self.states.push(Trials {
                group,
                switches: self.switches.clone(),
                beside: beside.to_vec(),
                trials: vec![trial],
            }),
        }
    }
}

fn group(columns: &Columns, record: &StringRecord) -> Option<String> {
    let cells: Vec<&str> = columns
        .groups
        .iter()
        .filter_map(|place| record.get(*place))
        .filter(|cell| !cell.is_empty())
        .collect();
    (!cells.is_empty()).then(|| cells.join(", "))
}

fn trial(columns: &Columns, record: &StringRecord) -> anyhow::Result<Option<Trial>> {
    let cell = |place: usize| record.get(place).unwrap_or_default();
    let throughput_per_sec = match number(cell(columns.throughput))? {
        Some(throughput_per_sec) if throughput_per_sec > 0.0 => throughput_per_sec,
        _ => return Ok(None),
    };
    let round = columns.round.map(|place| number(cell(place))).transpose()?.flatten();
    Ok(Some(Trial {
        settings: columns.switches.iter().map(|place| position(cell(*place))).collect::<Result<_, _>>()?,
        round: round.map(|round| round as u32),
        throughput_per_sec,
        at_most: columns.at_least.map(|place| position(cell(place))).transpose()?.unwrap_or(false),
        beside: columns.beside.iter().map(|place| number(cell(*place))).collect::<Result<_, _>>()?,
    }))
}

fn position(cell: &str) -> anyhow::Result<bool> {
    match cell.to_ascii_lowercase().as_str() {
        "1" | "on" | "yes" | "true" => Ok(true),
        "0" | "off" | "no" | "false" | "" => Ok(false),
        _ => bail!("`{cell}` is no position of a switch; write 1 or 0"),
    }
}

fn number(cell: &str) -> anyhow::Result<Option<f64>> {
    match cell {
        "" => Ok(None),
        cell => match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => bail!("`{cell}` is no number; leave it empty if it is not known"),
        },
    }
}
