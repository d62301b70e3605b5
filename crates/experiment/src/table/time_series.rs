//! Reads time series that a monitoring system exported: a column of times, one with the rate of requests, and one for each
//! resource.

use std::path::Path;

use csv::StringRecord;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_analyze::{
    AmountUnit, ProductionKind, ProductionSeries, ResourceSeries, counter_name, only_rises,
};

use super::cell::{Cell, NoNumber};
use super::guess::guess;
use super::header::Header;
use super::mapping::{Mapping, MappingError};
use super::unit::{ALL, Dimension, Unit};
use crate::ExperimentError;
use crate::csv_rows::records;

/// Names of a column of times.
const TIME: [&str; 6] = ["time", "timestamp", "date", "datetime", "ts", "when"];
/// Numbers above the first value are times since 1970 with this many units per second; smaller ones are seconds.
const SUBSECONDS: [(f64, f64); 3] = [(1e17, 1e9), (1e14, 1e6), (1e11, 1e3)];
/// How far clocks go back at the end of daylight-saving time.
const HOUR_SEC: f64 = 3_600.0;
/// The most instants of a grid: a table whose times are far apart has few rows but many instants.
const MAX_INSTANTS: usize = 500_000;
/// A counter rises in at least this share of the steps; a column that rises less often is not a counter.
const COUNTER_RISES: f64 = 0.25;

/// The user's choice of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeSeriesColumns {
    /// The column of the rate; `None` recognises it by its header.
    pub rate: Option<String>,
    /// Names of resources with their columns. If empty, every other column of numbers is a resource.
    pub resources: Vec<(String, String)>,
}

/// A column that is not read as a resource, if the user named none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the column `{column}` is not read, as most of its cells are no numbers with a known unit, such as `{cell}`"
)]
pub struct UnreadColumn {
    pub column: String,
    /// The first cell that is not a number.
    pub cell: String,
}

/// A resource in per cent that exceeds 100 %, such as per cent of one processor among several.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "`{name}` goes up to {percent:.0} %, so that 100 % is not all of it; state what there is with --capacity, as --capacity \
     '{name}=400%'"
)]
pub struct AboveAll {
    /// The name of the resource.
    pub name: String,
    /// The highest usage, in per cent.
    pub percent: f64,
}

/// The contents of a file of time series.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSeries {
    pub series: ProductionSeries,
    pub unread: Vec<UnreadColumn>,
    /// Resources that exceed 100 %; these have no capacity.
    pub above_all: Vec<AboveAll>,
}

/// Reads the time series of a file. Its rows may be in any order. The step of the grid is the median distance between rows, and an
/// instant without a row is a gap. Times are RFC 3339, `2026-01-31 23:59:59` (UTC), or seconds, milliseconds, microseconds or
/// nanoseconds since 1970.
///
/// # Errors
/// When the file cannot be read, a column is missing or a raw counter, fewer than two rows have a time, or two rows with the same
/// time have values in the same column.
pub fn read_time_series(path: &Path, columns: &TimeSeriesColumns) -> Result<TimeSeries, ExperimentError> {
    let (header, records) = records(path)?;
    let unreadable = |why: &str| ExperimentError::NoRows { path: path.to_owned(), why: why.to_owned() };
    let time = time_column(&header, &records).ok_or_else(|| {
        unreadable("no column is a time; name one `time`, with times such as 2026-01-31T23:59:59Z")
    })?;
    let rate = rate_column(&header, &records, columns, time)?;
    let rate = rate.ok_or_else(|| {
        unreadable("no column is recognised as the rate of requests; name it with --rate COLUMN")
    })?;
    if let Some(why) = two_of_one_time(&records, time) {
        return Err(unreadable(&why));
    }
    let grid = Grid::new(&records, time).ok_or_else(|| {
        unreadable("its rows are too few, all of one time, or too far apart for their distance")
    })?;
    let (resources, unread) = resource_columns(&header, &records, columns, (time, rate))?;
    let is_of_minutes = of_minutes(&header[rate]);
    let rate_per_sec = grid.values(&records, rate, |cell| per_second(cell, is_of_minutes));
    refuse_counter(&header[rate], &rate_per_sec)?;
    let series = resources.into_iter().map(|(name, column)| {
        let series = resource(&grid, &header, &records, name, column);
        refuse_counter(&header[column], &series.usage).map(|()| series)
    });
    let mut resources = series.collect::<Result<Vec<ResourceSeries>, MappingError>>()?;
    let above_all = resources.iter_mut().filter_map(without_false_capacity).collect();
    let (start_sec, step_sec) = (grid.start_sec, grid.step_sec);
    let series = ProductionSeries { start_sec, step_sec, rate_per_sec, resources };
    Ok(TimeSeries { series, unread, above_all })
}

