//! What JVMs and Go programs report on a Prometheus page, by the names that their usual libraries give.

use plimsoll_record::CounterSet;
use plimsoll_record::metric::{go as of_go, jvm as of_jvm};

use super::index::Index;
use super::row::Row;

const MS_PER_SEC: f64 = 1e3;
const US_PER_SEC: f64 = 1e6;

/// A JVM by the names of Micrometer (Spring Boot), or of Prometheus' own Java client and JMX exporter; with its pools of
/// request threads (Tomcat) and of database connections (HikariCP), each summed over all pools.
pub(super) fn jvm(index: &Index<'_>) -> CounterSet {
    let first = |names: [&str; 2], scale: f64| names.into_iter().find_map(|name| index.sum(name, scale));
    let is_heap = |row: &Row<'_>| row.label("area") == Some("heap");
    let heap = |names: [&str; 2]| names.into_iter().find_map(|name| index.sum_of(name, 1.0, is_heap));
    let one = |name: &str| index.sum(name, 1.0);
    CounterSet::from([
        (
            of_jvm::GC_TIME_MS,
            first(["jvm_gc_pause_seconds_sum", "jvm_gc_collection_seconds_sum"], MS_PER_SEC),
        ),
        (of_jvm::GC_COUNT, first(["jvm_gc_pause_seconds_count", "jvm_gc_collection_seconds_count"], 1.0)),
        (of_jvm::HEAP_USED_BYTES, heap(["jvm_memory_used_bytes", "jvm_memory_bytes_used"])),
        (of_jvm::HEAP_MAX_BYTES, heap(["jvm_memory_max_bytes", "jvm_memory_bytes_max"])),
        (of_jvm::THREADS, first(["jvm_threads_live_threads", "jvm_threads_current"], 1.0)),
        (of_jvm::REQUEST_THREADS_BUSY, one("tomcat_threads_busy_threads")),
        (of_jvm::REQUEST_THREADS, one("tomcat_threads_current_threads")),
        (of_jvm::REQUEST_THREADS_MAX, one("tomcat_threads_config_max_threads")),
        (of_jvm::POOL_ACTIVE, one("hikaricp_connections_active")),
        (of_jvm::POOL_PENDING, one("hikaricp_connections_pending")),
        (of_jvm::POOL_MAX, one("hikaricp_connections_max")),
    ])
}

/// A Go program by the names of Prometheus' Go client. Each collection pauses the program twice; the rows with quantiles are
/// not used, only their sum.
pub(super) fn go(index: &Index<'_>) -> CounterSet {
    CounterSet::from([
        (of_go::GOROUTINES, index.sum("go_goroutines", 1.0)),
        (of_go::GC_PAUSE_US, index.sum("go_gc_duration_seconds_sum", US_PER_SEC)),
        (of_go::GC_CYCLES, index.sum("go_gc_duration_seconds_count", 1.0)),
        (of_go::HEAP_BYTES, index.sum("go_memstats_heap_alloc_bytes", 1.0)),
        (of_go::HEAP_RESERVED_BYTES, index.sum("go_memstats_heap_sys_bytes", 1.0)),
    ])
}
