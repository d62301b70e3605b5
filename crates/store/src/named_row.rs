//! A row whose values are taken by the names of their columns.

use std::cell::RefCell;
use std::collections::HashMap;

use rusqlite::types::FromSql;
use rusqlite::{Error, Result, Row};

/// The columns of one statement. Each is looked up once: SQLite compares a name with those of all columns, which for each value
/// takes longer than all the rest of reading a frame.
#[derive(Default)]
pub(crate) struct Columns(RefCell<HashMap<&'static str, usize>>);

impl Columns {
    pub(crate) fn name<'a>(&'a self, row: &'a Row<'a>) -> NamedRow<'a> {
        NamedRow { columns: self, row }
    }
}

/// A row of the statement that has these columns.
pub(crate) struct NamedRow<'a> {
    columns: &'a Columns,
    row: &'a Row<'a>,
}

impl NamedRow<'_> {
    /// # Errors
    /// When there is no such column, or its value is of another type.
    pub(crate) fn get<T: FromSql>(&self, column: &'static str) -> Result<T> {
        self.row.get(self.index(column)?)
    }

    /// A value that may be missing, as may its column in a file of an older format; all others have been found to have it.
    pub(crate) fn get_newer<T: FromSql>(&self, column: &'static str) -> Result<Option<T>> {
        match self.get(column) {
            Err(Error::InvalidColumnName(_)) => Ok(None),
            value => value,
        }
    }

    pub(crate) fn index(&self, column: &'static str) -> Result<usize> {
        let known = self.columns.0.borrow().get(column).copied();
        if let Some(index) = known {
            return Ok(index);
        }
        let index = self.row.as_ref().column_index(column)?;
        self.columns.0.borrow_mut().insert(column, index);
        Ok(index)
    }
}
