//! Reads and writes runs in the tables.

use std::collections::BTreeSet;

use plimsoll_analyze::RunEntry;
use plimsoll_record::{TagChanges, Tags};
use tokio_postgres::{Client, Error, Row};

use super::content::{PART_BYTES, SharedRun};

/// The maximum number of runs in a list; the newest ones.
const MAX_LISTED: usize = 10_000;

const INSERT: &str = "INSERT INTO plimsoll.run
    (id, file_name, name, command, target, plan_hash, hostname, tool_version, started_at, tags, entry)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::double precision / 1000), $10::text::jsonb, $11::text::jsonb)
    ON CONFLICT (id) DO NOTHING";
/// Keys that other users have set are kept.
const UPDATE_TAGS: &str =
    "UPDATE plimsoll.run SET tags = (tags - $2::text[]) || $3::text::jsonb WHERE id = $1";
const FIND: &str = "SELECT id FROM plimsoll.run
    WHERE file_name IN ($1, $1 || '.plimsoll') OR (length($1) >= 8 AND starts_with(id, $1)) ORDER BY started_at DESC";

/// The result of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The run and its file were added.
    New,
    /// The figures were added without the file, which was too large or whose plan cannot be shared.
    OnlyFigures,
    /// The store already had the run; its new tags were added.
    NewTags,
    /// The store already had the run, with these tags.
    Known,
}

impl Put {
    /// Returns the result for a run that the store already had, after sending these changes of its tags.
    pub(crate) fn of_known(changes: &TagChanges) -> Self {
        if *changes == TagChanges::default() { Self::Known } else { Self::NewTags }
    }
}

/// The file of a run in a store.
#[derive(Debug)]
pub struct StoredFile {
    pub id: String,
    /// The file's name where it was recorded.
    pub name: String,
    /// The run's tags in the store; `None` if this version does not know their format.
    pub tags: Option<Tags>,
    pub content: Vec<u8>,
}

/// Serializes tags to JSON, which cannot fail for text.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}

/// Returns which of these ids the store has.
pub(super) async fn known(client: &Client, ids: &[String]) -> Result<BTreeSet<String>, Error> {
    let rows = client.query("SELECT id FROM plimsoll.run WHERE id = ANY($1)", &[&ids]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Adds a run, unless an earlier delivery has already added it.
pub(super) async fn put(client: &mut Client, run: &SharedRun) -> Result<Put, Error> {
    let entry = &run.entry;
    let id = entry.id.clone().unwrap_or_default();
    let transaction = client.transaction().await?;
    let added = transaction
        .execute(
            INSERT,
            &[
                &id,
                &entry.file,
                &entry.name,
                &entry.command.name(),
                &entry.target,
                &entry.plan_hash,
                &entry.machine.hostname,
                &entry.tool_version,
                &(entry.started_unix_ms as f64),
                &json(&entry.tags),
                &json(entry),
            ],
        )
        .await?;
    if added == 0 {
        change_tags(&transaction, &id, &run.changes).await?;
        transaction.commit().await?;
        return Ok(Put::of_known(&run.changes));
    }
    for (part, content) in run.content.iter().flat_map(|content| content.chunks(PART_BYTES)).enumerate() {
        let part = i32::try_from(part).unwrap_or(i32::MAX);
        transaction
            .execute("INSERT INTO plimsoll.run_file VALUES ($1, $2, $3)", &[&id, &part, &content])
            .await?;
    }
    transaction.commit().await?;
    Ok(if run.content.is_some() { Put::New } else { Put::OnlyFigures })
}

/// Changes the tags of a run in the store.
pub(super) async fn change_tags(
    client: &impl tokio_postgres::GenericClient,
    id: &str,
    changes: &TagChanges,
) -> Result<(), Error> {
    let unset: Vec<&str> = changes.unset.iter().map(String::as_str).collect();
    client.execute(UPDATE_TAGS, &[&id, &unset, &json(&changes.set)]).await.map(drop)
}

/// The newest runs of a store, with the tags that they have there.
#[derive(Debug, Default)]
pub struct StoredRuns {
    pub runs: Vec<RunEntry>,
    /// The starts of runs whose figures are in a format that this version does not know, in milliseconds since 1970-01-01 UTC.
    pub unknown_unix_ms: Vec<u64>,
    /// Whether the store has older runs that are not listed.
    pub is_cut: bool,
}

pub(super) async fn list(client: &Client) -> Result<StoredRuns, Error> {
    let sql = "SELECT entry::text, tags::text, (extract(epoch FROM started_at) * 1000)::float8 FROM plimsoll.run \
               ORDER BY started_at DESC, id LIMIT $1";
    let mut rows = client.query(sql, &[&(MAX_LISTED as i64 + 1)]).await?;
    let is_cut = rows.len() > MAX_LISTED;
    rows.truncate(MAX_LISTED);
    let (mut runs, mut unknown_unix_ms) = (Vec::new(), Vec::new());
    for row in &rows {
        match entry(row) {
            Some(run) => runs.push(run),
            None => unknown_unix_ms.push(row.get::<_, f64>(2) as u64),
        }
    }
    Ok(StoredRuns { runs, unknown_unix_ms, is_cut })
}

fn entry(row: &Row) -> Option<RunEntry> {
    let entry: RunEntry = serde_json::from_str(row.get(0)).ok()?;
    let tags: Tags = serde_json::from_str(row.get(1)).ok()?;
    Some(RunEntry { tags, ..entry })
}

/// Returns the ids of the runs that match a name: the name of the file, or at least the first eight characters of an id.
pub(super) async fn find(client: &Client, name: &str) -> Result<Vec<String>, Error> {
    Ok(client.query(FIND, &[&name]).await?.iter().map(|row| row.get(0)).collect())
}

/// Returns the file of a run, still compressed; empty if the store has none.
pub(super) async fn file(client: &Client, id: &str) -> Result<StoredFile, Error> {
    let run =
        client.query_one("SELECT file_name, tags::text FROM plimsoll.run WHERE id = $1", &[&id]).await?;
    let rows =
        client.query("SELECT content FROM plimsoll.run_file WHERE run = $1 ORDER BY part", &[&id]).await?;
    let content = rows.iter().flat_map(|row| row.get::<_, &[u8]>(0).iter().copied()).collect();
    let tags = serde_json::from_str(run.get(1)).ok();
    Ok(StoredFile { id: id.to_owned(), name: run.get(0), tags, content })
}
