//! Parsers of argument values.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};
use plimsoll_conductor::MIN_CALIBRATION;
use plimsoll_plan::{PlanError, Protector, checked_name};
use plimsoll_store::{RunRow, StoreError};
use plimsoll_units::{parse_count, parse_duration, parse_ratio};

/// The folder in which runs are kept by default.
pub(crate) const RUNS_FOLDER: &str = "plimsoll-runs";

/// The name that stands for the newest run file; `last~1` is the one before it.
const LAST: &str = "last";

/// Why `last` or `last~N` names no file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoRun {
    #[error(
        "there is no run file in {RUNS_FOLDER} yet; `plimsoll URL` makes one, and a file elsewhere has a path"
    )]
    None,
    #[error("{RUNS_FOLDER} has {0} run file(s), so {LAST}~{1} names none; `plimsoll runs` lists them")]
    Fewer(usize, usize),
    #[error(transparent)]
    Folder(#[from] StoreError),
}

/// Parses the name of an agent or of a fleet.
pub(crate) fn agent_name(text: &str) -> Result<String, String> {
    match plimsoll_fleet::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("write 1 to 64 letters, digits, - and _".to_owned()),
    }
}

/// The longest label of RFC 1123.
const LABEL_BYTES: usize = 63;
/// The bytes that a pod's name adds to that of its Job: an index to 9999 and six more letters, with room to spare.
const POD_BYTES: usize = 13;

/// Parses the name of a namespace on Kubernetes.
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    dns_label(text, LABEL_BYTES)
}

/// Parses the name of a Job on Kubernetes whose pods are agents.
pub(crate) fn job_name(text: &str) -> Result<String, String> {
    dns_label(text, LABEL_BYTES - POD_BYTES)
}

/// Parses a label of RFC 1123, of at most `longest` bytes.
fn dns_label(text: &str, longest: usize) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = (1..=longest).contains(&text.len())
        && text.bytes().all(fits)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_label {
        true => Ok(text.to_owned()),
        false => Err(format!("write 1 to {longest} small letters, digits and -")),
    }
}

/// Parses the number of nodes of a broker: one, or enough to outvote the loss of one.
pub(crate) fn broker_nodes(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(nodes @ (1 | 3 | 5)) => Ok(nodes),
        _ => Err("write 1, 3 or 5: a broker of two nodes stops with either of them".to_owned()),
    }
}

/// Parses the duration of a calibration, at least [`MIN_CALIBRATION`].
pub(crate) fn calibration_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match time >= MIN_CALIBRATION {
        true => Ok(time),
        false => Err(format!("a calibration takes {} s at least", MIN_CALIBRATION.as_secs())),
    }
}

/// Parses the share of a resource that may be used, above 0.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = parse_ratio(text).map_err(|error| error.to_string())?;
    if share > 0.0 {
        Ok(share)
    } else {
        Err(format!("`{text}` leaves nothing to be used; write a ratio above 0"))
    }
}

/// Parses a count of at least 1.
pub(crate) fn positive_count(text: &str) -> Result<u64, String> {
    match parse_count(text).map_err(|error| error.to_string())? {
        0 => Err(format!("`{text}` leaves nothing to be done; write a count above 0")),
        count => Ok(count),
    }
}

/// Parses the path of a run file; `last` is the newest one in [`RUNS_FOLDER`], and `last~N` the Nth before it.
pub(crate) fn run_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(named_run)
}

/// Returns the run file that a path names, which may be `last` or `last~N`.
pub(crate) fn named_run(path: PathBuf) -> Result<PathBuf, NoRun> {
    match before_last(&path) {
        Some(before) => newest_but(Path::new(RUNS_FOLDER), before),
        None => Ok(path),
    }
}

/// Returns how many runs are newer than the one that `last` or `last~N` names; `None` for any other path.
fn before_last(path: &Path) -> Option<usize> {
    match path.to_str()?.strip_prefix(LAST)? {
        "" => Some(0),
        before => before.strip_prefix('~')?.parse().ok(),
    }
}

