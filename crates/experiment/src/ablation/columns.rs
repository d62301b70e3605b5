//! The columns of a table of trials.

use csv::StringRecord;

/// The prefix of a switch's column in the tables that `ablate -f` writes.
pub(super) const SWITCH: &str = "switch:";

/// The prefix of a per-request figure's column in these tables.
pub(super) const PER_REQUEST: &str = "per_request:";

/// The column with the state of the service, if there are several.
pub(super) const GROUP: &str = "group";

/// The column that is 1 if the generator was the limit, so that the throughput is a lower bound.
pub(super) const AT_LEAST: &str = "qps_at_least";

/// Why the columns of a table are rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    #[error(
        "--map `{0}` is no MEANING=COLUMN with a meaning of switch, qps, connections, round, group or per_request"
    )]
    Form(String),
    #[error("the table has no column `{column}`; it has {known}")]
    Missing { column: String, known: String },
    #[error("no column is a switch; add --map switch=COLUMN,COLUMN")]
    NoSwitch,
}

/// The positions of columns, by meaning.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) switches: Vec<usize>,
    pub(super) per_request: Vec<usize>,
    pub(super) groups: Vec<usize>,
    pub(super) throughput: usize,
    pub(super) at_least: Option<usize>,
    pub(super) connections: Option<usize>,
    pub(super) round: Option<usize>,
}

fn place(header: &StringRecord, column: &str) -> Result<usize, ColumnError> {
    header.iter().position(|name| name == column).ok_or_else(|| ColumnError::Missing {
        column: column.to_owned(),
        known: header.iter().collect::<Vec<_>>().join(", "),
    })
}

impl Columns {
    pub(super) fn new(header: &StringRecord, maps: &[String]) -> Result<Self, ColumnError> {
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
            per_request: with(PER_REQUEST),
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
                "per_request" => columns.per_request.extend(several()?),
                "group" => columns.groups.extend(several()?),
                "qps" => throughput = Some(place(header, names)?),
                "connections" => columns.connections = Some(place(header, names)?),
                "round" => columns.round = Some(place(header, names)?),
                _ => return Err(form()),
            }
        }
        columns.throughput = throughput.map_or_else(|| place(header, "qps"), Ok)?;
        // This column marks lower bounds, no matter how the other columns are mapped.
        columns.at_least = place(header, AT_LEAST).ok();
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_bounds_are_read_whichever_columns_are_mapped() {
        let header = StringRecord::from(vec!["log", "per_sec", AT_LEAST]);
        let maps = ["switch=log", "qps=per_sec"].map(ToOwned::to_owned);
        let columns = Columns::new(&header, &maps).unwrap();
        assert_eq!((columns.throughput, columns.at_least), (1, Some(2)));
    }
}
