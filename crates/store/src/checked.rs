//! Examines a run file for `plimsoll check`: which of its parts are intact.

use std::path::Path;

use plimsoll_record::{Damage, FormatVersion};
use rusqlite::{Connection, Result};

use crate::digest::{GROWING, REPLACED};
use crate::error::{self, StoreError};
use crate::invariants::is_accounted_for;
use crate::{access, reader, verify};

/// The state of a run file.
#[derive(Debug)]
pub struct Checked {
    pub format: FormatVersion,
    /// Whether the run ended normally.
    pub sealed: bool,
    /// The tables, each with its number of rows.
    pub rows: Vec<(&'static str, u64)>,
    /// Rows that do not match their digests.
    pub damage: Vec<Damage>,
    /// Content that cannot be true although every digest matches, and damaged pages that SQLite reports.
    pub untrue: Vec<String>,
    /// Whether every request that was due has ended, successfully or not. False, without being a fault, for a run that did not end
    /// normally or in which a worker was abandoned.
    pub accounted: bool,
}

impl Checked {
    /// Whether nothing is wrong with the file.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty() && self.untrue.is_empty()
    }
}

/// Examines a run file.
///
/// # Errors
/// When the file is missing, unreadable, not a run file, of another major version, or so damaged that its tables cannot be found.
pub fn check(path: &Path) -> std::result::Result<Checked, StoreError> {
    let mut connection = access::open(path)?;
    let mut checked = examine(&mut connection).map_err(|error| error::reading(path, &error))?;
    match reader::read(path) {
        // Only the reader knows the steps that it left out.
        Ok(run) => {
            checked.accounted = is_accounted_for(&run);
            checked.damage = run.damage;
        }
        Err(StoreError::Damaged { reason, .. }) => checked.untrue.push(reason),
        Err(error) => return Err(error),
    }
    Ok(checked)
}

fn examine(connection: &mut Connection) -> Result<Checked> {
    let snapshot = connection.transaction()?;
    let format = access::version(&snapshot)?;
    let sealed = snapshot.query_row("SELECT sealed FROM manifest", [], |row| row.get(0))?;
    let damage = verify::damage(&snapshot, sealed)?;
    let count = |table| {
        let count = snapshot.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        (table, count.unwrap_or(0))
    };
    let rows = REPLACED.into_iter().chain(GROWING).map(|part| count(part.table)).collect();
    let pages: Vec<String> = snapshot
        .prepare("PRAGMA integrity_check(5)")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    let untrue = pages.into_iter().filter(|line| line != "ok").collect();
    Ok(Checked { format, sealed, rows, damage, untrue, accounted: false })
}
