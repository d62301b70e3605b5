//! Reads the request rate over a day from a comma-separated file with a column of times and one of rates.

use std::collections::BTreeSet;
use std::path::Path;

use csv::StringRecord;
use jiff::{Timestamp, Zoned};
use plimsoll_analyze::{CurvePoint, RateCurve};
use plimsoll_sys::read_regular;
use plimsoll_units::parse_rate;

use crate::ExperimentError;
use crate::curve_error::{CurveError, MAX_HOURS, MAX_TARGET_PER_SEC};

/// The longest file, in bytes.
const MAX_BYTES: u64 = 64 << 20;
const SEC_PER_HOUR: i64 = 3_600;
/// If more rows than this have equally spaced whole numbers that fall within one hour of seconds, the numbers are probably hours.
const MAX_EVEN_ROWS: usize = 3;
/// Numbers from here on are seconds since 1970; smaller ones are seconds since the beginning of the curve.
const UNIX_FROM: f64 = 1e8;

/// Headers of the column of times. The first in this order is taken, so that a date with a time precedes a time alone.
const TIMES: [&str; 8] = ["timestamp", "datetime", "time", "hour", "date", "when", "seconds", "t"];
/// Headers of a column of dates without times.
const DATES: [&str; 2] = ["date", "day"];
/// The number of columns in a file without a header: time and rate.
const WITHOUT_HEADER: usize = 2;
/// Headers of the column of rates.
const RATES: [&str; 10] = [
    "rate",
    "qps",
    "rps",
    "requests_per_sec",
    "requests/s",
    "req/s",
    "per_sec",
    "throughput",
    "load",
    "value",
];

/// The format of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The hour of a day, such as `9`, under the header `hour`.
    Hour,
    /// `09:00`.
    Clock,
    /// A date and time with an offset from UTC.
    Date,
    /// Seconds since the beginning of the curve.
    Seconds,
    /// Seconds since 1970.
    Unix,
}

/// A line of the file.
struct Line {
    /// The line number, from 1.
    number: u64,
    cells: StringRecord,
}

/// The columns of the file.
struct Columns {
    time: usize,
    rate: usize,
    /// True if the times are hours.
    has_hours: bool,
    /// The most cells that a line may have.
    count: usize,
    /// The header of a separate column of dates.
    date: Option<String>,
}

/// Reads a rate curve with the highest rate of each hour. A first line without any rate is a header.
///
/// # Errors
/// When the file cannot be read, a line has no time or no rate, or no rate is above 0.
pub fn read_curve(path: &Path) -> Result<RateCurve, ExperimentError> {
    let curve = || {
        let text = String::from_utf8(read_regular(path, MAX_BYTES)?).map_err(|_| CurveError::NotText)?;
        parse(&text)
    };
    curve().map_err(|source| ExperimentError::Curve { path: path.to_owned(), source })
}

fn parse(text: &str) -> Result<RateCurve, CurveError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let filled = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<Line> = filled.map(|(number, text)| Line::read(number, text)).collect::<Result<_, _>>()?;
    let first = &lines.first().ok_or(CurveError::NoRate)?.cells;
    let is_header = first.iter().all(|cell| parse_cell(cell).is_none());
    let columns = if is_header { Columns::new(first)? } else { Columns::without_header() };
    let mut form = None;
    let mut points = Vec::new();
    for line in lines.iter().skip(usize::from(is_header)) {
        columns.check_width(line)?;
        let (own, point) = columns.point(line)?;
        if *form.get_or_insert(own) != own {
            let cell = line.cells.get(columns.time).unwrap_or_default().to_owned();
            return Err(CurveError::Mixed { line: line.number, cell });
        }
        points.push(point);
    }
    let hours = || points.iter().map(|point| point.hour);
    let times = lines.iter().skip(usize::from(is_header)).filter_map(|line| columns.number(line));
    if form == Some(Form::Seconds) && hours().all(|hour| hour == points[0].hour) && may_be_hours(times) {
        return Err(CurveError::HoursAsSeconds);
    }
    if hours().max().zip(hours().min()).is_some_and(|(last, first)| last - first > MAX_HOURS) {
        return Err(CurveError::TooLong);
    }
    let is_without_date = matches!(form, Some(Form::Hour | Form::Clock));
    if let Some(date) = columns.date.filter(|_| is_without_date) {
        return Err(CurveError::DateApart { date });
    }
    let merges_days = is_without_date && returns_to_hour(&points);
    RateCurve::new(points).map(|curve| curve.merging_days(merges_days)).ok_or(CurveError::NoRate)
}

