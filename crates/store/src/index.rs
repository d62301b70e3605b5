//! The index of a folder of run files: figures derived from each file, so that listing them need not read all files again.
//!
//! It contains no original data and can be deleted at any time. An index that is damaged or of another version is recreated. A database
//! of another program is left untouched.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use crate::access::OWNER_ONLY;
use crate::error::{self, StoreError};

/// The letters `PLIX`: distinguishes an index from a run file.
const APPLICATION_ID: i64 = 0x504C_4958;
/// Changes whenever the table changes.
const VERSION: i64 = 1;
/// How long to wait for another process that writes the index.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

const TABLE: &str = "
CREATE TABLE run (
  file        TEXT PRIMARY KEY,
  size_bytes  INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  derived_by  TEXT NOT NULL,
  entry       TEXT NOT NULL
) STRICT";

/// Size and modification time of a file when figures were derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    pub size_bytes: u64,
    /// In nanoseconds since 1970-01-01 UTC.
    pub modified_ns: i64,
}

/// The figures derived from one run file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedRun {
    pub stamp: FileStamp,
    /// The build of Plimsoll that derived them.
    pub derived_by: String,
    /// The derived figures, as JSON.
    pub entry: String,
}

/// The open index of one folder.
#[derive(Debug)]
pub struct RunIndex {
    connection: Connection,
    /// Whether an existing index was unusable and has been replaced.
    pub replaced: bool,
}

impl RunIndex {
    /// Opens the index, or creates it.
    ///
    /// # Errors
    /// When it can neither be read nor created, as in a read-only folder, or when another program's database has its name.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connected = match connect(path) {
            Err(error) if is_unusable(&error) => {
                fs::remove_file(path).map_err(|error| error::preparing(path, &error))?;
                connect(path).map(|connection| (connection, true))
            }
            other => other.map(|connection| (connection, false)),
        };
        match connected.map_err(|error| error::writing(path, &error))? {
            (Some(connection), replaced) => Ok(Self { connection, replaced }),
            (None, _) => {
                let reason = "it is a database of another program".to_owned();
                Err(StoreError::Unwritable { path: path.to_owned(), reason })
            }
        }
    }

    /// Returns all entries of the index, by file name.
    ///
    /// # Errors
    /// When SQLite cannot read it.
    pub fn runs(&self) -> rusqlite::Result<BTreeMap<String, IndexedRun>> {
        let mut statement =
            self.connection.prepare("SELECT file, size_bytes, modified_ns, derived_by, entry FROM run")?;
        let rows = statement.query_map([], |row| {
            let stamp = FileStamp { size_bytes: row.get(1)?, modified_ns: row.get(2)? };
            Ok((row.get(0)?, IndexedRun { stamp, derived_by: row.get(3)?, entry: row.get(4)? }))
        })?;
        rows.collect()
    }

    /// Replaces the rows of these files, and removes the files that are gone.
    ///
    /// # Errors
    /// When it cannot be written. The index is then unchanged.
    pub fn update(&mut self, runs: &[(String, IndexedRun)], gone: &[String]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for file in gone {
            transaction.prepare_cached("DELETE FROM run WHERE file = ?")?.execute([file])?;
        }
        for (file, run) in runs {
            let values =
                params![file, run.stamp.size_bytes, run.stamp.modified_ns, run.derived_by, run.entry];
            transaction
                .prepare_cached("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)")?
                .execute(values)?;
        }
        transaction.commit()
    }
}

/// Whether the file is not an index of this version, or damaged. Other errors are those of the disk or the system.
fn is_unusable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
    ) || matches!(error, rusqlite::Error::QueryReturnedNoRows | rusqlite::Error::InvalidColumnType(..))
}

/// Opens or creates the index; `None` for a database of another program.
fn connect(path: &Path) -> rusqlite::Result<Option<Connection>> {
    let made = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path);
    let is_new = match made {
        Ok(_) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(rusqlite::Error::ToSqlConversionFailure(error.into())),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Safe without syncing: an index damaged by a power failure is derived again.
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let number = |pragma| transaction.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION_ID, VERSION) => {}
        // Another process may have created the file, but not yet its table.
        (0, 0) if is_new || is_empty(&transaction)? => {
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.execute_batch(TABLE)?;
        }
        (APPLICATION_ID, _) => return Err(rusqlite::Error::QueryReturnedNoRows),
        _ => return Ok(None),
    }
    // Detects damaged pages before a list relies on them.
    transaction.query_row("SELECT count(entry) FROM run", [], |row| row.get::<_, i64>(0))?;
    transaction.commit()?;
    Ok(Some(connection))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn row(entry: &str) -> IndexedRun {
        let stamp = FileStamp { size_bytes: 7, modified_ns: 8 };
        IndexedRun { stamp, derived_by: "0.1.0".to_owned(), entry: entry.to_owned() }
    }

    #[test]
    fn rows_are_kept_replaced_and_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        let mut index = RunIndex::open(&path).unwrap();
        let named = |name: &str, entry| (name.to_owned(), row(entry));
        index.update(&[named("a", "1"), named("b", "2")], &[]).unwrap();
        index.update(&[named("a", "3")], &["b".to_owned()]).unwrap();
        drop(index);
        let index = RunIndex::open(&path).unwrap();
        assert!(!index.replaced);
        assert_eq!(index.runs().unwrap(), [named("a", "3")].into_iter().collect());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_index_or_a_damaged_one_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        let rows: Vec<_> = (0..500).map(|n| (n.to_string(), row(&"x".repeat(200)))).collect();
        RunIndex::open(&path).unwrap().update(&rows, &[]).unwrap();
        let whole = fs::read(&path).unwrap();
        let mut torn = whole.clone();
        torn[4096..20_000].fill(0xA5);
        for content in [&b"no database at all, just a text"[..], &torn, &whole[..5000]] {
            fs::write(&path, content).unwrap();
            let index = RunIndex::open(&path).unwrap();
            assert!(index.replaced && index.runs().unwrap().is_empty());
        }
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(RunIndex::open(&path).unwrap().replaced, "another version");
    }

    #[test]
    fn a_database_of_another_program_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        for application_id in [0, 0x1234] {
            let foreign = Connection::open(&path).unwrap();
            foreign.pragma_update(None, "application_id", application_id).unwrap();
            foreign
                .execute_batch("CREATE TABLE IF NOT EXISTS letter (text); INSERT INTO letter VALUES ('a')")
                .unwrap();
            drop(foreign);
            let before = fs::read(&path).unwrap();
            let error = RunIndex::open(&path).unwrap_err();
            assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn several_processes_may_begin_it_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || {
                    let mut index = RunIndex::open(path).unwrap();
                    index.update(&[(name.to_owned(), row(name))], &[]).unwrap();
                });
            }
        });
        assert_eq!(RunIndex::open(&path).unwrap().runs().unwrap().len(), 4);
    }
}
