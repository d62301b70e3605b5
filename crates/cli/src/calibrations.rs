//! Stored calibrations: one small file for each machine, driver and version, in the user's cache; and one in memory that this
//! process made and could not write there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, bail};
use plimsoll_conductor::calibration_key;
use plimsoll_plan::DriverKind;
use plimsoll_record::{Calibration, CalibrationKey};

use crate::files::write_new;

/// The calibration that this process made and could not store.
static UNSTORED: OnceLock<Calibration> = OnceLock::new();

/// Returns the calibrations of this machine and this version of Plimsoll, of every driver: the stored ones, and the one in memory.
pub(crate) fn known() -> Vec<Calibration> {
    with_unstored(stored(), UNSTORED.get())
}

/// Adds a calibration that could not be stored, unless a stored one of its driver has a ceiling.
fn with_unstored(mut stored: Vec<Calibration>, unstored: Option<&Calibration>) -> Vec<Calibration> {
    let Some(unstored) = unstored else { return stored };
    let is_of_driver = |known: &Calibration| known.key.driver == unstored.key.driver;
    if !stored.iter().any(|known| is_of_driver(known) && known.known_ceiling_per_sec().is_some()) {
        stored.retain(|known| !is_of_driver(known));
        stored.push(unstored.clone());
    }
    stored
}

/// Keeps a calibration for as long as this process runs.
pub(crate) fn keep(made: Calibration) {
    UNSTORED.get_or_init(|| made);
}

/// Returns the stored calibrations. An unreadable file counts as missing: the next calibration replaces it.
pub(crate) fn stored() -> Vec<Calibration> {
    let Ok(folder) = folder() else { return Vec::new() };
    let read = |driver| read(&folder, &calibration_key(driver, version()));
    DriverKind::ALL.into_iter().filter_map(read).collect()
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Stores a calibration; returns its file.
pub(crate) fn remember(made: &Calibration) -> anyhow::Result<PathBuf> {
    write(&folder()?, made)
}

/// `$XDG_CACHE_HOME/plimsoll`, or `~/.cache/plimsoll` (XDG Base Directory Specification: the variable counts if it is absolute).
fn folder() -> anyhow::Result<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    match cache {
        Some(cache) => Ok(cache.join("plimsoll")),
        None => bail!(
            "neither XDG_CACHE_HOME nor HOME names a folder to remember the calibration in; set one of them"
        ),
    }
}

/// Returns a file name of characters that every file system accepts. Machines whose names differ only in other characters
/// are distinguished by the key within the file.
fn file_name(key: &CalibrationKey) -> String {
    let name = format!("calibration-{}-{}-{}-{}", key.hostname, key.cores, key.driver, key.tool_version);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
    name.chars().map(plain).collect::<String>() + ".json"
}

/// The longest calibration file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

fn read(folder: &Path, key: &CalibrationKey) -> Option<Calibration> {
    let text = plimsoll_sys::read_regular(&folder.join(file_name(key)), MAX_BYTES).ok()?;
    let made: Calibration = serde_json::from_slice(&text).ok()?;
    // The kernel or the processor may have changed since.
    (made.key == *key).then_some(made)
}

/// Writes the file so that a reader sees the old one or the new one, never a part.
fn write(folder: &Path, made: &Calibration) -> anyhow::Result<PathBuf> {
    let path = folder.join(file_name(&made.key));
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let text = serde_json::to_string_pretty(made)?;
    let written = fs::create_dir_all(folder).and_then(|()| write_new(&part, text.as_bytes()));
    written.and_then(|()| fs::rename(&part, &path)).with_context(|| {
        format!("could not remember the calibration in {}; is the folder writable?", path.display())
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::CalibratedLevel;

    use super::*;

    /// One worker was busy all the time, and made so many requests in a second.
    fn with_ceiling(per_sec: u64) -> Calibration {
        let second = 1_000_000_000;
        let level = CalibratedLevel {
            workers: 1,
            connections: 100,
            completed: per_sec,
            span_ns: second,
            user_ns: second,
            system_ns: 0,
            starved_ns: 0,
        };
        Calibration { closed: vec![level], ..made() }
    }

    #[test]
    fn what_could_not_be_stored_counts_until_a_stored_calibration_gives_a_ceiling() {
        let own = with_ceiling(7);
        let mut of_another = made();
        of_another.key.driver = "io_uring".to_owned();
        assert_eq!(with_unstored(vec![of_another.clone()], None), [of_another.clone()]);
        let without_ceiling = vec![made(), of_another.clone()];
        assert_eq!(with_unstored(without_ceiling, Some(&own)), [of_another.clone(), own.clone()]);
        let stored = vec![with_ceiling(9), of_another];
        assert_eq!(with_unstored(stored.clone(), Some(&own)), stored);
    }

    fn made() -> Calibration {
        let key = CalibrationKey {
            hostname: "ship/../yard".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            cpu_model: "any".to_owned(),
            cores: 2,
            tool_version: "0.1.0".to_owned(),
            driver: "epoll".to_owned(),
        };
        Calibration {
            key,
            measured_unix_ms: 7,
            pinning: None,
            closed: Vec::new(),
            tenth: None,
            rates: Vec::new(),
        }
    }

    #[test]
    fn what_is_remembered_holds_for_the_same_machine_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &made()).unwrap();
        assert_eq!(path.parent(), Some(folder.path()), "a host's name leads to no other folder");
        assert_eq!(read(folder.path(), &made().key), Some(made()));
        let newer = CalibrationKey { kernel: "Linux 6.2".to_owned(), ..made().key };
        assert_eq!(read(folder.path(), &newer), None);
    }

    #[test]
    fn a_damaged_file_was_never_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &made()).unwrap();
        fs::write(path, "{").unwrap();
        assert_eq!(read(folder.path(), &made().key), None);
    }
}