/// True if the rows leave an hour and later return to it: they cover several days, or are not in order.
fn returns_to_hour(points: &[CurvePoint]) -> bool {
    let mut left = BTreeSet::new();
    let mut changes = points.windows(2).filter(|two| two[0].hour != two[1].hour);
    changes.any(|two| {
        left.insert(two[0].hour);
        left.contains(&two[1].hour)
    })
}

impl Line {
    fn read(number: u64, text: &str) -> Result<Self, CurveError> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
        let record = reader.into_records().next().transpose()?;
        Ok(Self { number, cells: record.unwrap_or_default() })
    }
}

/// The number of cells up to the last non-empty one.
fn last_filled(cells: &StringRecord) -> usize {
    let filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    filled.map(|(column, _)| column + 1).last().unwrap_or(0)
}

impl Columns {
    fn new(header: &StringRecord) -> Result<Self, CurveError> {
        let name = |cell: &str| cell.to_lowercase().replace(' ', "_");
        let find = |what: &'static str, known: &[&str]| {
            let position = known.iter().find_map(|known| header.iter().position(|cell| name(cell) == *known));
            let there = header.iter().collect::<Vec<_>>().join(", ");
            position.ok_or_else(|| CurveError::NoColumn(what, there, known.join(", ")))
        };
        let time = find("times", &TIMES)?;
        let has_hours = header.get(time).is_some_and(|cell| name(cell) == "hour");
        let is_date =
            |(column, cell): &(usize, &str)| *column != time && DATES.contains(&name(cell).as_str());
        let date = header.iter().enumerate().find(is_date).map(|(_, cell)| cell.to_owned());
        Ok(Self { time, rate: find("rates", &RATES)?, has_hours, count: last_filled(header), date })
    }

    fn without_header() -> Self {
        Self { time: 0, rate: 1, has_hours: false, count: WITHOUT_HEADER, date: None }
    }

    /// Refuses extra cells: a rate such as `2,100` is two cells, and the first would be read as the rate. Empty cells are ignored.
    fn check_width(&self, line: &Line) -> Result<(), CurveError> {
        let cells = last_filled(&line.cells);
        let (line, columns) = (line.number, self.count);
        if cells <= columns { Ok(()) } else { Err(CurveError::Long { line, cells, columns }) }
    }

    /// The time of a line, if it is a number.
    fn number(&self, line: &Line) -> Option<f64> {
        line.cells.get(self.time)?.parse().ok()
    }

    fn point(&self, Line { number, cells }: &Line) -> Result<(Form, CurvePoint), CurveError> {
        let line = *number;
        let cell = |column: usize| cells.get(column).ok_or(CurveError::Short { line, column: column + 1 });
        let (time, rate) = (cell(self.time)?, cell(self.rate)?);
        let (form, hour, label) =
            instant(time, self.has_hours).ok_or_else(|| CurveError::Time { line, cell: time.to_owned() })?;
        let per_sec = parse_cell(rate).ok_or_else(|| CurveError::Rate { line, cell: rate.to_owned() })?;
        Ok((form, CurvePoint { hour, label, per_sec }))
    }
}

/// True if times that were read as seconds within one hour are probably hours: those of one day, or of several days in a row.
fn may_be_hours(times: impl Iterator<Item = f64>) -> bool {
    let times: Vec<f64> = times.collect();
    let is_even = || times.windows(3).all(|three| three[1] - three[0] == three[2] - three[1]);
    let is_of_day = times.len() > 1 && times.iter().all(|time| *time < 24.0);
    times.iter().all(|time| time.fract() == 0.0) && (is_of_day || times.len() > MAX_EVEN_ROWS && is_even())
}

/// Parses a rate; unlike on the command line, it may be 0.
fn parse_cell(cell: &str) -> Option<f64> {
    let zero = cell.parse().ok().filter(|rate: &f64| *rate == 0.0);
    zero.or_else(|| parse_rate(cell).ok().filter(|rate| *rate <= MAX_TARGET_PER_SEC))
}

