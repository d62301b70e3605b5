//! What identifies a sealed run, and a copy of it with another plan.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use crate::access;
use crate::digest::{self, DIGEST};
use crate::error::{self, StoreError};

/// The digest of a sealed run's digests, in hex: two files of the same run have the same. `None` for a run that did not end in
/// order.
///
/// # Errors
/// When the file cannot be opened or is not a run file.
pub fn run_id(path: &Path) -> Result<Option<String>, StoreError> {
    let connection = access::open(path)?;
    let sql = "SELECT lower(hex(sha256)) FROM digest, manifest WHERE part = ? AND sealed = 1";
    let id = connection.query_row(sql, [DIGEST.table], |row| row.get(0)).optional();
    id.map_err(|error| error::reading(path, &error))
}

/// Copies a sealed run file and gives the copy this plan, with the digests that belong to it. Nothing of the former plan is left
/// in the copy.
///
/// # Errors
/// When the one cannot be read, or the other not be written.
pub fn copy_with_plan(from: &Path, to: &Path, plan: &str) -> Result<(), StoreError> {
    fs::copy(from, to).map_err(|error| error::looking(from, &error))?;
    fs::set_permissions(to, fs::Permissions::from_mode(access::OWNER_ONLY))
        .map_err(|error| error::preparing(to, &error))?;
    replace_plan(to, plan).map_err(|error| error::writing(to, &error))
}

fn replace_plan(path: &Path, plan: &str) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA journal_mode = MEMORY; BEGIN")?;
    connection.execute("UPDATE manifest SET plan = ?", [plan])?;
    digest::rewrite(&connection, digest::MANIFEST)?;
    digest::rewrite(&connection, DIGEST)?;
    // Without it the former plan stays readable in pages that SQLite no longer uses.
    connection.execute_batch("COMMIT; VACUUM")
}

#[cfg(test)]
mod tests {
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
