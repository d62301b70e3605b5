//! Pages in Prometheus's text format.
//!
//! node_exporter's page holds the same data as a host's own files, so it becomes the same sources (`cpu`, `core`, `memory` and so
//! on), as if Plimsoll ran there. A JVM's or a Go program's page becomes `jvm` or `go`. All other rows become `prometheus`, as
//! whole numbers whose names include the unit.

use plimsoll_record::metric::{go, jvm};
use plimsoll_record::{CounterSet, Source, Subject};

use super::error::ServerError;
use super::page::Page;
use crate::collector::{Collector, Read};
use row::{Index, Row, rows};

mod any;
pub(super) mod cadvisor;
mod node;
mod row;

/// Returns a collector of one page, which may yield several sources. A page that cannot be read fails as `prometheus`.
pub(super) fn collector(url: &str) -> Collector {
    let page = Page::new(url);
    Collector::new(move || {
        page_reads(&page).unwrap_or_else(|error| {
            let failed = error.at(&format!("prometheus page at {}", page.address()));
            vec![Read::new(Source::Prometheus, Subject::Named(page.address()), Err(failed))]
        })
    })
}

fn page_reads(page: &Page) -> Result<Vec<Read>, ServerError> {
    read(&page.text()?, page.address())
}

/// Parses the text of a page into reads.
pub(super) fn read(text: &str, address: &str) -> Result<Vec<Read>, ServerError> {
    let rows = rows(text).filter(|rows| !rows.is_empty());
    let rows = rows.ok_or_else(|| ServerError::unexpected(text, "a page in Prometheus's text form"))?;
    let reads = reads(&rows, address);
    if reads.is_empty() {
        return Err(ServerError::unexpected(
            text,
            "a page with counters, or with gauges that are not below zero",
        ));
    }
    Ok(reads)
}

/// Converts the rows of a page to reads.
fn reads(rows: &[Row<'_>], address: &str) -> Vec<Read> {
    let index = Index::new(rows);
    if index.has("node_cpu_seconds_total") {
        return node::reads(&index);
    }
    let sources = [
        (Source::Jvm, jvm_counters(&index)),
        (Source::Go, go_counters(&index)),
        (Source::Prometheus, any::counters(rows)),
    ];
    let sources = sources.into_iter().filter(|(_, counters)| !counters.is_empty());
    sources.map(|(source, counters)| Read::new(source, Subject::Named(address), Ok(counters))).collect()
}

/// Returns the counters of a JVM, by the names of Micrometer (Spring Boot) or of Prometheus's Java client and JMX exporter. Pools
/// of request threads (Tomcat) and of database connections (HikariCP) are each summed over all pools.
fn jvm_counters(index: &Index<'_>) -> CounterSet {
    let first = |names: [&str; 2], scale: f64| names.into_iter().find_map(|name| index.sum(name, scale));
    let is_heap = |row: &Row<'_>| row.label("area") == Some("heap");
    let heap = |names: [&str; 2]| names.into_iter().find_map(|name| index.sum_of(name, 1.0, is_heap));
    let one = |name: &str| index.sum(name, 1.0);
    CounterSet::from([
        (jvm::GC_TIME_MS, first(["jvm_gc_pause_seconds_sum", "jvm_gc_collection_seconds_sum"], 1e3)),
        (jvm::GC_COUNT, first(["jvm_gc_pause_seconds_count", "jvm_gc_collection_seconds_count"], 1.0)),
        (jvm::HEAP_USED_BYTES, heap(["jvm_memory_used_bytes", "jvm_memory_bytes_used"])),
        (jvm::HEAP_MAX_BYTES, heap(["jvm_memory_max_bytes", "jvm_memory_bytes_max"])),
        (jvm::THREADS, first(["jvm_threads_live_threads", "jvm_threads_current"], 1.0)),
        (jvm::REQUEST_THREADS_BUSY, one("tomcat_threads_busy_threads")),
        (jvm::REQUEST_THREADS, one("tomcat_threads_current_threads")),
        (jvm::REQUEST_THREADS_MAX, one("tomcat_threads_config_max_threads")),
        (jvm::POOL_ACTIVE, one("hikaricp_connections_active")),
        (jvm::POOL_PENDING, one("hikaricp_connections_pending")),
        (jvm::POOL_MAX, one("hikaricp_connections_max")),
    ])
}

/// Returns the counters of a Go program, by the names of Prometheus's Go client. Each collection pauses the program twice. Only
/// the sum of the pauses is used, not their quantiles.
fn go_counters(index: &Index<'_>) -> CounterSet {
    CounterSet::from([
        (go::GOROUTINES, index.sum("go_goroutines", 1.0)),
        (go::GC_PAUSE_US, index.sum("go_gc_duration_seconds_sum", 1e6)),
        (go::GC_CYCLES, index.sum("go_gc_duration_seconds_count", 1.0)),
        (go::HEAP_BYTES, index.sum("go_memstats_heap_alloc_bytes", 1.0)),
        (go::HEAP_RESERVED_BYTES, index.sum("go_memstats_heap_sys_bytes", 1.0)),
    ])
}

#[cfg(test)]
mod tests;