/// Returns the shortest name of a run file on a command line: `last`, or its path.
pub(crate) fn run_name(path: &Path) -> String {
    match newest_but(Path::new(RUNS_FOLDER), 0) {
        Ok(newest) if is_same_file(&newest, path) => LAST.to_owned(),
        _ => path.display().to_string(),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Returns the runs of a folder, newest first; none if the folder does not exist yet.
fn runs_of(folder: &Path) -> Result<Vec<RunRow>, StoreError> {
    match plimsoll_store::list(folder) {
        Err(StoreError::Missing { .. }) => Ok(Vec::new()),
        listed => listed,
    }
}

fn newest_but(folder: &Path, before: usize) -> Result<PathBuf, NoRun> {
    let mut readable: Vec<PathBuf> =
        runs_of(folder)?.into_iter().filter(|row| row.summary.is_ok()).map(|row| row.path).collect();
    match readable.len() {
        0 => Err(NoRun::None),
        count if before >= count => Err(NoRun::Fewer(count, before)),
        _ => Ok(readable.swap_remove(before)),
    }
}

/// Parses a name that can be part of a file name.
pub(crate) fn name(text: &str) -> Result<String, PlanError> {
    checked_name(text.to_owned())
}

/// Parses a time with its unit: a limit of 200 that is meant in ms, and read as 200 s, would always hold.
pub(crate) fn duration_with_unit(text: &str) -> Result<Duration, String> {
    if text.trim().parse::<f64>().is_ok() {
        return Err(format!("`{text}` has no unit; write {text}ms or {text}s"));
    }
    parse_duration(text).map_err(|error| error.to_string())
}

/// Parses the path of an output file. A URL after a flag with an optional file would be taken for the file: it is refused.
pub(crate) fn written_file(text: &str) -> Result<PathBuf, String> {
    if text.contains("://") {
        return Err("that is a URL, not a file; write the URL before this flag".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// The default address of a page that is served: this machine only, at a free port.
pub(crate) const LOCAL: &str = "127.0.0.1:0";

/// Parses an address to listen on. A URL after a flag with an optional address would be taken for it: it is refused.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if text.contains("://") {
        return Err("that is a URL, not an address to listen on; write the URL before this flag".to_owned());
    }
    text.parse().map_err(|_| format!("`{text}` is no ADDRESS:PORT; write it like 127.0.0.1:8090"))
}

/// Parses the name of a program that protects a service.
pub(crate) fn protector(text: &str) -> Result<Protector, String> {
    let names = Protector::ALL.map(Protector::name).join(", ");
    Protector::from_name(text).ok_or_else(|| format!("`{text}` is none of {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_done_once_at_least() {
        assert_eq!((positive_count("1"), positive_count("2k")), (Ok(1), Ok(2_000)));
        assert!(positive_count("0").is_err() && positive_count("many").is_err());
    }

    #[test]
    fn a_limit_has_a_unit() {
        assert_eq!(duration_with_unit("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration_with_unit("200"), Err("`200` has no unit; write 200ms or 200s".to_owned()));
        assert!(duration_with_unit("many").is_err());
    }

    #[test]
    fn a_namespace_is_as_long_as_kubernetes_has_them_and_a_job_leaves_room_for_its_pods() {
        let name = |bytes| "a".repeat(bytes);
        assert_eq!(namespace(&name(63)), Ok(name(63)));
        assert!(namespace(&name(64)).is_err());
        assert_eq!(job_name(&name(50)), Ok(name(50)));
        assert!(job_name(&name(51)).is_err());
        for wrong in ["", "-a", "a-", "A", "a.b"] {
            assert!(namespace(wrong).is_err() && job_name(wrong).is_err(), "{wrong}");
        }
    }
}
