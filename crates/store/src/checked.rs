//! A run file taken apart for `plimsoll check`: which of its parts are intact.

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
    /// True once the run ended in order.
    pub sealed: bool,
    /// The tables, each with its number of rows.
    pub rows: Vec<(&'static str, u64)>,
    /// Rows that do not match their digests.
    pub damage: Vec<Damage>,
    /// What else cannot be true of it, though every digest matches; also what SQLite finds wrong with its pages.
    pub untrue: Vec<String>,
    /// Every request that was due has ended, well or not. It is not asked of a run that did not end in order, or in which a
    /// worker was left.
    pub accounted: bool,
}

impl Checked {
    /// True if nothing is wrong with the file.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty() && self.untrue.is_empty()
    }
}

/// Examines a run file.
///
/// # Errors
/// When the file is missing, unreadable, not a run file, of another major version, or so damaged that its tables cannot be
/// found.
pub fn check(path: &Path) -> std::result::Result<Checked, StoreError> {
    let mut connection = access::open(path)?;
    let mut checked = examine(&mut connection).map_err(|error| error::reading(path, &error))?;
    match reader::read(path) {
        // The steps that were left out are known only to the reader.
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
