//! Letters with another meaning here, and the values that only ab or hey takes.

use plimsoll_units::{parse_count, parse_duration};

/// An option whose letter has another meaning in ab or hey.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conflict {
    /// `-q`: quiet, or hey's rate.
    Rate,
    /// `-t`: threads, or a time.
    Threads,
    /// `-d`: a time, or hey's body.
    Duration,
    /// `-o`: a folder, or hey's format.
    Folder,
}

/// The number of workers of hey by default.
const HEY_WORKERS: u64 = 50;

impl Conflict {
    /// Returns why Plimsoll does not take this value; `None` if it does.
    pub(super) fn refuse(self, value: &str, connections: Option<u64>) -> Option<String> {
        match self {
            Self::Rate => {
                let each: f64 = value.parse().ok()?;
                let workers = connections.unwrap_or(HEY_WORKERS);
                let sum = each * workers as f64;
                Some(format!(
                    "`{value}` is hey's rate for each of {workers} workers, which late answers lower; -R {sum} offers \
                     the sum of them, whatever comes back"
                ))
            }
            Self::Threads => {
                let is_time = parse_count(value).is_err() && parse_duration(value).is_ok();
                is_time.then(|| format!("`{value}` is a time: write -d {value} or --timeout {value}"))
            }
            Self::Duration => parse_duration(value).err().map(|error| error.to_string()),
            Self::Folder => {
                (value == "csv").then(|| "`csv` is hey's format (a folder of that name is ./csv)".to_owned())
            }
        }
    }
}
