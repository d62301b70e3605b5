//! A table of a plan file: its keys, and which of them are known.

use toml::de::{DeTable, DeValue};

use super::entry::Entry;
use super::error::{PlanFileError, Problem, instead, kind, line_of};

/// A table with its place in the file; every key of it is known.
#[derive(Debug, Clone)]
pub(super) struct Section<'s, 'a> {
    text: &'s str,
    table: &'s DeTable<'a>,
    /// The keys that lead here, each with a dot behind it; empty for the whole file.
    path: String,
    line: usize,
}

impl<'s, 'a> Section<'s, 'a> {
    /// The whole file.
    pub(super) fn new(text: &'s str, table: &'s DeTable<'a>, known: &[&str]) -> Result<Self, PlanFileError> {
        Self { text, table, path: String::new(), line: 1 }.with_only(known)
    }

    fn with_only(self, known: &[&str]) -> Result<Self, PlanFileError> {
        let unknown = self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(self) };
        let name = key.get_ref().to_string();
        let place = match self.path.trim_end_matches('.') {
            "" => "a plan file".to_owned(),
            path => format!("[{path}]"),
        };
        let problem = Problem::UnknownKey { instead: instead(&name, known), key: name, place };
        Err(PlanFileError { line: line_of(self.text, key.span().start), problem })
    }

    pub(super) fn table(&self) -> &'s DeTable<'a> {
        self.table
    }

    /// The key and its value, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<Entry<'s, 'a>> {
        let value = self.table.get(key)?;
        let line = line_of(self.text, value.span().start);
        Some(Entry { text: self.text, path: format!("{}{key}", self.path), line, value: value.get_ref() })
    }

    /// The key and its value, which must be there.
    pub(super) fn needed(&self, key: &str) -> Result<Entry<'s, 'a>, PlanFileError> {
        self.get(key).ok_or_else(|| self.missing(key, "it has no usual value"))
    }

    /// An error about a key that is not there.
    pub(super) fn missing(&self, key: &str, why: impl Into<String>) -> PlanFileError {
        let key = format!("{}{key}", self.path);
        PlanFileError { line: self.line, problem: Problem::Missing { key, why: why.into() } }
    }

    /// The line it begins in.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// A table of any names with a text each, in the order of the names: a table of TOML has no other. Empty if the key is
    /// not there.
    pub(super) fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, PlanFileError> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        let DeValue::Table(table) = entry.value else {
            return Err(entry.wrong("a table such as { \"Content-Type\" = \"application/json\" }"));
        };
        let names: Vec<&str> = table.keys().map(|name| name.get_ref().as_ref()).collect();
        let texts = entry.section(&names)?;
        names.iter().map(|name| Ok(((*name).to_owned(), texts.needed(name)?.string()?))).collect()
    }

    /// A table in this one, if it is there.
    pub(super) fn section(&self, key: &str, known: &[&str]) -> Result<Option<Self>, PlanFileError> {
        self.get(key).map(|entry| entry.section(known)).transpose()
    }

    /// The tables of a list of tables; none if the key is not there.
    pub(super) fn sections(&self, key: &str, known: &[&str]) -> Result<Vec<Self>, PlanFileError> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        let tables = format!("a list of tables, each begun by [[{key}]]");
        let DeValue::Array(_) = entry.value else { return Err(entry.wrong(&tables)) };
        entry.items()?.into_iter().map(|item| item.section(known)).collect()
    }

    /// Fails if two of these keys are there.
    pub(super) fn at_most_one(&self, keys: &[&str]) -> Result<(), PlanFileError> {
        let there: Vec<Entry<'s, 'a>> = keys.iter().filter_map(|key| self.get(key)).collect();
        let [first, second, ..] = there.as_slice() else { return Ok(()) };
        Err(first.conflicting(second))
    }
}

impl<'s, 'a> Entry<'s, 'a> {
    /// An error about two values that exclude each other.
    pub(super) fn conflicting(&self, other: &Self) -> PlanFileError {
        let problem = Problem::Both { key: self.path.clone(), other: other.path.clone() };
        PlanFileError { line: self.line.max(other.line), problem }
    }

    /// The value as a table with only these keys.
    pub(super) fn section(self, known: &[&str]) -> Result<Section<'s, 'a>, PlanFileError> {
        let DeValue::Table(table) = self.value else { return Err(self.wrong("a table")) };
        Section { text: self.text, table, path: format!("{}.", self.path), line: self.line }.with_only(known)
    }

    /// An error about this value, by what it is.
    pub(super) fn wrong(&self, expected: &str) -> PlanFileError {
        let found = match self.value {
            DeValue::String(text) => format!("`{text}`"),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            other => kind(other).to_owned(),
        };
        self.wrong_as(&found, expected)
    }

    /// An error about this value, which is called `found`.
    pub(super) fn wrong_as(&self, found: &str, expected: &str) -> PlanFileError {
        let problem =
            Problem::Wrong { key: self.path.clone(), found: found.to_owned(), expected: expected.to_owned() };
        PlanFileError { line: self.line, problem }
    }
}
