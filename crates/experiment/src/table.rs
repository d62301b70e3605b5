//! Reads tables that another tool measured into rows, by the meanings of their columns.

mod cell;
mod guess;
mod header;
mod mapping;
mod meaning;
mod time_series;
mod unit;

use std::path::Path;

use csv::StringRecord;
use plimsoll_analyze::{ColumnDoubt, LeftOut, TableReading, TableRow, UnreadCells};

use crate::ExperimentError;
use crate::csv_rows::{joined, records};
use cell::{Cell, NoNumber};
use guess::guess;
use header::Header;
use mapping::{Entry, Origin};
pub use mapping::{Mapping, MappingError};
pub use time_series::{AboveAll, TimeSeries, TimeSeriesColumns, UnreadColumn, read_time_series};
use unit::Unit;

/// The figures of one meaning: a value in base units for each row.
struct Figures {
    name: String,
    values: Vec<Option<f64>>,
}

/// Reads the rows of a table; also returns how it was read. Columns that no `--map` names are recognised by their headers. A row
/// without a throughput was not measured, and is left out; a cell that is not a figure is unknown.
///
/// # Errors
/// When the file cannot be read, a mapped column is missing, no column is the throughput, or no row has a throughput.
pub fn read_table(path: &Path, mapping: &Mapping) -> Result<(Vec<TableRow>, TableReading), ExperimentError> {
    let (header, records) = records(path)?;
    let names: Vec<&str> = header.iter().collect();
    let cells: Vec<Vec<&str>> = records.iter().map(|record| record.iter().collect()).collect();
    let mut mapping = mapping.clone();
    let guesses = guess(&names, &cells, &mapping);
    let guessed = mapping.complete(guesses, &names)?;
    let mut reading = TableReading { guessed, ..TableReading::default() };
    let unused = names.iter().filter(|name| !mapping.uses(name));
    reading.unused = unused.map(|name| (*name).to_owned()).collect();
    let columns = Columns::new(&mapping, &header)?;
    let figures: Vec<Figures> = mapping
        .entries
        .iter()
        .zip(&columns.entries)
        .map(|(entry, column)| figures(entry, *column, &records, &header, &mut reading))
        .collect();
    let rows = rows(&mapping, &columns, &records, &figures, &mut reading);
    if rows.is_empty() {
        let why = "no row has a throughput in the column mapped to `qps`".to_owned();
        return Err(ExperimentError::NoRows { path: path.to_owned(), why });
    }
    Ok((rows, reading))
}

/// The positions in a table of a mapping's columns.
struct Columns {
    labels: Vec<usize>,
    groups: Vec<usize>,
    /// One for each entry; `None` for an entry that is a constant.
    entries: Vec<Option<usize>>,
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
            Origin::Column(name) => position(&entry.name, name).map(Some),
            Origin::Number(_) => Ok(None),
        };
        Ok(Self {
            entries: mapping.entries.iter().map(of_entry).collect::<Result<_, _>>()?,
            labels: positions("label", &mapping.labels)?,
            groups: positions("group", &mapping.groups)?,
        })
    }
}

/// Reads the figures of an entry.
fn figures(
    entry: &Entry,
    column: Option<usize>,
    records: &[StringRecord],
    header: &StringRecord,
    reading: &mut TableReading,
) -> Figures {
    let name = entry.name.clone();
    let (Origin::Column(title), Some(column)) = (&entry.origin, column) else {
        let value =
            if let Origin::Number(number) = entry.origin { Some(entry.meaning.plain(number)) } else { None };
        return Figures { name, values: vec![value; records.len()] };
    };
    let texts: Vec<&str> = records.iter().map(|record| record.get(column).unwrap_or_default()).collect();
    let read: Vec<Result<Cell, NoNumber>> = texts.iter().map(|text| Cell::parse(text)).collect();
    let unit = unit_of(entry, header.get(column).unwrap_or_default(), &read);
    if unit == Some(unit::RATIO) {
        reading.doubts.push(ColumnDoubt::Ratio { column: title.clone(), meaning: name.clone() });
    }
    let values: Vec<Result<f64, NoNumber>> =
        read.into_iter().map(|cell| entry.meaning.value(cell?, unit)).collect();
    let mut unread =
        values.iter().zip(&texts).filter(|(value, _)| value.is_err_and(|why| why != NoNumber::Empty));
    if let Some((_, cell)) = unread.next().filter(|_| name != "qps") {
        let (column, cell, cells) = (title.clone(), (*cell).to_owned(), 1 + unread.count());
        reading.unread.push(UnreadCells { column, meaning: name.clone(), cell, cells });
    }
    let mut values: Vec<Option<f64>> = values.into_iter().map(Result::ok).collect();
    if entry.meaning.is_share() {
        reading.doubts.extend(without_more_than_all(&mut values, title, &name));
    }
    Figures { name, values }
}

/// The unit of a column's header. A share without any unit is a ratio if no cell is above 1.
fn unit_of(entry: &Entry, title: &str, cells: &[Result<Cell, NoNumber>]) -> Option<Unit> {
    let of_header = Header::parse(title).unit;
    let read = || cells.iter().flatten();
    let is_ratio = entry.meaning.is_share()
        && of_header.is_none()
        && read().all(|cell| cell.unit.is_none() && cell.number <= 1.0)
        && read().any(|cell| cell.number > 0.0);
    if is_ratio { Some(unit::RATIO) } else { of_header.filter(|unit| entry.meaning.takes(*unit)) }
}

/// Clears shares above 105 %, which are more than all.
fn without_more_than_all(values: &mut [Option<f64>], column: &str, meaning: &str) -> Option<ColumnDoubt> {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let mut cells = 0;
    for value in values.iter_mut().filter(|value| value.is_some_and(|value| value > unit::ALL)) {
        *value = None;
        cells += 1;
    }
    let (column, meaning) = (column.to_owned(), meaning.to_owned());
    (cells > 0).then_some(ColumnDoubt::MoreThanAll { column, meaning, most, cells })
}

fn rows(
    mapping: &Mapping,
    columns: &Columns,
    records: &[StringRecord],
    figures: &[Figures],
    reading: &mut TableReading,
) -> Vec<TableRow> {
    let mut rows = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let mut row = TableRow {
            label: joined(&columns.labels, record).unwrap_or_else(|| format!("row {}", index + 1)),
            group: joined(&columns.groups, record),
            front: mapping.front.clone(),
            tiers: mapping.tiers(),
            ..TableRow::default()
        };
        for (entry, figures) in mapping.entries.iter().zip(figures) {
            if let Some(value) = figures.values[index] {
                entry.meaning.set(&mut row, value);
            }
        }
        if row.throughput_per_sec > 0.0 {
            rows.push(row);
        } else {
            let place = figures.iter().position(|figures| figures.name == "qps");
            let column = place.and_then(|place| columns.entries[place]);
            let cell = column.and_then(|column| record.get(column)).unwrap_or_default();
            reading.left_out.push(LeftOut { row: index + 1, cell: cell.to_owned() });
        }
    }
    rows
}
