//! Names of run files.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The ending of every run file, without the dot.
pub(crate) const EXTENSION: &str = "plimsoll";

/// File systems allow 255 bytes per name. This leaves room for the date, a number, the ending and SQLite's own endings.
const MAX_NAME_BYTES: usize = 120;

/// Returns `NAME-YYYYMMDD-HHMMSS.plimsoll`, with the start of the run in UTC.
///
/// Characters of the name with a meaning for shells or file systems become `-`, so that `api:8080/v1` is usable.
pub fn file_name(name: &str, started_unix_ms: u64) -> String {
    format!("{}.{EXTENSION}", stem(name, started_unix_ms))
}

/// Returns the path of [`file_name`] in `folder`, with `-2`, `-3` … added to the name if it already exists, even as a dangling link.
pub fn free_path(folder: &Path, name: &str, started_unix_ms: u64) -> PathBuf {
    let stem = stem(name, started_unix_ms);
    let mut path = folder.join(format!("{stem}.{EXTENSION}"));
    let mut number = 2_u32;
    while path.symlink_metadata().is_ok() {
        path = folder.join(format!("{stem}-{number}.{EXTENSION}"));
        number += 1;
    }
    path
}

fn stem(name: &str, started_unix_ms: u64) -> String {
    format!("{}-{}", plain(name), file_date(started_unix_ms))
}

/// Returns the name in characters that need no quoting. It never begins with a dot (hidden) or a dash (a flag).
fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).take(MAX_NAME_BYTES).collect();
    match plain.trim_matches(['-', '.']) {
        "" => "run".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// Returns `YYYYMMDD-HHMMSS` in UTC, as in the names of run files. Instants beyond the calendar become its last one.
pub fn file_date(unix_ms: u64) -> String {
    let instant = i64::try_from(unix_ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .unwrap_or(Timestamp::MAX);
    instant.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-02-29 12:34:56.789 UTC.
    const LEAP_DAY_MS: u64 = 1_709_210_096_789;

    #[test]
    fn a_file_is_named_after_the_run_and_its_start_in_utc() {
        assert_eq!(file_name("checkout", LEAP_DAY_MS), "checkout-20240229-123456.plimsoll");
        assert_eq!(file_name("checkout", 0), "checkout-19700101-000000.plimsoll");
    }

    #[test]
    fn names_are_safe_for_shells_and_file_systems() {
        for (name, expected) in [
            ("[::1]:8080/a b", "1--8080-a-b"),
            ("../../etc/passwd", "etc-passwd"),
            ("--help", "help"),
            ("füße", "f--e"),
            ("", "run"),
            ("...", "run"),
        ] {
            assert_eq!(file_name(name, 0), format!("{expected}-19700101-000000.plimsoll"), "{name}");
        }
        assert!(file_name(&"x".repeat(4000), u64::MAX).len() < 200);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        for expected in ["a-19700101-000000", "a-19700101-000000-2", "a-19700101-000000-3"] {
            let path = free_path(folder.path(), "a", 0);
            assert_eq!(path, folder.path().join(format!("{expected}.plimsoll")));
            std::fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn a_link_to_nothing_takes_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = free_path(folder.path(), "a", 0);
        std::os::unix::fs::symlink("nothing", &path).unwrap();
        assert_ne!(free_path(folder.path(), "a", 0), path);
    }
}
