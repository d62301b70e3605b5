//! Pages in Prometheus's text form.
//!
//! node_exporter's page tells what a host's own files tell, so it becomes the same sources: `cpu`, `core`, `memory` and so
//! on, as if Plimsoll ran there. A JVM's or a Go program's page becomes `jvm` or `go`. What else a page holds is kept as
//! `prometheus`, in whole numbers whose names say their unit.

use std::collections::BTreeMap;

use plimsoll_record::Reading;

use super::page::Page;
use super::trouble::Trouble;
use crate::source::Counters;

mod any;
mod node;
mod row;
mod runtime;

use row::{Row, rows};

/// One page of one server.
#[derive(Debug)]
pub(crate) struct Prometheus {
    page: Page,
}

/// What one page tells: source, subject, counters.
pub(crate) type Told = Vec<(&'static str, String, Reading)>;

impl Prometheus {
    pub(super) fn new(url: &str) -> Self {
        Self { page: Page::new("prometheus page", url) }
    }

    /// Reads once, for all sources that the page makes. What fails, fails as `prometheus`.
    pub(crate) fn read(&self) -> Told {
        let address = self.page.address();
        self.told(address).unwrap_or_else(|trouble| {
            vec![("prometheus", address.to_owned(), Reading::Failed(trouble.to_string()))]
        })
    }

    fn told(&self, address: &str) -> Result<Told, Trouble> {
        let text = self.page.text()?;
        let rows = rows(&text)
            .filter(|rows| !rows.is_empty())
            .ok_or_else(|| Trouble::strange(self.page.place(), &text, "a page in Prometheus's text form"))?;
        Ok(sources(&rows, address))
    }
}

/// The sources that a page's rows make.
fn sources(rows: &[Row<'_>], address: &str) -> Told {
    let index = Index::new(rows);
    if index.has("node_cpu_seconds_total") {
        return node::sources(&index);
    }
    let (jvm, go) = (runtime::jvm(&index), runtime::go(&index));
    let named = [("jvm", jvm), ("go", go), ("prometheus", any::counters(rows))];
    let named = named.into_iter().filter(|(_, counters)| !counters.is_empty());
    named.map(|(source, counters)| (source, address.to_owned(), Reading::Ok(counters.into()))).collect()
}

/// The rows of a page by name.
struct Index<'a> {
    rows: BTreeMap<&'a str, Vec<&'a Row<'a>>>,
}

impl<'a> Index<'a> {
    fn new(rows: &'a [Row<'a>]) -> Self {
        let mut index: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
        for row in rows {
            index.entry(row.name).or_default().push(row);
        }
        Self { rows: index }
    }

    fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// All rows of this name.
    fn all(&self, name: &str) -> impl Iterator<Item = &'a Row<'a>> + use<'a, '_> {
        self.rows.get(name).into_iter().flatten().copied()
    }

    /// The sum of the rows of this name that pass, as a whole number of `1/scale` units. What is below zero stands for «not
    /// known» on such pages and is left out; no row at all is no sum.
    fn sum(&self, name: &str, scale: f64, passes: impl Fn(&Row<'_>) -> bool) -> Option<u64> {
        let rows = self.all(name).filter(|row| passes(row) && row.value >= 0.0);
        let sum = rows.map(|row| row.value).reduce(|sum, value| sum + value)?;
        Some((sum * scale).round() as u64)
    }
}

/// Counters out of what may be known.
fn known<const N: usize>(values: [(&str, Option<u64>); N]) -> Counters {
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests;
