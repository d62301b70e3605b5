//! Digests of the rows of a run file, so that damage is not taken for a measurement.
//!
//! A table to which rows are only added gets one digest for the rows of each commit. Any other table has a single digest, which is
//! replaced. A sealed file also has a digest of its digests, which shows if one is missing. `docs/run-file.md` says what is hashed.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row, params};
use sha2::{Digest as _, Sha256};

/// A table, and the column that its rows are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
}

pub(crate) const MANIFEST: Part = Part { table: "manifest", key: "id" };
pub(crate) const STEP: Part = Part { table: "step", key: "step" };
pub(crate) const PROFILE: Part = Part { table: "profile", key: "step" };
pub(crate) const FRAME: Part = Part { table: "frame", key: "id" };
pub(crate) const HOST_SAMPLE: Part = Part { table: "host_sample", key: "id" };
pub(crate) const EVENT: Part = Part { table: "event", key: "id" };
/// The digests themselves, once the run is sealed.
pub(crate) const DIGEST: Part = Part { table: "digest", key: "id" };

/// The tables to which rows are only added.
pub(crate) const GROWING: [Part; 3] = [FRAME, HOST_SAMPLE, EVENT];
/// The tables whose rows are also replaced. They are small.
pub(crate) const REPLACED: [Part; 3] = [MANIFEST, STEP, PROFILE];

/// Hashes rows: the type and bytes of each value, and the length if it can vary.
#[derive(Default)]
pub(crate) struct RowHasher(Sha256);

impl RowHasher {
    pub(crate) fn add(&mut self, row: &Row<'_>) -> Result<()> {
        // The first column is the key, which is repeated among the row's own columns.
        for column in 1..row.as_ref().column_count() {
            match row.get_ref(column)? {
                ValueRef::Null => self.0.update([0]),
                ValueRef::Integer(number) => self.fixed(1, number.to_le_bytes()),
                ValueRef::Real(number) => self.fixed(2, number.to_le_bytes()),
                ValueRef::Text(text) => self.varying(3, text),
                ValueRef::Blob(bytes) => self.varying(4, bytes),
            }
        }
        Ok(())
    }

    fn fixed(&mut self, kind: u8, bytes: [u8; 8]) {
        self.0.update([kind]);
        self.0.update(bytes);
    }

    fn varying(&mut self, kind: u8, bytes: &[u8]) {
        self.fixed(kind, (bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}

/// Returns a query for the rows of a part whose keys meet `condition`, each preceded by its key.
pub(crate) fn select(part: Part, condition: &str) -> String {
    let Part { table, key } = part;
    format!("SELECT {key} AS row_key, * FROM {table} WHERE {key} {condition} ORDER BY {key}")
}

/// Writes a digest of the part's rows after the key `after`, if there are any. Returns the last key.
pub(crate) fn write(connection: &Connection, part: Part, after: i64) -> Result<i64> {
    let mut statement = connection.prepare_cached(&select(part, "> ?"))?;
    let mut rows = statement.query([after])?;
    let (mut hasher, mut first, mut last) = (RowHasher::default(), None, after);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        first.get_or_insert(last);
        hasher.add(row)?;
    }
    if let Some(first) = first {
        let insert = "INSERT INTO digest VALUES (NULL, ?, ?, ?, ?)";
        connection.prepare_cached(insert)?.execute(params![part.table, first, last, hasher.finish()])?;
    }
    Ok(last)
}

/// Returns the last row of each growing part that a digest covers.
pub(crate) fn last_keys(connection: &Connection) -> Result<[i64; GROWING.len()]> {
    let mut keys = [0; GROWING.len()];
    for (part, key) in GROWING.into_iter().zip(&mut keys) {
        let sql = "SELECT coalesce(max(last), 0) FROM digest WHERE part = ?";
        *key = connection.query_row(sql, [part.table], |row| row.get(0))?;
    }
    Ok(keys)
}

/// Replaces the digest of a whole part.
pub(crate) fn rewrite(connection: &Connection, part: Part) -> Result<()> {
    connection.prepare_cached("DELETE FROM digest WHERE part = ?")?.execute([part.table])?;
    write(connection, part, i64::MIN).map(drop)
}
