//! What JVMs and Go programs tell of themselves on a Prometheus page, by the names that their usual libraries give.

use super::{Index, Row, known};
use crate::source::Counters;

fn heap(row: &Row<'_>) -> bool {
    row.label("area") == Some("heap")
}

fn any(_: &Row<'_>) -> bool {
    true
}

/// A JVM by the names of Micrometer (Spring Boot) or of Prometheus's own Java client and JMX exporter; and its pools of
/// request threads (Tomcat) and of database connections (HikariCP), summed over all of them.
pub(super) fn jvm(index: &Index<'_>) -> Counters {
    let first = |names: [&str; 2], scale: f64, passes: fn(&Row<'_>) -> bool| {
        names.into_iter().find_map(|name| index.sum(name, scale, passes))
    };
    let one = |name: &str| index.sum(name, 1.0, any);
    let (ms, each) = (1e3, 1.0);
    known([
        ("gc_time_ms", first(["jvm_gc_pause_seconds_sum", "jvm_gc_collection_seconds_sum"], ms, any)),
        ("gc_count", first(["jvm_gc_pause_seconds_count", "jvm_gc_collection_seconds_count"], each, any)),
        ("heap_used_bytes", first(["jvm_memory_used_bytes", "jvm_memory_bytes_used"], each, heap)),
        ("heap_max_bytes", first(["jvm_memory_max_bytes", "jvm_memory_bytes_max"], each, heap)),
        ("threads", first(["jvm_threads_live_threads", "jvm_threads_current"], each, any)),
        ("request_threads_busy", one("tomcat_threads_busy_threads")),
        ("request_threads", one("tomcat_threads_current_threads")),
        ("request_threads_max", one("tomcat_threads_config_max_threads")),
        ("pool_active", one("hikaricp_connections_active")),
        ("pool_pending", one("hikaricp_connections_pending")),
        ("pool_max", one("hikaricp_connections_max")),
    ])
}

/// A Go program by the names of Prometheus's Go client. Each collection stops the program twice; their quantiles are in
/// the rows of the same name, their sum apart.
pub(super) fn go(index: &Index<'_>) -> Counters {
    let one = |name: &str, scale: f64| index.sum(name, scale, any);
    known([
        ("goroutines", one("go_goroutines", 1.0)),
        ("gc_pause_us", one("go_gc_duration_seconds_sum", 1e6)),
        ("gc_cycles", one("go_gc_duration_seconds_count", 1.0)),
        ("heap_bytes", one("go_memstats_heap_alloc_bytes", 1.0)),
        ("heap_reserved_bytes", one("go_memstats_heap_sys_bytes", 1.0)),
    ])
}