/// Removes the capacity of 100 % from a resource that exceeds it.
fn without_false_capacity(resource: &mut ResourceSeries) -> Option<AboveAll> {
    let highest = resource.usage.iter().flatten().copied().reduce(f64::max)?;
    resource.capacity.take_if(|capacity| highest > ALL * *capacity)?;
    Some(AboveAll { name: resource.of.clone(), percent: 100.0 * highest })
}

/// Fails for a column with the name and the values of a raw counter, unless a function such as `rate(` is applied to it.
fn refuse_counter(column: &str, values: &[Option<f64>]) -> Result<(), MappingError> {
    let is_of_changes = ["rate(", "increase(", "delta("].iter().any(|function| column.contains(function));
    match counter_name(column) {
        Some(counter) if !is_of_changes && only_rises(values, COUNTER_RISES) => {
            Err(MappingError::RawCounter { column: column.to_owned(), counter: counter.to_owned() })
        }
        _ => Ok(()),
    }
}

fn position(header: &StringRecord, meaning: &str, name: &str) -> Result<usize, MappingError> {
    header.iter().position(|column| column == name).ok_or_else(|| MappingError::NoColumn {
        meaning: meaning.to_owned(),
        column: name.to_owned(),
        known: header.iter().collect::<Vec<_>>().join(", "),
    })
}

/// The first column of times with a name for times, or else the first column of times.
fn time_column(header: &StringRecord, records: &[StringRecord]) -> Option<usize> {
    let first = records.first()?;
    let is_time = |column: &usize| first.get(*column).and_then(seconds).is_some();
    let is_named = |column: &usize| Header::parse(&header[*column]).has(&TIME);
    let named = (0..header.len()).find(|column| is_named(column) && is_time(column));
    // A plain number counts as a time only in a column with a name for times.
    let is_written = |column: &usize| first.get(*column).is_some_and(|cell| cell.parse::<f64>().is_err());
    named.or_else(|| (0..header.len()).find(|column| is_time(column) && is_written(column)))
}

fn rate_column(
    header: &StringRecord,
    records: &[StringRecord],
    columns: &TimeSeriesColumns,
    time: usize,
) -> Result<Option<usize>, MappingError> {
    if let Some(name) = &columns.rate {
        return position(header, "rate", name).map(Some);
    }
    let names: Vec<&str> = header.iter().collect();
    let cells: Vec<Vec<&str>> = records.iter().map(|record| record.iter().collect()).collect();
    let guesses = guess(&names, &cells, &Mapping::default());
    let of_rate = guesses.iter().find(|(meaning, _)| meaning == "qps").map(|(_, column)| column);
    Ok(of_rate.and_then(|name| names.iter().position(|column| column == name)).filter(|at| *at != time))
}

/// True for a name with a unit of requests per minute.
fn of_minutes(name: &str) -> bool {
    let words = Header::parse(name).words;
    words.iter().any(|word| ["rpm", "req/min", "requests/min", "/min"].contains(&word.as_str()))
}

