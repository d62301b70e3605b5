//! The tables of a run file, and the column forms of values for which SQLite has no type. `docs/run-file.md` explains each column and
//! must be changed together with this file.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Marks a SQLite database as a run file: the letters `PLIM`, in SQLite's header field for this purpose.
pub(crate) const APPLICATION_ID: i64 = 0x504C_494D;

/// Creates the tables. `id` records the order in which rows were written; the reader returns them in that order.
pub(crate) const TABLES: &str = "
CREATE TABLE manifest (
  id              INTEGER PRIMARY KEY CHECK (id = 1),
  format_major    INTEGER NOT NULL,
  format_minor    INTEGER NOT NULL,
  name            TEXT NOT NULL,
  command         TEXT NOT NULL,
  command_line    TEXT,
  plan            TEXT NOT NULL,
  plan_hash       TEXT NOT NULL,
  tool_version    TEXT NOT NULL,
  machine         TEXT NOT NULL,
  preflight       TEXT NOT NULL,
  driver          TEXT NOT NULL,
  protocol        TEXT NOT NULL,
  tls             TEXT,
  started_unix_ms INTEGER NOT NULL,
  tags            TEXT NOT NULL,
  sealed          INTEGER NOT NULL CHECK (sealed IN (0, 1))
) STRICT;

CREATE TABLE step (
  step         INTEGER PRIMARY KEY,
  connections  INTEGER NOT NULL,
  depth        INTEGER NOT NULL,
  rate_per_sec REAL,
  stages       TEXT,
  began_ns     INTEGER NOT NULL,
  ended_ns     INTEGER NOT NULL,
  drained_ns   INTEGER NOT NULL,
  ended_by     TEXT NOT NULL,
  generators   TEXT,
  under_way    INTEGER NOT NULL CHECK (under_way IN (0, 1))
) STRICT;

CREATE TABLE frame (
  id          INTEGER PRIMARY KEY,
  step        INTEGER NOT NULL,
  worker      INTEGER NOT NULL,
  request     INTEGER NOT NULL,
  interval    INTEGER NOT NULL,
  phase       TEXT NOT NULL,
  began_ns    INTEGER NOT NULL,
  ended_ns    INTEGER NOT NULL,
  intended    INTEGER NOT NULL,
  sent        INTEGER NOT NULL,
  completed   INTEGER NOT NULL,
  ok          INTEGER NOT NULL,
  bytes_in    INTEGER NOT NULL,
  bytes_out   INTEGER NOT NULL,
  reconnects  INTEGER NOT NULL,
  connects    INTEGER NOT NULL,
  handshakes  INTEGER NOT NULL,
  resumed     INTEGER NOT NULL,
  status      TEXT NOT NULL,
  failed      TEXT NOT NULL,
  checks      TEXT NOT NULL,
  in_flight   INTEGER NOT NULL,
  backlog     INTEGER NOT NULL,
  connections INTEGER NOT NULL,
  user_ns     INTEGER NOT NULL,
  system_ns   INTEGER NOT NULL,
  starved_ns  INTEGER NOT NULL,
  stalled_ns  INTEGER NOT NULL,
  latency     BLOB NOT NULL,
  unsuccessful BLOB NOT NULL,
  service     BLOB,
  send_lag    BLOB NOT NULL,
  connect     BLOB NOT NULL,
  handshake   BLOB NOT NULL,
  traces      TEXT
) STRICT;
CREATE INDEX frame_by_step ON frame (step, interval, worker);

CREATE TABLE host_sample (
  id       INTEGER PRIMARY KEY,
  host     TEXT NOT NULL,
  source   TEXT NOT NULL,
  subject  TEXT NOT NULL,
  began_ns INTEGER NOT NULL,
  ended_ns INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('ok', 'absent', 'failed')),
  counters TEXT CHECK ((counters IS NOT NULL) = (state = 'ok')),
  failure  TEXT CHECK ((failure IS NOT NULL) = (state = 'failed'))
) STRICT;
CREATE INDEX host_sample_by_source ON host_sample (host, source, subject, began_ns);

CREATE TABLE event (
  id    INTEGER PRIMARY KEY,
  at_ns INTEGER NOT NULL,
  kind  TEXT NOT NULL,
  text  TEXT NOT NULL
) STRICT;

CREATE TABLE digest (
  id     INTEGER PRIMARY KEY,
  part   TEXT NOT NULL,
  first  INTEGER NOT NULL,
  last   INTEGER NOT NULL,
  sha256 BLOB NOT NULL
) STRICT;

CREATE TABLE profile (
  step     INTEGER PRIMARY KEY,
  source   TEXT NOT NULL,
  form     TEXT NOT NULL,
  began_ns INTEGER NOT NULL,
  ended_ns INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('under_way', 'taken', 'failed')),
  content  BLOB CHECK ((content IS NOT NULL) = (state = 'taken')),
  failure  TEXT CHECK ((failure IS NOT NULL) = (state = 'failed'))
) STRICT;
";

/// A value stored as a JSON document.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0).map(ToSqlOutput::from).map_err(unstorable)
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

/// An enum without fields, stored as its bare name, so that a query can use `phase = 'measure'`.
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Serialize> ToSql for Word<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(&self.0).map_err(unstorable)? {
            Value::String(word) => Ok(ToSqlOutput::from(word)),
            other => Err(rusqlite::Error::ToSqlConversionFailure(format!("{other} is not a word").into())),
        }
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = Value::String(value.as_str()?.to_owned());
        serde_json::from_value(word).map(Self).map_err(FromSqlError::other)
    }
}

fn unstorable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::fixture;

    const DOCUMENT: &str = include_str!("../../../docs/run-file.md");

    fn texts(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// The first cells of the table under the heading of `table`.
    fn documented_columns(table: &str) -> Vec<String> {
        let section = DOCUMENT.split("\n## ").find(|section| section.starts_with(&format!("`{table}`")));
        let rows = section.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("| `"));
        rows.map(|row| row.split_once('`').unwrap().0.to_owned()).collect()
    }

    #[test]
    fn the_document_describes_every_table_and_column_in_order() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLES).unwrap();
        let tables = texts(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table'");
        assert_eq!(tables.len(), 7);
        for table in tables {
            let columns = texts(&connection, &format!("SELECT name FROM pragma_table_info('{table}')"));
            assert_eq!(documented_columns(&table), columns, "{table}");
        }
    }

    #[test]
    fn every_query_of_the_document_finds_something_in_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plimsoll");
        fixture::recorded(&path);
        let connection = Connection::open(&path).unwrap();
        let queries: Vec<_> =
            DOCUMENT.split("```sql\n").skip(1).map(|rest| rest.split("```").next()).collect();
        assert!(queries.len() >= 5);
        for sql in queries.into_iter().flatten() {
            let mut statement = connection.prepare(sql).unwrap();
            assert!(statement.exists([]).unwrap(), "no rows: {sql}");
        }
    }
}
