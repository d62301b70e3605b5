//! Tables that another tool measured, read as rows by what their columns mean.

mod mapping;

use std::path::Path;

use csv::StringRecord;
use plimsoll_analyze::TableRow;

use crate::ExperimentError;
use mapping::{Entry, Origin, Target};
pub use mapping::{Mapping, MappingError};

/// The rows of a table. A row without a throughput was not measured, and is left out; an empty cell is unknown.
///
/// # Errors
/// When the file cannot be read, a mapped column is missing, or a cell that should be a number is none.
pub fn read_table(path: &Path, mapping: &Mapping) -> Result<Vec<TableRow>, ExperimentError> {
    let unreadable = |source| ExperimentError::Csv { path: path.to_owned(), source };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(unreadable)?;
    let header = reader.headers().map_err(unreadable)?.clone();
    let columns = columns(mapping, &header)?;
    let labels = positions(&mapping.labels, "label", &header)?;
    let groups = positions(&mapping.groups, "group", &header)?;
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(unreadable)?;
        if !is_measured(mapping, &columns, &record) {
            continue;
        }
        let wrong = |why| ExperimentError::Row { path: path.to_owned(), row: index + 1, why };
        let row = row(mapping, &columns, &record).map_err(wrong)?;
        let label = joined(&labels, &record).unwrap_or_else(|| format!("row {}", index + 1));
        let (group, front) = (joined(&groups, &record), mapping.front.clone());
        rows.push(TableRow { label, group, front, ..row });
    }
    if rows.is_empty() {
        let why = "no row has a throughput in the column mapped to `qps`".to_owned();
        return Err(ExperimentError::NoRows { path: path.to_owned(), why });
    }
    Ok(rows)
}

fn position(header: &StringRecord, meaning: &str, column: &str) -> Result<usize, MappingError> {
    let known = || header.iter().collect::<Vec<_>>().join(", ");
    header.iter().position(|name| name == column).ok_or_else(|| MappingError::Column {
        meaning: meaning.to_owned(),
        column: column.to_owned(),
        known: known(),
    })
}

/// The column of each entry; `None` where it is a number.
fn columns(mapping: &Mapping, header: &StringRecord) -> Result<Vec<Option<usize>>, MappingError> {
    let column = |entry: &Entry| match &entry.origin {
        Origin::Column(name) => position(header, &entry.meaning, name).map(Some),
        Origin::Number(_) => Ok(None),
    };
    mapping.entries.iter().map(column).collect()
}

fn positions(names: &[String], meaning: &str, header: &StringRecord) -> Result<Vec<usize>, MappingError> {
    names.iter().map(|name| position(header, meaning, name)).collect()
}

/// True for a row with something in the column of the throughput.
fn is_measured(mapping: &Mapping, columns: &[Option<usize>], record: &StringRecord) -> bool {
    let mut throughput = mapping.entries.iter().zip(columns).filter(|(entry, _)| entry.meaning == "qps");
    throughput
        .all(|(_, column)| column.is_none_or(|column| !matches!(record.get(column), None | Some("" | "0"))))
}

/// These cells of a row together; `None` if all are empty.
fn joined(columns: &[usize], record: &StringRecord) -> Option<String> {
    let cells: Vec<&str> =
        columns.iter().filter_map(|column| record.get(*column)).filter(|cell| !cell.is_empty()).collect();
    (!cells.is_empty()).then(|| cells.join(", "))
}

fn row(mapping: &Mapping, columns: &[Option<usize>], record: &StringRecord) -> Result<TableRow, String> {
    let mut row = TableRow { tiers: mapping.tiers(), ..TableRow::default() };
    for (entry, column) in mapping.entries.iter().zip(columns) {
        let value = match (&entry.origin, column) {
            (Origin::Number(number), _) => Some(*number),
            (Origin::Column(_), Some(column)) => {
                number(record.get(*column).unwrap_or_default(), &entry.meaning)?
            }
            (Origin::Column(_), None) => None,
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

fn number(cell: &str, meaning: &str) -> Result<Option<f64>, String> {
    match cell {
        "" => Ok(None),
        cell => match cell.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
            _ => Err(format!(
                "`{cell}` in the column mapped to `{meaning}` is not a number of 0 or more; leave it empty if it is unknown"
            )),
        },
    }
}
