//! Pages in Prometheus's text form.
//!
//! node_exporter's page has what a host's own files have, so that it becomes the same sources: `cpu`, `core`, `memory` and so
//! on, as if Plimsoll ran there. A JVM's or a Go program's page becomes `jvm` or `go`. All other rows become `prometheus`, in
//! whole numbers whose names say their unit.

use plimsoll_record::{Source, Subject};

use super::error::ComponentError;
use super::page::Page;
use crate::collector::{Collector, Read};
use index::Index;
use row::{Row, rows};

mod any;
mod index;
mod node;
mod row;
mod runtime;

/// One page of one server.
#[derive(Debug)]
pub(super) struct Prometheus {
    page: Page,
}

impl Prometheus {
    pub(super) fn new(url: &str) -> Self {
        Self { page: Page::new("prometheus page", url) }
    }

    fn reads(&self) -> Result<Vec<Read>, ComponentError> {
        let text = self.page.text()?;
        let rows = rows(&text).filter(|rows| !rows.is_empty()).ok_or_else(|| {
            ComponentError::unexpected(self.page.place(), &text, "a page in Prometheus's text form")
        })?;
        Ok(reads(&rows, self.page.address()))
    }
}

/// A page becomes several sources; one that cannot be read fails as `prometheus`.
impl Collector for Prometheus {
    fn read(&mut self) -> Vec<Read> {
        self.reads().unwrap_or_else(|error| {
            vec![Read::new(Source::Prometheus, Subject::Named(self.page.address()), Err(error.into()))]
        })
    }
}

/// The reads that a page's rows make.
fn reads(rows: &[Row<'_>], address: &str) -> Vec<Read> {
    let index = Index::new(rows);
    if index.has("node_cpu_seconds_total") {
        return node::reads(&index);
    }
    let sources = [
        (Source::Jvm, runtime::jvm(&index)),
        (Source::Go, runtime::go(&index)),
        (Source::Prometheus, any::counters(rows)),
    ];
    let sources = sources.into_iter().filter(|(_, counters)| !counters.is_empty());
    sources.map(|(source, counters)| Read::new(source, Subject::Named(address), Ok(counters))).collect()
}

#[cfg(test)]
mod tests;
