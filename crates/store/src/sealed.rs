//! The identity of a sealed run, and copies of a run with another plan.

use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};

use crate::access;
use crate::digest::{self, DIGEST};
use crate::error::{self, StoreError};

/// Returns the id of a sealed run: the digest of its digests, in hex, which is the same for every copy of the file. `None` for a run
/// that did not end normally.
///
/// # Errors
/// When the file cannot be opened or is not a run file.
pub fn run_id(path: &Path) -> Result<Option<String>, StoreError> {
    let connection = access::open(path)?;
    let sql = "SELECT lower(hex(sha256)) FROM digest, manifest WHERE part = ? AND sealed = 1";
    let id = connection.query_row(sql, [DIGEST.table], |row| row.get(0)).optional();
    id.map_err(|error| error::reading(path, &error))
}

/// Copies a sealed run file and replaces the plan in the copy, with matching digests. The copy contains nothing of the former plan.
///
/// # Errors
/// When the source cannot be read, or the copy cannot be written.
pub fn copy_with_plan(from: &Path, to: &Path, plan: &str) -> Result<(), StoreError> {
    let source = access::open(from)?;
    make_empty(to).map_err(|error| error::preparing(to, &error))?;
    // If a reader had the file open when it was sealed, part of the run is still in the write-ahead log, which copying the file would miss.
    source.execute("VACUUM INTO ?", [access::uri(to)]).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => error::reading(from, &error),
        _ => error::writing(to, &error),
    })?;
    replace_plan(to, plan).map_err(|error| error::writing(to, &error))
}

/// Creates an empty file for SQLite to write into. A file created by SQLite would be readable for others.
fn make_empty(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(access::OWNER_ONLY).open(path)?;
    file.set_permissions(Permissions::from_mode(access::OWNER_ONLY))
}

fn replace_plan(path: &Path, plan: &str) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA journal_mode = MEMORY; BEGIN")?;
    connection.execute("UPDATE manifest SET plan = ?", [plan])?;
    digest::rewrite(&connection, digest::MANIFEST)?;
    digest::rewrite(&connection, DIGEST)?;
    // Without this the former plan stays readable in pages that SQLite no longer uses.
    connection.execute_batch("COMMIT; VACUUM")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixture;

    #[test]
    fn a_copy_with_another_plan_is_intact_and_holds_nothing_of_the_former_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("run.plimsoll"), folder.path().join("copy"));
        let run = fixture::recorded(&path);
        copy_with_plan(&path, &copy, &format!("{}s3cret-marker", run.manifest.plan)).unwrap();
        let other = folder.path().join("other");
        copy_with_plan(&copy, &other, &run.manifest.plan).unwrap();
        let holds_secret =
            |path: &Path| fs::read(path).unwrap().windows(13).any(|window| window == b"s3cret-marker");
        assert!(holds_secret(&copy) && !holds_secret(&other));
        let read = crate::read(&other).unwrap();
        assert_eq!((&read.frames, read.damage.len()), (&run.frames, 0));
        assert!(crate::check(&other).unwrap().is_intact());
    }

    #[test]
    fn a_sealed_run_whose_log_stayed_is_copied_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("run.plimsoll"), folder.path().join("copy"));
        let run = fixture::run();
        let mut writer = crate::RunWriter::create(&path, &run.manifest, false).unwrap();
        writer.commit().unwrap();
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM frame").unwrap();
        fixture::record(&mut writer, &run);
        writer.seal().unwrap();
        assert!(access::companion(&path, "-wal").exists(), "the reader keeps the log");
        copy_with_plan(&path, &copy, &run.manifest.plan).unwrap();
        assert!(!access::companion(&copy, "-wal").exists());
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, access::OWNER_ONLY);
        let read = crate::read(&copy).unwrap();
        assert_eq!((read.manifest.sealed, &read.frames), (true, &run.frames));
        assert!(crate::check(&copy).unwrap().is_intact());
    }

    #[test]
    fn a_run_has_an_identity_once_it_is_sealed_and_a_copy_has_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("run.plimsoll"), folder.path().join("copy.plimsoll"));
        let writer = crate::RunWriter::create(&path, &fixture::manifest(), false).unwrap();
        assert_eq!(run_id(&path).unwrap(), None);
        writer.seal().unwrap();
        fs::copy(&path, &copy).unwrap();
        let id = run_id(&path).unwrap();
        assert_eq!(id.as_ref().map(String::len), Some(64));
        assert_eq!(run_id(&copy).unwrap(), id);
    }
}