/// Parses a time; returns its format, its hour as a number, and the hour's label.
fn instant(cell: &str, has_hours: bool) -> Option<(Form, i64, String)> {
    let clock_label = |hour: i64| format!("{hour:02}:00");
    if let Some(seconds) = cell.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0) {
        return match seconds {
            hour if has_hours && hour < 24.0 && hour.fract() == 0.0 => {
                Some((Form::Hour, hour as i64, clock_label(hour as i64)))
            }
            _ if has_hours => None,
            _ if seconds < UNIX_FROM => {
                let hour = seconds as i64 / SEC_PER_HOUR;
                Some((Form::Seconds, hour, clock_label(hour)))
            }
            _ => {
                let zoned = Timestamp::from_second(seconds as i64).ok()?.to_zoned(jiff::tz::TimeZone::UTC);
                Some((
                    Form::Unix,
                    seconds as i64 / SEC_PER_HOUR,
                    zoned.strftime("%Y-%m-%d %H:00Z").to_string(),
                ))
            }
        };
    }
    if let Some(hour) = clock(cell) {
        return Some((Form::Clock, hour, clock_label(hour)));
    }
    let (local, offset) = date(cell)?;
    // Hours are counted in UTC, so that a day has 23 or 25 hours when clocks change. They begin at full hours of the file's clock.
    let seconds = local.timestamp().as_second() + i64::from(offset).rem_euclid(SEC_PER_HOUR);
    Some((Form::Date, seconds.div_euclid(SEC_PER_HOUR), local.strftime("%Y-%m-%d %H:00").to_string()))
}

/// Parses `09:00` or `09:00:30`; returns the hour.
fn clock(cell: &str) -> Option<i64> {
    let parts: Vec<&str> = cell.split(':').collect();
    let number = |part: &str, most: u8| {
        let is_plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|number: &u8| is_plain && *number <= most)
    };
    match parts.as_slice() {
        [hour, minute] => number(minute, 59).and(number(hour, 23)).map(i64::from),
        [hour, minute, second] => {
            number(minute, 59).and(number(second, 60)).and(number(hour, 23)).map(i64::from)
        }
        _ => None,
    }
}

