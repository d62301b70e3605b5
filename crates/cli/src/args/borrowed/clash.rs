//! Letters that mean something else here: which values can only have been meant for ab or hey.

use plimsoll_units::{parse_count, parse_duration};

/// An option whose letter has another meaning in ab or hey.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clash {
    /// `-q`: quiet, or hey's rate.
    Rate,
    /// `-t`: threads, or a time.
    Threads,
    /// `-d`: a time, or hey's body.
    Duration,
    /// `-o`: a folder, or hey's format.
    Folder,
}

/// Workers of hey when none are asked for.
const HEY_WORKERS: u64 = 50;

impl Clash {
    /// Why this value is not one of Plimsoll's, and what to write instead; `None` if it is.
    pub(super) fn refuse(self, value: &str, connections: Option<u64>) -> Option<String> {
        match self {
            Self::Rate => rate(value, connections),
            Self::Threads => threads(value),
            Self::Duration => duration(value),
            Self::Folder => folder(value),
        }
    }
}

fn rate(value: &str, connections: Option<u64>) -> Option<String> {
    let each: f64 = value.parse().ok()?;
    let workers = connections.unwrap_or(HEY_WORKERS);
    Some(format!(
        "`-q {value}` is a rate for each worker in hey, and a late answer lowers it; here a rate is one over all \
         connections and is kept whatever comes back: write -R {}, for {workers} × {value} (-q alone means --quiet)",
        each * workers as f64
    ))
}

fn threads(value: &str) -> Option<String> {
    parse_duration(value).ok().filter(|_| parse_count(value).is_err())?;
    Some(format!(
        "`-t {value}` is a time, and -t is the number of worker threads here; how long the load lasts is \
         -d {value}, the time for one request --timeout {value}"
    ))
}

fn duration(value: &str) -> Option<String> {
    let error = parse_duration(value).err()?;
    Some(format!("-d is how long the load lasts, and {error}; a body is -b BODY, or -b @FILE"))
}

fn folder(value: &str) -> Option<String> {
    (value == "csv").then(|| {
        "`-o csv` is a format in hey, and -o is the folder for the files here; the run file is exported by \
         plimsoll export FILE --format csv (a folder of that name is ./csv)"
            .to_owned()
    })
}
