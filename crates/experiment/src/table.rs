//! Tables that another tool measured, read as rows by what their columns mean.

mod mapping;

use std::path::Path;

use csv::StringRecord;
use plimsoll_analyze::TableRow;

use crate::ExperimentError;
use crate::csv_rows::{joined, read_rows};
use mapping::{Entry, Origin, Target};
pub use mapping::{Mapping, MappingError};

/// The columns of a mapping in a table.
struct Columns {
    labels: Vec<usize>,
    groups: Vec<usize>,
    /// One for each entry; `None` where that is a number.
    entries: Vec<Option<usize>>,
}

/// The rows of a table. A row without a throughput was not measured, and is left out; an empty cell is unknown.
///
/// # Errors
/// When the file cannot be read, a mapped column is missing, or a cell that should be a number is none.
pub fn read_table(path: &Path, mapping: &Mapping) -> Result<Vec<TableRow>, ExperimentError> {
    let nothing = "no row has a throughput in the column mapped to `qps`";
    let columns = |header: &StringRecord| Columns::new(mapping, header).map_err(ExperimentError::from);
    let row = |columns: &Columns, record: &StringRecord, number| {
        let measured = is_measured(mapping, &columns.entries, record);
        measured.then(|| row(mapping, columns, record, number)).transpose()
    };
    Ok(read_rows(path, nothing, columns, row)?.1)
}

impl Columns {
    fn new(mapping: &Mapping, header: &StringRecord) -> Result<Self, MappingError> {
        let position = |meaning: &str, column: &str| {
            header.iter().position(|name| name == column).ok_or_else(|| MappingError::Column {
                meaning: meaning.to_owned(),
                column: column.to_owned(),
                known: header.iter().collect::<Vec<_>>().join(", "),
            })
        };
        let positions = |meaning: &str, names: &[String]| -> Result<Vec<usize>, MappingError> {
            names.iter().map(|name| position(meaning, name)).collect()
        };
        let of_entry = |entry: &Entry| match &entry.origin {
            Origin::Column(name) => position(&entry.meaning, name).map(Some),
            Origin::Number(_) => Ok(None),
        };
        Ok(Self {
            entries: mapping.entries.iter().map(of_entry).collect::<Result<_, _>>()?,
            labels: positions("label", &mapping.labels)?,
            groups: positions("group", &mapping.groups)?,
        })
    }
}

/// True for a row with something in the column of the throughput.
fn is_measured(mapping: &Mapping, columns: &[Option<usize>], record: &StringRecord) -> bool {
    let mut throughput = mapping.entries.iter().zip(columns).filter(|(entry, _)| entry.meaning == "qps");
    throughput
        .all(|(_, column)| column.is_none_or(|column| !matches!(record.get(column), None | Some("" | "0"))))
}

fn row(
    mapping: &Mapping,
    columns: &Columns,
    record: &StringRecord,
    number: usize,
) -> Result<TableRow, String> {
    let mut row = TableRow {
        label: joined(&columns.labels, record).unwrap_or_else(|| format!("row {number}")),
        group: joined(&columns.groups, record),
        front: mapping.front.clone(),
        tiers: mapping.tiers(),
        ..TableRow::default()
    };
    for (entry, column) in mapping.entries.iter().zip(&columns.entries) {
        let value = match &entry.origin {
            Origin::Number(number) => Some(*number),
            Origin::Column(_) => {
                let cell = column.and_then(|column| record.get(column));
                figure(cell.unwrap_or_default(), &entry.meaning)?
            }
        };
        match (&entry.target, value) {
            (Target::Row(set), Some(value)) => set(&mut row, value),
            (Target::Tier(name, set), Some(value)) => {
                row.tiers.iter_mut().filter(|tier| tier.name == *name).for_each(|tier| set(tier, value));
            }
            (_, None) => {}
        }
    }
    Ok(row)
}

/// A cell as a number of 0 or more; `None` if it is empty.
fn figure(cell: &str, meaning: &str) -> Result<Option<f64>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    let number = cell.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    let wrong = || {
        format!(
            "`{cell}` in the column mapped to `{meaning}` is not a number of 0 or more; leave it empty if it is unknown"
        )
    };
    number.ok_or_else(wrong).map(Some)
}
