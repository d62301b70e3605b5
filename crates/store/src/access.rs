//! Opens run files for reading, and rejects other files.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use plimsoll_record::FormatVersion;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{self, StoreError};
use crate::schema::APPLICATION_ID;

/// A plan contains the headers of its requests, which may be credentials. SQLite gives the same mode to the files next to a
/// run file.
pub(crate) const OWNER_ONLY: u32 = 0o600;

/// Returns the path of a file that SQLite keeps next to `path`: the same name with an ending such as `-wal`.
pub(crate) fn companion(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Opens a run file that this version can read, without ever writing to it.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    let reading = |error| error::reading(path, &error);
    let metadata = fs::metadata(path).map_err(|error| error::looking(path, &error))?;
    if !metadata.is_file() {
        return Err(not_a_run_file(path, "it is not a regular file"));
    }
    let connection = connect(path).map_err(|error| unconnected(path, &error))?;
    if number(&connection, "application_id").map_err(|error| unopened(path, &error))? != APPLICATION_ID {
        return Err(not_a_run_file(path, "it is a SQLite database of another program, or empty"));
    }
    check_tables(path, &connection)?;
    check_length(path, number(&connection, "page_size").map_err(reading)?, metadata.len())?;
    let found = version(&connection).map_err(reading)?;
    if found.major != FormatVersion::CURRENT.major {
        return Err(StoreError::OtherFormat { path: path.to_owned(), found });
    }
    Ok(connection)
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Rejects files with anything but tables. A view, a virtual table or a generated column computes its values, at any cost. Newer
/// formats may have further tables.
fn check_tables(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    const COMPUTED: &str = "SELECT name FROM sqlite_schema
        WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'
           OR (type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_xinfo(sqlite_schema.name) WHERE hidden <> 0))";
    let computed = connection.prepare(COMPUTED).and_then(|mut statement| statement.exists([]));
    match computed.map_err(|error| error::reading(path, &error))? {
        true => Err(not_a_run_file(
            path,
            "it has views, triggers or computed columns, and a run file has only tables",
        )),
        false => Ok(()),
    }
}

/// Rejects a file that ends within a page: SQLite reads the missing part as zeros, which would pass for values. With a
/// write-ahead log the file may be incomplete; without one every page must be complete.
fn check_length(path: &Path, page_bytes: i64, length_bytes: u64) -> Result<(), StoreError> {
    if is_logged(path) || length_bytes.is_multiple_of(page_bytes.max(1).cast_unsigned()) {
        return Ok(());
    }
    let reason = format!("it ends within a page, after {length_bytes} bytes: it was cut short");
    Err(StoreError::Damaged { path: path.to_owned(), reason })
}

/// Reads the format version. These two columns keep their names in every version, so that any Plimsoll can read the version of any file.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<FormatVersion> {
    connection.query_row("SELECT format_major, format_minor FROM manifest", [], |row| {
        Ok(FormatVersion { major: row.get(0)?, minor: row.get(1)? })
    })
}

fn is_logged(path: &Path) -> bool {
    fs::metadata(companion(path, "-wal")).is_ok_and(|metadata| metadata.len() > 0)
}

/// Opens a connection. A file without a write-ahead log has no writer. Opened as immutable, it needs neither locks nor files of
/// SQLite's next to it, so it can be read in a read-only folder.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let immutable = if is_logged(path) { "" } else { "?immutable=1" };
    Connection::open_with_flags(format!("{}{immutable}", uri(path)), flags)
}

/// Returns the path as a URI for SQLite, with every byte that is not clearly part of a name as `%XX`.
pub(crate) fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn not_a_run_file(path: &Path, reason: &str) -> StoreError {
    StoreError::NotARunFile { path: path.to_owned(), reason: reason.to_owned() }
}

/// Explains why a file cannot be opened. SQLite does not say why, so the system is asked, but only after a failure: closing a file
/// releases the locks that SQLite holds on it for other connections of this process.
fn unconnected(path: &Path, error: &rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
        && let Err(why) = fs::File::open(path)
    {
        return error::looking(path, &why);
    }
    error::reading(path, error)
}

/// Explains why the first read failed. With a write-ahead log it needs an index next to the file, which SQLite creates if it may.
fn unopened(path: &Path, error: &rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() != Some(ErrorCode::CannotOpen) {
        return error::reading(path, error);
    }
    let reason = format!(
        "its run is under way or was killed, and its folder cannot be written to ({error}); \
         copy it and {} to a folder of your own",
        companion(path, "-wal").display()
    );
    StoreError::Unreadable { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;
    use crate::{RunWriter, fixture};

    /// How many locks of this process are on a file.
    fn locks(path: &Path) -> usize {
        let (pid, inode) = (std::process::id().to_string(), fs::metadata(path).unwrap().ino());
        let table = fs::read_to_string("/proc/locks").unwrap();
        let is_on_file = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.contains(&pid.as_str()) && words.iter().any(|word| word.ends_with(&format!(":{inode}")))
        };
        table.lines().filter(is_on_file).count()
    }

    #[test]
    fn a_file_that_is_opened_again_keeps_the_locks_of_the_connection_that_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plimsoll");
        let mut writer = RunWriter::create(&path, &fixture::manifest(), false).unwrap();
        fixture::record(&mut writer, &fixture::run());
        writer.commit().unwrap();
        let reader = open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM frame").unwrap();
        let held = locks(&path);
        assert!(held > 0, "a connection to a file with a log has locks");
        drop(open(&path).unwrap());
        assert_eq!(locks(&path), held);
    }
}
