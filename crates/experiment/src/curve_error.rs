//! Errors in a file with a rate curve.

/// The longest curve in hours: ten years.
pub(crate) const MAX_HOURS: i64 = 87_600;

/// The highest rate that a plan of machines is made for, in requests per second.
pub const MAX_TARGET_PER_SEC: f64 = 1e15;

/// Why a file is not a rate curve. Lines are counted from 1, including the header.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    #[error("could not be read ({0}); name a file that can be read")]
    File(#[from] std::io::Error),
    #[error("is not UTF-8; a curve is a text of two columns, time and rate")]
    NotText,
    #[error("is no table ({0}); write two columns with a comma between them, time and rate")]
    Table(#[from] csv::Error),
    #[error("its header has no column of {0}; it has {1}, and one of {2} is read")]
    NoColumn(&'static str, String, String),
    #[error(
        "line {line}: `{cell}` is no time; write 09:00, 2026-01-05T09:00:00Z, seconds, or an hour from 0 to 23 under `hour`"
    )]
    Time { line: u64, cell: String },
    #[error(
        "line {line}: `{cell}` is no rate; write requests per second from 0 to {MAX_TARGET_PER_SEC:e}, such as 500 or 1.2k"
    )]
    Rate { line: u64, cell: String },
    #[error("line {line}: there is no column {column}; each line has a time and a rate")]
    Short { line: u64, column: usize },
    #[error(
        "line {line}: it has {cells} cells and the file {columns} columns; write a rate such as 2,100 without the comma, and name further \
         columns in a header"
    )]
    Long { line: u64, cells: usize, columns: usize },
    #[error(
        "its column `{date}` holds the dates of times that have none; write both in one column, such as 2026-01-05T09:00:00Z, or leave the \
         dates out to plan each hour of the day for its highest rate"
    )]
    DateApart { date: String },
    #[error("line {line}: `{cell}` is not counted as the times before it are; write all of them in one form")]
    Mixed { line: u64, cell: String },
    #[error(
        "has only times within one hour, because whole numbers count seconds; if they are hours of a day, 0 to 23, name their column \
         `hour`, write those of several days as 2026-01-05T09:00:00Z, and seconds of an hour as 00:00:10"
    )]
    HoursAsSeconds,
    #[error("spans more than {MAX_HOURS} hours; are its times in milliseconds?")]
    TooLong,
    #[error("has no rate above 0")]
    NoRate,
}
