//! The rows of a page by name.

use std::collections::BTreeMap;

use super::row::Row;

/// The rows of a page by name.
pub(super) struct Index<'a> {
    rows: BTreeMap<&'a str, Vec<&'a Row<'a>>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(rows: &'a [Row<'a>]) -> Self {
        let mut index: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
        for row in rows {
            index.entry(row.name).or_default().push(row);
        }
        Self { rows: index }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// All rows of this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'a Row<'a>> + use<'a, '_> {
        self.rows.get(name).into_iter().flatten().copied()
    }

    /// The sum of the rows of this name, in our unit, of which one of theirs has `scale`.
    pub(super) fn sum(&self, name: &str, scale: f64) -> Option<u64> {
        self.sum_of(name, scale, |_| true)
    }

    /// The sum of the rows of this name that pass. A value below zero means "not known" on such pages and is left out;
    /// without any row the sum is `None`.
    pub(super) fn sum_of(&self, name: &str, scale: f64, passes: impl Fn(&Row<'_>) -> bool) -> Option<u64> {
        let rows = self.all(name).filter(|row| passes(row) && row.value >= 0.0);
        let sum = rows.map(|row| row.value).reduce(|sum, value| sum + value)?;
        Some((sum * scale).round() as u64)
    }
}