/// Converts a cell to requests per second, by its own unit if it has one; `None` if that is not the unit of a rate.
fn per_second(cell: Cell, is_of_minutes: bool) -> Option<f64> {
    match cell.unit {
        None if is_of_minutes => Some(cell.number / 60.0),
        None => Some(cell.number),
        Some(unit) => (unit.dimension == Dimension::Rate).then_some(cell.number * unit.base),
    }
}

/// The name of a resource with the position of its column.
type NamedColumn = (String, usize);

/// The resources: the columns that the user names, or all other columns of numbers. Also returns the columns that are not read.
fn resource_columns(
    header: &StringRecord,
    records: &[StringRecord],
    columns: &TimeSeriesColumns,
    (time, rate): (usize, usize),
) -> Result<(Vec<NamedColumn>, Vec<UnreadColumn>), MappingError> {
    if !columns.resources.is_empty() {
        let named = columns.resources.iter();
        let found = named.map(|(name, column)| Ok((name.clone(), position(header, name, column)?)));
        return Ok((found.collect::<Result<_, MappingError>>()?, Vec::new()));
    }
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for column in (0..header.len()).filter(|column| ![time, rate].contains(column)) {
        let name = header[column].to_owned();
        let cells = records.iter().filter_map(|record| record.get(column));
        let filled = cells.filter(|cell| !matches!(Cell::parse(cell), Err(NoNumber::Empty)));
        let (numbers, texts): (Vec<&str>, Vec<&str>) = filled.partition(|cell| Cell::parse(cell).is_ok());
        match texts.first() {
            Some(cell) if texts.len() > numbers.len() => {
                unread.push(UnreadColumn { column: name, cell: (*cell).to_owned() });
            }
            _ if numbers.is_empty() => {}
            _ => found.push((name, column)),
        }
    }
    Ok((found, unread))
}

fn resource(
    grid: &Grid,
    header: &StringRecord,
    records: &[StringRecord],
    name: String,
    column: usize,
) -> ResourceSeries {
    let cells = || records.iter().filter_map(|record| Cell::parse(record.get(column)?).ok());
    let unit = Header::parse(&header[column]).unit.or_else(|| cells().find_map(|cell| cell.unit));
    let amount = unit.map_or(AmountUnit::Count, amount_of);
    let capacity = (amount == AmountUnit::Ratio).then_some(1.0);
    let scale = unit.map_or(1.0, |unit| unit.base);
    let usage = grid.values(records, column, |cell| amount_in(cell, unit));
    let kind = ProductionKind::Named;
    ResourceSeries { kind, of: name, instance: None, unit: amount, scale, usage, capacity }
}

/// The unit in which a resource's amounts are counted.
fn amount_of(unit: Unit) -> AmountUnit {
    match unit.dimension {
        Dimension::Share => AmountUnit::Ratio,
        Dimension::Bytes => AmountUnit::Bytes,
        Dimension::BitRate => AmountUnit::BitsPerSec,
        Dimension::Cores => AmountUnit::Cores,
        Dimension::Rate | Dimension::Time => AmountUnit::Count,
    }
}

/// Converts a cell to base units, by its own unit or else its column's; `None` if the units are of different dimensions. Cores may
/// also be given in per cent of one.
fn amount_in(cell: Cell, of_column: Option<Unit>) -> Option<f64> {
    let Some(column) = of_column else { return Some(cell.number) };
    let unit = cell.unit.unwrap_or(column);
    let is_of_cores = column.dimension == Dimension::Cores && unit.dimension == Dimension::Share;
    (column.dimension == unit.dimension || is_of_cores).then_some(cell.number * unit.base)
}

