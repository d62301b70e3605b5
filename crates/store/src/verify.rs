//! Finds the rows of a run file that do not match their digests.

use plimsoll_record::Damage;
use rusqlite::{Connection, Error, ErrorCode, Result};

use crate::digest::{self, DIGEST, GROWING, Part, REPLACED, RowHasher};

/// A row of the table `digest`.
struct Claim {
    first: i64,
    last: i64,
    sha256: Vec<u8>,
}

/// Returns all damage, by part and row.
pub(crate) fn damage(connection: &Connection, sealed: bool) -> Result<Vec<Damage>> {
    let mut found = Vec::new();
    for part in REPLACED.into_iter().chain(GROWING) {
        found.extend(damage_of(connection, part)?);
    }
    if sealed {
        found.extend(missing_digests(connection)?);
    }
    Ok(found)
}

/// Returns damage after which nothing of a run can be trusted. Without its plan, the list of steps, and which steps were made for a
/// profile, no frame can be interpreted. The other case is a lost digest although every row has one: the rows that the lost digest
/// covered may be lost too.
pub(crate) fn total(damage: &[Damage]) -> Option<&Damage> {
    let is_lost = damage.iter().all(|damage| damage.table == DIGEST.table);
    damage.iter().find(|damage| is_lost || REPLACED.iter().any(|part| part.table == damage.table))
}

fn damaged(part: Part, first: i64, last: Option<i64>) -> Damage {
    Damage { table: part.table, first, last, steps: Vec::new() }
}

/// Checks the digests of a sealed run against their own digest, so that a missing one is noticed.
fn missing_digests(connection: &Connection) -> Result<Option<Damage>> {
    let whole = match claims(connection, DIGEST)?.first() {
        Some(claim) => holds(connection, DIGEST, claim)?,
        None => false,
    };
    Ok((!whole).then(|| damaged(DIGEST, 1, None)))
}

/// Checks one part. Digests cover all its rows without gaps, so rows without a digest are damage too.
fn damage_of(connection: &Connection, part: Part) -> Result<Vec<Damage>> {
    let mut found = Vec::new();
    // The keys of a part to which rows are only added begin at 1.
    let mut covered = GROWING.contains(&part).then_some(0_i64);
    for claim in claims(connection, part)? {
        if covered.is_some_and(|covered| claim.first <= covered) || claim.last < claim.first {
            // No run is written like this. Checking a claim takes time for each of its rows, so forged ones are not examined at all.
            found.push(damaged(part, i64::MIN, None));
            return Ok(found);
        }
        match covered {
            Some(covered) if claim.first > covered + 1 => {
                found.push(damaged(part, covered + 1, Some(claim.first - 1)));
            }
            None if has_rows(connection, part, "< ?", claim.first)? => {
                found.push(damaged(part, i64::MIN, Some(claim.first - 1)));
            }
            Some(_) | None => {}
        }
        match holds(connection, part, &claim) {
            Ok(true) => {}
            Ok(false) => found.push(damaged(part, claim.first, Some(claim.last))),
            Err(error) if is_damage(&error) => {
                found.push(damaged(part, claim.first, None));
                return Ok(found);
            }
            Err(error) => return Err(error),
        }
        covered = Some(claim.last);
    }
    let covered = covered.unwrap_or(i64::MIN);
    if has_rows(connection, part, "> ?", covered)? {
        found.push(damaged(part, covered.saturating_add(1), None));
    }
    Ok(found)
}

fn claims(connection: &Connection, part: Part) -> Result<Vec<Claim>> {
    let mut statement =
        connection.prepare_cached("SELECT first, last, sha256 FROM digest WHERE part = ? ORDER BY first")?;
    let claim =
        |row: &rusqlite::Row<'_>| Ok(Claim { first: row.get(0)?, last: row.get(1)?, sha256: row.get(2)? });
    statement.query_map([part.table], claim)?.collect()
}

/// Whether the rows are those from which the digest was computed.
fn holds(connection: &Connection, part: Part, claim: &Claim) -> Result<bool> {
    let mut statement = connection.prepare_cached(&digest::select(part, "BETWEEN ? AND ?"))?;
    let mut rows = statement.query([claim.first, claim.last])?;
    let mut hasher = RowHasher::default();
    while let Some(row) = rows.next()? {
        hasher.add(row)?;
    }
    Ok(hasher.finish() == claim.sha256)
}

fn has_rows(connection: &Connection, part: Part, condition: &str, key: i64) -> Result<bool> {
    let mut statement = connection.prepare_cached(&digest::select(part, condition))?;
    match statement.exists([key]) {
        Err(error) if is_damage(&error) => Ok(true),
        exists => exists,
    }
}

/// Whether a page differs from what SQLite wrote. Other errors are those of the disk or the system.
fn is_damage(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt))
}
