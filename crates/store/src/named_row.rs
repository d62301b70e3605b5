//! A row whose values are read by column name.

use std::cell::RefCell;
use std::collections::HashMap;

use rusqlite::types::FromSql;
use rusqlite::{Error, Result, Row};

/// The columns of one statement, with a cache of their indexes. SQLite finds a name by comparing it with all columns; done for each
/// value, this would take longer than all the rest of reading a frame.
#[derive(Default)]
pub(crate) struct Columns(RefCell<HashMap<&'static str, usize>>);

impl Columns {
    pub(crate) fn name<'a>(&'a self, row: &'a Row<'a>) -> NamedRow<'a> {
        NamedRow { columns: self, row }
    }
}

/// A row of a statement, with the statement's columns.
pub(crate) struct NamedRow<'a> {
    columns: &'a Columns,
    row: &'a Row<'a>,
}

impl NamedRow<'_> {
    /// # Errors
    /// When there is no such column, or its value has another type.
    pub(crate) fn get<T: FromSql>(&self, column: &'static str) -> Result<T> {
        self.row.get(self.index(column)?)
    }

    /// Returns a value that may be NULL, or whose column may be missing in a file of an older format. In other files the reader has checked
    /// that the column exists.
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
