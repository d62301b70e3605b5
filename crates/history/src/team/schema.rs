//! The tables in PostgreSQL, made on first use.

use tokio_postgres::{Client, Error};

/// The version of the tables; `docs/history.md` describes them.
pub(super) const VERSION: i32 = 1;

/// Held while tables are made, so that of several first users one makes them: the letters `PLIM` and `RUNS`.
const LOCK: i64 = 0x504C_494D_5255_4E53;

const TABLES: &str = "
CREATE SCHEMA plimsoll;
CREATE TABLE plimsoll.version (version integer NOT NULL);
CREATE TABLE plimsoll.run (
  id           text PRIMARY KEY,
  file_name    text NOT NULL,
  name         text NOT NULL,
  command      text NOT NULL,
  target       text NOT NULL,
  plan_hash    text NOT NULL,
  hostname     text NOT NULL,
  tool_version text NOT NULL,
  started_at   timestamptz NOT NULL,
  tags         jsonb NOT NULL,
  entry        jsonb NOT NULL,
  delivered_at timestamptz NOT NULL DEFAULT now(),
  delivered_by text NOT NULL DEFAULT session_user
);
CREATE INDEX run_by_start ON plimsoll.run (started_at DESC);
CREATE INDEX run_by_tags ON plimsoll.run USING gin (tags);
CREATE TABLE plimsoll.run_file (
  run     text NOT NULL REFERENCES plimsoll.run ON DELETE CASCADE,
  part    integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (run, part)
);
";

/// The version of the tables, which are made if they are not there.
pub(super) async fn ready(client: &mut Client) -> Result<i32, Error> {
    if let Some(version) = version(client).await? {
        return Ok(version);
    }
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let there: bool =
        transaction.query_one("SELECT to_regnamespace('plimsoll') IS NOT NULL", &[]).await?.get(0);
    if !there {
        transaction.batch_execute(TABLES).await?;
        transaction.execute("INSERT INTO plimsoll.version VALUES ($1)", &[&VERSION]).await?;
    }
    transaction.commit().await?;
    Ok(version(client).await?.unwrap_or(0))
}

async fn version(client: &Client) -> Result<Option<i32>, Error> {
    let there = client.query_one("SELECT to_regclass('plimsoll.version') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(None);
    }
    Ok(client.query_opt("SELECT max(version) FROM plimsoll.version", &[]).await?.and_then(|row| row.get(0)))
}