/// Advice for two rows with one time that both have a cell in a column; `None` if there are none. Rows that fill in each other's
/// empty cells count as one.
fn two_of_one_time(records: &[StringRecord], time: usize) -> Option<String> {
    let cell = |row: usize, column: usize| records[row].get(column).filter(|cell| !cell.is_empty());
    let sec = |row: usize| cell(row, time).and_then(seconds);
    let mut rows: Vec<(f64, usize)> = (0..records.len()).filter_map(|row| Some((sec(row)?, row))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let of_column = &|same: &[(f64, usize)], column: usize| {
        let mut filled = same.iter().map(|(_, row)| *row).filter(|row| cell(*row, column).is_some());
        filled.next().zip(filled.next()).filter(|_| column != time)
    };
    let columns = records.first().map_or(0, StringRecord::len);
    let same = rows.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
    let (first, second) =
        same.flat_map(|same| (0..columns).filter_map(move |column| of_column(same, column))).next()?;
    let both = format!("rows {} and {} have one time ({})", first + 1, second + 1, cell(first, time)?);
    Some(if repeats_an_hour(records, time) {
        format!(
            "{both}, as times without an offset repeat an hour when clocks are set back; export them in UTC"
        )
    } else {
        format!("{both}; give one row for each instant, and each instance a column of its own")
    })
}

/// True if times without an offset rise from row to row except for one step back, where a clock was set back by an hour.
fn repeats_an_hour(records: &[StringRecord], time: usize) -> bool {
    let cells = records.iter().filter_map(|record| record.get(time)).filter(|cell| !cell.is_empty());
    let Some(mut times) = cells.map(local_seconds).collect::<Option<Vec<f64>>>() else { return false };
    if times.first() > times.last() {
        times.reverse();
    }
    let mut back = times.windows(2).filter(|pair| pair[1] <= pair[0]);
    let (Some(&[before, after]), None) = (back.next(), back.next()) else { return false };
    // If two files were joined, all times repeat.
    let is_whole = times.first() == Some(&after) && times.last() == Some(&before);
    median_distance(&times).is_some_and(|step_sec| before + step_sec - after == HOUR_SEC) && !is_whole
}

/// The median of the positive distances between neighbours; `None` if there is none.
fn median_distance(times: &[f64]) -> Option<f64> {
    let mut distances: Vec<f64> =
        times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied()
}

/// The positions of rows on a grid of equal time steps.
struct Grid {
    start_sec: f64,
    step_sec: f64,
    instants: usize,
    /// The grid position of each row; `None` for a row without a time.
    places: Vec<Option<usize>>,
}

impl Grid {
    fn new(records: &[StringRecord], time: usize) -> Option<Self> {
        let times: Vec<Option<f64>> =
            records.iter().map(|record| record.get(time).and_then(seconds)).collect();
        let mut sorted: Vec<f64> = times.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let (start_sec, last) = (*sorted.first()?, *sorted.last()?);
        let step_sec = median_distance(&sorted)?;
        let place = |sec: f64| ((sec - start_sec) / step_sec).round() as usize;
        let instants = place(last) + 1;
        let places = times.into_iter().map(|sec| sec.map(place)).collect();
        (instants <= MAX_INSTANTS).then_some(Self { start_sec, step_sec, instants, places })
    }

    /// The values of a column; the mean if several rows are at one position.
    fn values(
        &self,
        records: &[StringRecord],
        column: usize,
        value: impl Fn(Cell) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0.0); self.instants];
        for (record, place) in records.iter().zip(&self.places) {
            let cell = record.get(column).and_then(|cell| Cell::parse(cell).ok());
            if let (Some(place), Some(known)) = (place, cell.and_then(&value)) {
                sums[*place].0 += known;
                sums[*place].1 += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| (count > 0.0).then_some(sum / count)).collect()
    }
}

/// Parses a time to seconds since 1970 (UTC).
fn seconds(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        let per_second =
            SUBSECONDS.iter().find(|(above, _)| number > *above).map_or(1.0, |(_, count)| *count);
        return (number.is_finite() && number > 0.0).then_some(number / per_second);
    }
    let instant = text.parse::<Timestamp>().ok();
    instant.map(|instant| instant.as_millisecond() as f64 / 1e3).or_else(|| local_seconds(text))
}

