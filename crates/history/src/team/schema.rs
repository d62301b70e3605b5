//! The tables in PostgreSQL, created on first use.

use tokio_postgres::{Client, Error, GenericClient};

/// The version of the tables, which `docs/history.md` describes.
pub(super) const VERSION: i32 = 1;

/// The advisory lock held while the tables are created, so that only one of several first users creates them. Its value is
/// the letters `PLIM` and `RUNS`.
const LOCK: i64 = 0x504C_494D_5255_4E53;

// Reads the catalogue directly: `to_regclass` may use a cache that lacks a schema which another user has just created.
const SCHEMA: &str = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'plimsoll'";
const VERSION_TABLE: &str = "SELECT FROM pg_catalog.pg_class AS class
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE nspname = 'plimsoll' AND relname = 'version'";

const TABLES: &str = "
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

/// Returns the version of the tables, after creating them if necessary.
pub(super) async fn ready(client: &mut Client) -> Result<i32, Error> {
    if let Some(version) = version(client).await? {
        return Ok(version);
    }
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    if !exists(&transaction, VERSION_TABLE).await? {
        // The owner may have created the schema for users who must not create any: even IF NOT EXISTS requires that privilege.
        if !exists(&transaction, SCHEMA).await? {
            transaction.batch_execute("CREATE SCHEMA plimsoll").await?;
        }
        transaction.batch_execute(TABLES).await?;
        transaction.execute("INSERT INTO plimsoll.version VALUES ($1)", &[&VERSION]).await?;
    }
    transaction.commit().await?;
    Ok(version(client).await?.unwrap_or(0))
}

async fn version(client: &Client) -> Result<Option<i32>, Error> {
    if !exists(client, VERSION_TABLE).await? {
        return Ok(None);
    }
    Ok(client.query_opt("SELECT max(version) FROM plimsoll.version", &[]).await?.and_then(|row| row.get(0)))
}

/// Whether this query returns a row.
async fn exists(client: &impl GenericClient, query: &str) -> Result<bool, Error> {
    Ok(client.query_opt(query, &[]).await?.is_some())
}
