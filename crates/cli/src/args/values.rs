//! Values as they are typed.

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

/// What names the newest run file; `last~1` is the one before it.
const LAST: &str = "last";

/// Why `last` names no file.
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

/// The name of an agent, or of a fleet.
pub(crate) fn agent_name(text: &str) -> Result<String, String> {
    match plimsoll_fleet::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("write 1 to 64 letters, digits, - and _".to_owned()),
    }
}

/// The longest label of RFC 1123.
const LABEL_BYTES: usize = 63;
/// What names of pods add to that of their Job: an index to 9999 and six more letters, with room to spare.
const POD_BYTES: usize = 13;

/// The name of a namespace on Kubernetes.
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    dns_label(text, LABEL_BYTES)
}

/// The name of a Job on Kubernetes whose pods are agents.
pub(crate) fn job_name(text: &str) -> Result<String, String> {
    dns_label(text, LABEL_BYTES - POD_BYTES)
}

/// A name as RFC 1123 has labels.
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

/// How many nodes a broker has: one, or enough to outvote the loss of one.
pub(crate) fn broker_nodes(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(nodes @ (1 | 3 | 5)) => Ok(nodes),
        _ => Err("write 1, 3 or 5: a broker of two nodes stops with either of them".to_owned()),
    }
}

/// How long a calibration takes.
pub(crate) fn calibration_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match time >= MIN_CALIBRATION {
        true => Ok(time),
        false => Err(format!("a calibration takes {} s at least", MIN_CALIBRATION.as_secs())),
    }
}

/// The part of a resource that is to be used, above 0.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = parse_ratio(text).map_err(|error| error.to_string())?;
    if share > 0.0 {
        Ok(share)
    } else {
        Err(format!("`{text}` leaves nothing to be used; write a ratio above 0"))
    }
}

/// How often something is done: once at least.
pub(crate) fn positive_count(text: &str) -> Result<u64, String> {
    match parse_count(text).map_err(|error| error.to_string())? {
        0 => Err(format!("`{text}` leaves nothing to be done; write a count above 0")),
        count => Ok(count),
    }
}

/// The path of a run file, or `last` for the newest one of the usual folder, and `last~N` for the Nth before it.
pub(crate) fn run_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(named_run)
}

/// The run file at this path, which may be `last` or `last~N`.
pub(crate) fn named_run(path: PathBuf) -> Result<PathBuf, NoRun> {
    match before_last(&path) {
        Some(before) => newest_but(Path::new(RUNS_FOLDER), before),
        None => Ok(path),
    }
}

/// How many newer runs there are than the one that `last` or `last~N` names; `None` for a path.
fn before_last(path: &Path) -> Option<usize> {
    match path.to_str()?.strip_prefix(LAST)? {
        "" => Some(0),
        before => before.strip_prefix('~')?.parse().ok(),
    }
}

/// The shortest name of a run file on a command line.
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

/// The runs of a folder, the newest first; none where the first run has not made it yet.
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

/// A name that files can carry.
pub(crate) fn name(text: &str) -> Result<String, PlanError> {
    checked_name(text.to_owned())
}

/// A time with its unit: a limit of 200 seconds that was meant to be one of 200 ms would hold always.
pub(crate) fn duration_with_unit(text: &str) -> Result<Duration, String> {
    if text.trim().parse::<f64>().is_ok() {
        return Err(format!("`{text}` has no unit; write {text}ms or {text}s"));
    }
    parse_duration(text).map_err(|error| error.to_string())
}

/// A file that is written. After a flag whose file may be left out, a URL would be taken for one.
pub(crate) fn written_file(text: &str) -> Result<PathBuf, String> {
    if text.contains("://") {
        return Err("that is a URL, not a file; write the URL before this flag".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// The address of a page that is served where none is named: this machine alone, at a free port.
pub(crate) const LOCAL: &str = "127.0.0.1:0";

/// An address to listen on. After a flag whose address may be left out, a URL would be taken for one.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if text.contains("://") {
        return Err("that is a URL, not an address to listen on; write the URL before this flag".to_owned());
    }
    text.parse().map_err(|_| format!("`{text}` is no ADDRESS:PORT; write it like 127.0.0.1:8090"))
}

/// A program that protects a service, as it is typed.
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