/// Parses RFC 3339; returns the time in its own offset, and the offset from UTC in seconds.
fn date(cell: &str) -> Option<(Zoned, i32)> {
    let timestamp: Timestamp = cell.parse().ok()?;
    let pieces = jiff::fmt::temporal::Pieces::parse(cell).ok()?;
    let offset = pieces.to_numeric_offset()?;
    Some((timestamp.to_zoned(offset.to_time_zone()), offset.seconds()))
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{Observed, plan_day};

    use super::*;

    /// The hours of a curve with their highest rates.
    fn hours(text: &str) -> Vec<(String, f64)> {
        let day = plan_day(&Observed::default(), &parse(text).unwrap(), 0.7, None);
        day.hours.into_iter().map(|hour| (hour.label, hour.peak_per_sec)).collect()
    }

    fn named(hours: &[(&str, f64)]) -> Vec<(String, f64)> {
        hours.iter().map(|(label, per_sec)| ((*label).to_owned(), *per_sec)).collect()
    }

    #[test]
    fn an_hour_has_its_highest_rate_in_every_form_of_time() {
        let expected = named(&[("00:00", 200.0), ("01:00", 1_200.0)]);
        assert_eq!(hours("time,rate\n00:00,100\n00:30,200\n01:00:00,1.2k\n"), expected);
        assert_eq!(hours("00:00,100\n00:30,200\n1:00,1200\n"), expected, "without a header");
        assert_eq!(hours("\u{feff}QPS , Hour\n200,0\n1200,1\n"), expected);
        assert_eq!(hours("0,200\n3599,100\n3600,1200\n"), expected);
        let dated = named(&[("2026-01-05 09:00", 200.0), ("2026-01-05 10:00", 1_200.0)]);
        let rfc = "timestamp,rps\n2026-01-05T09:00:00+01:00,200\n2026-01-05T10:59:59+01:00,1200\n";
        assert_eq!(hours(rfc), dated, "the clock of the file counts");
        let half = "2026-01-05T09:10:00+05:30,200\n2026-01-05T10:50:00+05:30,1200\n";
        assert_eq!(hours(half), dated, "its hours begin at half past in UTC");
        assert_eq!(hours("1767603600,5\n"), named(&[("2026-01-05 09:00Z", 5.0)]));
    }

    #[test]
    fn hours_are_whole_where_clocks_change() {
        let autumn = "2026-10-25T02:00:00+02:00,200\n2026-10-25T02:00:00+01:00,100\n";
        assert_eq!(hours(autumn), named(&[("2026-10-25 02:00", 200.0), ("2026-10-25 02:00", 100.0)]));
        let spring = parse("2026-03-29T01:00:00+01:00,200\n2026-03-29T03:00:00+02:00,100\n").unwrap();
        assert!(plan_day(&Observed::default(), &spring, 0.7, None).missing.is_empty());
    }

    #[test]
    fn a_rate_with_a_comma_is_not_read_as_the_digits_before_it() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        let long = refused("time,rate\n11:00,900\n12:00,2,100\n");
        assert!(long.starts_with("line 3: it has 3 cells and the file 2 columns"), "{long}");
        assert!(refused("11:00,2,000\n12:00,2,100\n").starts_with("line 1:"), "without a header");
        assert!(refused("time,rate\n12:00,\"2,100\"\n").contains("`2,100` is no rate"));
        let spare = "time,rate,note\n11:00,900\n12:00,2100,lunch,,\n";
        assert_eq!(hours(spare), named(&[("11:00", 900.0), ("12:00", 2_100.0)]), "empty cells say nothing");
    }

    #[test]
    fn dates_next_to_times_are_not_dropped() {
        let apart = parse("date,time,qps\n2026-01-05,09:00,100\n2026-01-06,09:00,200\n");
        assert!(matches!(apart, Err(CurveError::DateApart { ref date }) if date == "date"), "{apart:?}");
        assert!(matches!(parse("Day,hour,qps\nmonday,9,100\n"), Err(CurveError::DateApart { .. })));
        let dated = "day,time,qps\n5,2026-01-05T09:00:00Z,100\n6,2026-01-06T09:00:00Z,200\n";
        assert_eq!(hours(dated).len(), 2);
        assert_eq!(
            hours(&dated.replace("day,time", "hour,timestamp")).len(),
            2,
            "a whole instant counts first"
        );
    }

    #[test]
    fn days_that_are_merged_are_noticed() {
        let merges =
            |text: &str| plan_day(&Observed::default(), &parse(text).unwrap(), 0.7, None).merges_days;
        assert!(merges("09:00,100\n10:00,50\n09:00,200\n"));
        assert!(merges("hour,qps\n0,100\n23,50\n0,200\n"));
        assert!(!merges("22:00,100\n23:00,50\n23:30,60\n00:00,200\n01:00,100\n"), "one night");
        assert!(!merges("2026-01-05T09:00:00Z,1\n2026-01-06T09:00:00Z,2\n2026-01-05T09:30:00Z,3\n"));
    }

    #[test]
    fn a_wrong_cell_is_named_with_its_line() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert!(refused("time,rate\n00:00,100\n25:00,100\n").starts_with("line 3: `25:00` is no time"));
        assert!(refused("time,rate\n00:00,many\n").starts_with("line 2: `many` is no rate"));
        assert!(refused("time,rate\n00:00,-5\n").starts_with("line 2: `-5` is no rate"));
        assert!(refused("time,rate\n00:00,9000000G\n").contains("from 0 to 1e15"));
        assert!(refused("time,rate\n00:00,100\n\n01:00\n").starts_with("line 4: there is no column 2"));
        assert!(refused("time,rate\n00:00,100\n3600,100\n").starts_with("line 3: `3600` is not counted"));
        assert!(refused("day,rate\nmonday,5\n").contains("no column of times; it has day, rate"));
        assert!(refused("hour,rate\n24,5\n").starts_with("line 2"));
        for hours in ["time,rate\n0,100\n1,200\n23,50\n", "0,100\n12,200\n"] {
            assert!(refused(hours).contains("name their column `hour`"), "{hours}");
        }
        for days in [1..25, 0..48, 0..168] {
            let rows: String = days.map(|hour| format!("{hour},100\n")).collect();
            assert!(matches!(parse(&rows), Err(CurveError::HoursAsSeconds)), "{rows}");
        }
        assert!(
            parse("00:00:00,100\n00:00:10,100\n00:00:20,200\n00:00:30,100\n").is_ok(),
            "seconds of an hour"
        );
        assert!(refused("hour,rate\n24,5\n").contains("an hour from 0 to 23 under `hour`"));
        assert!(parse("time,rate\n0,100\n12,100\n24,200\n").is_ok(), "seconds of half a minute");
        assert!(parse("0,100\n7,100\n24,200\n31,100\n").is_ok(), "seconds at unequal distances");
        assert!(parse("0,100\n1800,100\n3600,200\n5400,100\n").is_ok(), "half hours");
        assert!(parse("0,100\n").is_ok(), "one rate");
        for nothing in ["", "time,rate\n", "00:00,0\n"] {
            assert!(matches!(parse(nothing), Err(CurveError::NoRate)), "{nothing}");
        }
        let milliseconds = "1767603600000,5\n1767690000000,5\n";
        assert!(matches!(parse(milliseconds), Err(CurveError::TooLong | CurveError::Time { .. })));
    }
}
