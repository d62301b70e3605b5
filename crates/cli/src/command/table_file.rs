//! Tables of measurements that somebody else made: reading them, and what their columns mean.

mod mapping;

use std::path::Path;

use anyhow::{Context, bail};
use csv::StringRecord;
use plimsoll_analyze::TableRow;

use mapping::{Entry, Origin, Place};
pub(crate) use mapping::{Mapping, MappingError};

/// The rows of a table. A row without a throughput was not measured, and is left out; a cell that is empty is not known.
///
/// # Errors
/// When the file cannot be read, a mapped column is missing, or a cell that should be a number is none.
pub(super) fn read(path: &Path, mapping: &Mapping) -> anyhow::Result<Vec<TableRow>> {
    let context = || format!("could not read the table {}", path.display());
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).with_context(context)?;
    let header = reader.headers().with_context(context)?.clone();
    let columns = columns(mapping, &header)?;
    let labels = positions(&mapping.labels, "label", &header)?;
    let groups = positions(&mapping.groups, "group", &header)?;
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.with_context(context)?;
        if !is_measured(mapping, &columns, &record) {
            continue;
        }
        let place = || format!("{}, row {}", path.display(), index + 1);
        let row = row(mapping, &columns, &record).with_context(place)?;
        let label = joined(&labels, &record).unwrap_or_else(|| format!("row {}", index + 1));
        let (group, front) = (joined(&groups, &record), mapping.front.clone());
        rows.push(TableRow { label, group, front, ..row });
    }
    if rows.is_empty() {
        bail!("{} has no row with a throughput in the column mapped to `qps`", path.display());
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

/// True for a row that has a throughput, or what is meant to be one.
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

fn row(mapping: &Mapping, columns: &[Option<usize>], record: &StringRecord) -> anyhow::Result<TableRow> {
    let mut row = TableRow { tiers: mapping.tiers(), ..TableRow::default() };
    for (entry, column) in mapping.entries.iter().zip(columns) {
        let value = match (&entry.origin, column) {
            (Origin::Number(number), _) => Some(*number),
            (Origin::Column(_), Some(column)) => {
                number(record.get(*column).unwrap_or_default(), &entry.meaning)?
            }
            (Origin::Column(_), None) => None,
        };
        match (&entry.place, value) {
            (Place::Row(set), Some(value)) => set(&mut row, value),
            (Place::Tier(name, set), Some(value)) => {
                row.tiers.iter_mut().filter(|tier| tier.name == *name).for_each(|tier| set(tier, value));
            }
            (_, None) => {}
        }
    }
    Ok(row)
}

fn number(cell: &str, meaning: &str) -> anyhow::Result<Option<f64>> {
    match cell {
        "" => Ok(None),
        cell => match cell.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
            _ => bail!(
                "`{cell}` in the column mapped to `{meaning}` is not a number of 0 or more; leave it empty if it is not known"
            ),
        },
    }
}
