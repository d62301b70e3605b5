//! A table of a plan file: its keys, and which of them are known.

use toml::de::DeTable;

use super::entry::Entry;
use super::error::{PlanFileError, Problem, Result, instead, line_of};

/// A table with its place in the file; every key of it is known.
#[derive(Debug, Clone)]
pub(super) struct Section<'s> {
    text: &'s str,
    pub(super) table: &'s DeTable<'s>,
    /// The keys that lead here, each with a dot behind it; empty for the whole file.
    path: String,
    /// The line it begins in.
    pub(super) line: usize,
}

impl<'s> Section<'s> {
    /// The whole file.
    pub(super) fn new(text: &'s str, table: &'s DeTable<'s>, known: &[&str]) -> Result<Self> {
        Self { text, table, path: String::new(), line: 1 }.with_only(known)
    }

    fn with_only(self, known: &[&str]) -> Result<Self> {
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

    /// The key and its value, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<Entry<'s>> {
        let value = self.table.get(key)?;
        let line = line_of(self.text, value.span().start);
        Some(Entry { text: self.text, path: format!("{}{key}", self.path), line, value: value.get_ref() })
    }

    /// What the key's value says, if it is there.
    pub(super) fn read<T>(&self, key: &str, of: impl FnOnce(&Entry<'s>) -> Result<T>) -> Result<Option<T>> {
        self.get(key).map(|entry| of(&entry)).transpose()
    }

    /// The key and its value, which must be there.
    pub(super) fn needed(&self, key: &str) -> Result<Entry<'s>> {
        self.get(key).ok_or_else(|| self.missing(key, "it has no usual value"))
    }

    /// An error about a key that is not there.
    pub(super) fn missing(&self, key: &str, why: &str) -> PlanFileError {
        let key = format!("{}{key}", self.path);
        PlanFileError { line: self.line, problem: Problem::Missing { key, why: why.to_owned() } }
    }

    /// A table of any names with a text each, in the order of the names: a table of TOML has no other. Empty if the key is
    /// not there.
    pub(super) fn pairs(&self, key: &str) -> Result<Vec<(String, String)>> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        let expected = "a table such as { \"Content-Type\" = \"application/json\" }";
        let table = entry.value.as_table().ok_or_else(|| entry.wrong(expected))?;
        let names: Vec<&str> = table.keys().map(|name| name.get_ref().as_ref()).collect();
        let texts = entry.section(&names)?;
        names.iter().map(|name| Ok(((*name).to_owned(), texts.needed(name)?.string()?))).collect()
    }

    /// A table in this one, if it is there.
    pub(super) fn section(&self, key: &str, known: &[&str]) -> Result<Option<Self>> {
        self.read(key, |entry| entry.section(known))
    }

    /// The tables of a list of tables; none if the key is not there.
    pub(super) fn sections(&self, key: &str, known: &[&str]) -> Result<Vec<Self>> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        if !entry.value.is_array() {
            return Err(entry.wrong(&format!("a list of tables, each begun by [[{key}]]")));
        }
        entry.items()?.iter().map(|item| item.section(known)).collect()
    }

    /// Fails if two of these keys are there.
    pub(super) fn at_most_one(&self, keys: &[&str]) -> Result<()> {
        let there: Vec<Entry<'s>> = keys.iter().filter_map(|key| self.get(key)).collect();
        let [first, second, ..] = there.as_slice() else { return Ok(()) };
        Err(first.conflicting(second))
    }
}

impl<'s> Entry<'s> {
    /// An error about two values that exclude each other.
    pub(super) fn conflicting(&self, other: &Self) -> PlanFileError {
        let problem = Problem::Both { key: self.path.clone(), other: other.path.clone() };
        PlanFileError { line: self.line.max(other.line), problem }
    }

    /// The value as a table with only these keys.
    pub(super) fn section(&self, known: &[&str]) -> Result<Section<'s>> {
        let table = self.value.as_table().ok_or_else(|| self.wrong("a table"))?;
        Section { text: self.text, table, path: format!("{}.", self.path), line: self.line }.with_only(known)
    }
}