/// Parses a time without an offset as if it were UTC, to seconds since 1970; `None` for any other. A date alone is its midnight.
fn local_seconds(text: &str) -> Option<f64> {
    if text.parse::<f64>().is_ok() || text.parse::<Timestamp>().is_ok() {
        return None;
    }
    let zoned = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::StatedCapacity;

    use super::*;

    fn read(text: &str, columns: &TimeSeriesColumns) -> Result<ProductionSeries, ExperimentError> {
        read_all(text, columns).map(|read| read.series)
    }

    fn read_all(text: &str, columns: &TimeSeriesColumns) -> Result<TimeSeries, ExperimentError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series.csv");
        std::fs::write(&path, text).unwrap();
        read_time_series(&path, columns)
    }

    #[test]
    fn rows_take_their_places_and_what_is_missing_is_a_gap() {
        let text = "Time,req/s,CPU (%),mem MB,note\n\
            2026-11-18 00:03:00,30,45 %,300,b\n\
            2026-11-18 00:00:00,10,25,100,a\n\
            2026-11-18 00:01:00,20,,NaN,a\n";
        let series = read(text, &TimeSeriesColumns::default()).unwrap();
        assert_eq!((series.step_sec, series.start_sec), (120.0, 1_794_960_000.0));
        let text = text.to_owned() + "2026-11-18T00:04:00Z,40,55,400,b\n";
        let series = read(&text, &TimeSeriesColumns::default()).unwrap();
        assert_eq!(series.step_sec, 60.0);
        assert_eq!(series.rate_per_sec, [Some(10.0), Some(20.0), None, Some(30.0), Some(40.0)]);
        let [cpu, memory] = &series.resources[..] else { panic!("{:?}", series.resources) };
        assert_eq!((cpu.of.as_str(), cpu.unit, cpu.capacity), ("CPU (%)", AmountUnit::Ratio, Some(1.0)));
        assert_eq!(cpu.usage, [Some(0.25), None, None, Some(0.45), Some(0.55)]);
        assert_eq!((memory.unit, memory.usage[0], memory.capacity), (AmountUnit::Bytes, Some(1e8), None));
    }

    #[test]
    fn a_cell_counts_in_its_own_unit_before_that_of_its_column() {
        let text = "time,req/s,mem MB,used,cpu cores\n\
            2026-11-18 00:00:00,10,300,5 MB,2\n\
            2026-11-18 00:01:00,2k req/s,300 KB,0.5 GB,150 %\n\
            2026-11-18 00:02:00,5 ms,45 %,7,3 MB\n";
        let series = read(text, &TimeSeriesColumns::default()).unwrap();
        assert_eq!(series.rate_per_sec, [Some(10.0), Some(2000.0), None]);
        let usage: Vec<_> = series.resources.iter().map(|resource| resource.usage.as_slice()).collect();
        assert_eq!(usage[0], [Some(3e8), Some(3e5), None]);
        assert_eq!(usage[1], [Some(5e6), Some(5e8), Some(7e6)]);
        assert_eq!(usage[2], [Some(2.0), Some(1.5), None]);
        let text = "time,rpm,used\n2026-11-18 00:00:00,120,1\n2026-11-18 00:01:00,3 req/s,2\n";
        let named = TimeSeriesColumns { rate: Some("rpm".to_owned()), resources: Vec::new() };
        assert_eq!(read(text, &named).unwrap().rate_per_sec, [Some(2.0), Some(3.0)]);
    }

    #[test]
    fn two_rows_of_one_instant_are_refused_and_those_of_one_place_are_a_mean() {
        let text = |rows: &str| format!("time,req/s,cpu cores,memory MB\n{rows}");
        let long =
            text("2026-11-18 00:00:00,10,1,1\n2026-11-18 00:01:00,20,2,2\n2026-11-18T00:00:00Z,30,3,3\n");
        let refused = read(&long, &TimeSeriesColumns::default()).unwrap_err().to_string();
        assert!(refused.contains("rows 1 and 3"), "{refused}");
        let filled = text("2026-11-18 00:00:00,10,1,\n2026-11-18 00:00:00,,,1\n2026-11-18 00:01:00,20,2,2\n");
        let series = read(&filled, &TimeSeriesColumns::default()).unwrap();
        assert_eq!(series.resources[1].usage, [Some(1e6), Some(2e6)]);
        let near = text(
            "2026-11-18 00:00:00,10,1,1\n2026-11-18 00:01:00,20,2,2\n2026-11-18 00:01:10,30,4,2\n2026-11-18 00:02:10,5,1,1\n\
             2026-11-18 00:03:10,5,1,1\n",
        );
        let series = read(&near, &TimeSeriesColumns::default()).unwrap();
        assert_eq!(series.rate_per_sec, [Some(10.0), Some(25.0), Some(5.0), Some(5.0)]);
        assert_eq!(series.resources[0].usage[1], Some(3.0));
    }

    #[test]
    fn an_hour_that_local_times_repeat_is_named() {
        let row = |at: &str| format!("2026-10-25 {at}:00,10,1\n");
        let refused = |times: &[&str]| {
            let rows: String = times.iter().map(|at| row(at)).collect();
            read(&format!("time,req/s,cpu cores\n{rows}"), &TimeSeriesColumns::default())
                .unwrap_err()
                .to_string()
        };
        let autumn = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00", "03:30"];
        let backwards: Vec<&str> = autumn.iter().rev().copied().collect();
        for times in [&autumn[..], &backwards[..], &["00:00", "01:00", "02:00", "02:00", "03:00"]] {
            let error = refused(times);
            assert!(error.contains("UTC") && error.contains("have one time"), "{error}");
        }
        // Two instances, of each time one after the other or of all times one behind the other, and one row that is there twice.
        for times in [
            &["01:30", "01:30", "02:00", "02:00"][..],
            &["01:00", "01:30", "01:00", "01:30"],
            &["01:00", "01:10", "01:20", "01:20", "01:30"],
        ] {
            let error = refused(times);
            assert!(error.contains("column of its own") && !error.contains("UTC"), "{error}");
        }
    }

    #[test]
    fn a_number_is_a_time_in_the_unit_that_its_size_says() {
        for zeros in ["", "000", "000000", "000000000"] {
            let text = format!("ts,rpm\n1763424000{zeros},60\n1763424060{zeros},120\n");
            let columns = TimeSeriesColumns { rate: Some("rpm".to_owned()), resources: Vec::new() };
            let series = read(&text, &columns).unwrap();
            assert_eq!((series.start_sec, series.step_sec), (1_763_424_000.0, 60.0), "{zeros}");
        }
    }

    #[test]
    fn a_column_that_is_no_resource_is_named() {
        let text = "time,req/s,in,version,note,empty\n\
            2026-11-18 00:00:00,10,NaN,1.2.3-a,1,\n\
            2026-11-18 00:01:00,20,850 B/s,1.2.3-b,b,\n\
            2026-11-18 00:02:00,30,1.2 MiB/s,1.2.3-b,c,NaN\n";
        let TimeSeries { series, unread, .. } = read_all(text, &TimeSeriesColumns::default()).unwrap();
        let [network] = &series.resources[..] else { panic!("{:?}", series.resources) };
        assert_eq!((network.of.as_str(), network.unit), ("in", AmountUnit::BitsPerSec));
        assert_eq!(network.usage, [None, Some(6_800.0), Some(1.2 * 8.0 * 1_048_576.0)]);
        let unread: Vec<_> = unread.iter().map(|one| (one.column.as_str(), one.cell.as_str())).collect();
        assert_eq!(unread, [("version", "1.2.3-a"), ("note", "b")]);
    }

    #[test]
    fn per_cent_of_one_of_several_processors_have_no_capacity_of_100() {
        let text = "time,req/s,CPU %,disk %\n2026-11-18 00:00:00,10,50,20\n2026-11-18 00:01:00,20,250,104\n";
        let TimeSeries { series, above_all, .. } = read_all(text, &TimeSeriesColumns::default()).unwrap();
        let capacities: Vec<Option<f64>> = series.resources.iter().map(|one| one.capacity).collect();
        assert_eq!(capacities, [None, Some(1.0)]);
        assert_eq!(above_all, [AboveAll { name: "CPU %".to_owned(), percent: 250.0 }]);
    }

    #[test]
    fn a_capacity_without_a_unit_is_in_that_of_its_column() {
        let text = "time,req/s,memory (MB),CPU %,pool\n2026-11-18 00:00:00,10,300,20,1\n2026-11-18 00:01:00,20,400,30,2\n";
        let mut series = read(text, &TimeSeriesColumns::default()).unwrap();
        let stated = |value, unit| StatedCapacity { value, unit };
        for name in ["memory (MB)", "CPU %", "pool"] {
            assert!(series.set_capacity(name, stated(90.0, None)), "{name}");
        }
        let capacities: Vec<Option<f64>> = series.resources.iter().map(|one| one.capacity).collect();
        assert_eq!(capacities, [Some(9e7), Some(0.9), Some(90.0)]);
        assert!(series.set_capacity("memory (MB)", stated(5e8, Some(AmountUnit::Bytes))));
        assert_eq!(series.resources[0].capacity, Some(5e8));
    }

    #[test]
    fn columns_may_be_named_and_times_are_numbers_where_a_header_says_so() {
        let text = "ts,load,used,rpm\n1763424000000,1,2,60\n1763424060000,2,4,120\n1763424120000,3,6,180\n";
        let columns = TimeSeriesColumns {
            rate: Some("rpm".to_owned()),
            resources: vec![("pool".to_owned(), "used".to_owned())],
        };
        let series = read(text, &columns).unwrap();
        assert_eq!(series.rate_per_sec, [Some(1.0), Some(2.0), Some(3.0)]);
        assert_eq!(series.resources.len(), 1);
        assert_eq!((series.resources[0].name().as_str(), series.step_sec), ("pool", 60.0));
        let wrong = TimeSeriesColumns { rate: Some("x".to_owned()), ..columns };
        assert!(matches!(read(text, &wrong), Err(ExperimentError::Mapping(MappingError::NoColumn { .. }))));
    }

    #[test]
    fn a_column_that_is_a_raw_counter_is_refused_with_what_to_export() {
        let series = |column: &str, value: &dyn Fn(u32) -> u32| {
            let rows = (0..30).map(|at| format!("2026-11-18 00:{at:02}:00,{},{}\n", 10 + at % 7, value(at)));
            let text = format!("time,requests/s,{column}\n{}", rows.collect::<String>());
            read(&text, &TimeSeriesColumns::default())
        };
        let rising = |at| at * 5;
        let error = series("busy_seconds_total", &rising).unwrap_err().to_string();
        assert!(error.contains("rate(busy_seconds_total[1m])"), "{error}");
        series("rate(busy_seconds_total[1m])", &rising).unwrap();
        series("memory MB", &rising).unwrap();
        series("backends_count", &|at| 3 + at % 2).unwrap();
    }

    #[test]
    fn a_table_of_loads_is_no_series() {
        let table = "connections,qps,cpu %\n10,100,20\n20,180,40\n";
        assert!(matches!(read(table, &TimeSeriesColumns::default()), Err(ExperimentError::NoRows { .. })));
    }
}
