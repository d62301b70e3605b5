//! A table of a plan file, with a check for unknown keys.

use toml::de::DeTable;

use super::entry::Entry;
use super::error::{PlanFileError, Problem, Result, instead, line_of};

/// A table with its position in the file; all of its keys are known.
#[derive(Debug, Clone)]
pub(super) struct Section<'s> {
    text: &'s str,
    pub(super) table: &'s DeTable<'s>,
    /// The path of keys to this table, each followed by a dot; empty for the whole file.
    path: String,
    /// The line in which the table begins, from 1.
    pub(super) line: usize,
}

impl<'s> Section<'s> {
    /// A section for the whole file.
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

    /// The entry of a key; `None` if the key is missing.
    pub(super) fn get(&self, key: &str) -> Option<Entry<'s>> {
        let value = self.table.get(key)?;
        let line = line_of(self.text, value.span().start);
        Some(Entry { text: self.text, path: format!("{}{key}", self.path), line, value: value.get_ref() })
    }

    /// Reads the value of a key with `of`; `None` if the key is missing.
    pub(super) fn read<T>(&self, key: &str, of: impl FnOnce(&Entry<'s>) -> Result<T>) -> Result<Option<T>> {
        self.get(key).map(|entry| of(&entry)).transpose()
    }

    /// The entry of a key that must be present.
    pub(super) fn needed(&self, key: &str) -> Result<Entry<'s>> {
        self.get(key).ok_or_else(|| self.missing(key, "it has no usual value"))
    }

    /// An error about a missing key.
    pub(super) fn missing(&self, key: &str, why: &str) -> PlanFileError {
        let key = format!("{}{key}", self.path);
        PlanFileError { line: self.line, problem: Problem::Missing { key, why: why.to_owned() } }
    }

    /// A table of arbitrary names, each with a string, sorted by name because a TOML table has no other order. Empty if the key
    /// is missing.
    pub(super) fn pairs(&self, key: &str) -> Result<Vec<(String, String)>> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        let expected = "a table such as { \"Content-Type\" = \"application/json\" }";
        let table = entry.value.as_table().ok_or_else(|| entry.wrong(expected))?;
        let names: Vec<&str> = table.keys().map(|name| name.get_ref().as_ref()).collect();
        let texts = entry.section(&names)?;
        names.iter().map(|name| Ok(((*name).to_owned(), texts.needed(name)?.string()?))).collect()
    }

    /// A table within this one; `None` if the key is missing.
    pub(super) fn section(&self, key: &str, known: &[&str]) -> Result<Option<Self>> {
        self.read(key, |entry| entry.section(known))
    }

    /// The tables of an array of tables; empty if the key is missing.
    pub(super) fn sections(&self, key: &str, known: &[&str]) -> Result<Vec<Self>> {
        let Some(entry) = self.get(key) else { return Ok(Vec::new()) };
        if !entry.value.is_array() {
            return Err(entry.wrong(&format!("a list of tables, each begun by [[{key}]]")));
        }
        entry.items()?.iter().map(|item| item.section(known)).collect()
    }

    /// Fails if more than one of these keys is present.
    pub(super) fn at_most_one(&self, keys: &[&str]) -> Result<()> {
        let there: Vec<Entry<'s>> = keys.iter().filter_map(|key| self.get(key)).collect();
        let [first, second, ..] = there.as_slice() else { return Ok(()) };
        Err(first.conflicting(second))
    }
}

impl<'s> Entry<'s> {
    /// An error about two keys that exclude each other.
    pub(super) fn conflicting(&self, other: &Self) -> PlanFileError {
        let problem = Problem::Both { key: self.path.clone(), other: other.path.clone() };
        PlanFileError { line: self.line.max(other.line), problem }
    }

    /// Reads the value as a table with only these keys.
    pub(super) fn section(&self, known: &[&str]) -> Result<Section<'s>> {
        let table = self.value.as_table().ok_or_else(|| self.wrong("a table"))?;
        Section { text: self.text, table, path: format!("{}.", self.path), line: self.line }.with_only(known)
    }
}
