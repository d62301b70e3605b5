//! Rows of a comma-separated table with a header.

use std::path::Path;

use csv::StringRecord;

use crate::ExperimentError;

/// Reads a table: the columns from its header, then a row from each record and its number (from 1), or `None` if nothing was
/// measured. Without any row, the error's text is `nothing`.
pub(crate) fn read_rows<C, R>(
    path: &Path,
    nothing: &str,
    columns: impl FnOnce(&StringRecord) -> Result<C, ExperimentError>,
    row: impl Fn(&C, &StringRecord, usize) -> Result<Option<R>, String>,
) -> Result<(C, Vec<R>), ExperimentError> {
    let (header, records) = records(path)?;
    let columns = columns(&header)?;
    let mut rows = Vec::new();
    for (record, number) in records.iter().zip(1..) {
        let wrong = |why| ExperimentError::Row { path: path.to_owned(), row: number, why };
        rows.extend(row(&columns, record, number).map_err(wrong)?);
    }
    if rows.is_empty() {
        return Err(ExperimentError::NoRows { path: path.to_owned(), why: nothing.to_owned() });
    }
    Ok((columns, rows))
}

/// Reads the header and the records of a table.
pub(crate) fn records(path: &Path) -> Result<(StringRecord, Vec<StringRecord>), ExperimentError> {
    let unreadable = |source| ExperimentError::Csv { path: path.to_owned(), source };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(unreadable)?;
    let header = reader.headers().map_err(unreadable)?.clone();
    let records = reader.records().collect::<Result<_, _>>().map_err(unreadable)?;
    Ok((header, records))
}

/// Joins the non-empty cells of these columns; `None` if all are empty.
pub(crate) fn joined(columns: &[usize], record: &StringRecord) -> Option<String> {
    let cells = columns.iter().filter_map(|column| record.get(*column));
    let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
    (!cells.is_empty()).then(|| cells.join(", "))
}
