//! What components report about themselves.

use plimsoll_record::metric::{go, jvm, mariadb, memcached, nginx, redis};
use plimsoll_record::{Metric, MetricKind, Source, Unit};
use plimsoll_units::{bytes_text, count_text};

use super::row::{Row, level_text, percent};
use super::window::{SampledSubject, Window};
use crate::amount::{if_known, list};

/// A metric of a component to show: a counter as its growth per second, a counter of time as a share of the elapsed time,
/// a gauge as its value.
struct Shown {
    metric: Metric,
    /// The text after the value: what the metric counts.
    what: &'static str,
    limit: Option<Metric>,
    /// True if it is shown only when it grows, and is then notable.
    trouble: bool,
}

const fn shown(metric: Metric, what: &'static str) -> Shown {
    Shown { metric, what, limit: None, trouble: false }
}

/// A gauge that is shown with its limit.
const fn limited(metric: Metric, what: &'static str, limit: Metric) -> Shown {
    Shown { limit: Some(limit), ..shown(metric, what) }
}

const fn trouble(metric: Metric, what: &'static str) -> Shown {
    Shown { trouble: true, ..shown(metric, what) }
}

const COMPONENTS: [Source; 6] =
    [Source::Nginx, Source::Redis, Source::Memcached, Source::Mariadb, Source::Go, Source::Jvm];

const SHOWN: [Shown; 39] = [
    shown(nginx::REQUESTS, "requests/s"),
    shown(nginx::ACCEPTS, "accepted/s"),
    shown(nginx::ACTIVE, "connections"),
    shown(nginx::WRITING, "writing"),
    shown(nginx::WAITING, "idle"),
    shown(redis::COMMANDS, "commands/s"),
    shown(redis::CPU_US, "of a core"),
    shown(redis::MAIN_THREAD_CPU_US, "of a core by its main thread"),
    limited(redis::CONNECTED_CLIENTS, "clients", redis::MAX_CLIENTS),
    shown(redis::BLOCKED_CLIENTS, "blocked"),
    limited(redis::USED_MEMORY_BYTES, "in use", redis::MAXMEMORY_BYTES),
    trouble(redis::REJECTED_CONNECTIONS, "connections rejected/s"),
    trouble(redis::EVICTED_KEYS, "keys evicted/s"),
    shown(memcached::COMMANDS_GET, "gets/s"),
    shown(memcached::COMMANDS_SET, "sets/s"),
    shown(memcached::CPU_US, "of a core"),
    limited(memcached::CURR_CONNECTIONS, "connections", memcached::MAX_CONNECTIONS),
    shown(memcached::THREADS, "threads"),
    limited(memcached::ITEMS_BYTES, "in use", memcached::LIMIT_BYTES),
    trouble(memcached::LISTEN_DISABLED, "times/s too many connections"),
    trouble(memcached::EVICTIONS, "evictions/s"),
    shown(mariadb::QUESTIONS, "questions/s"),
    shown(mariadb::THREADS_RUNNING, "threads running"),
    limited(mariadb::THREADS_CONNECTED, "connections", mariadb::MAX_CONNECTIONS),
    shown(mariadb::COMMITS, "commits/s"),
    shown(mariadb::INNODB_OS_LOG_FSYNCS, "log fsyncs/s"),
    shown(mariadb::INNODB_ROW_LOCK_TIME_MS, "of the time waiting for row locks"),
    trouble(mariadb::INNODB_ROW_LOCK_WAITS, "waits for row locks/s"),
    trouble(mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS, "connections refused/s"),
    shown(go::GOROUTINES, "goroutines"),
    shown(go::GC_CYCLES, "collections/s"),
    shown(go::GC_PAUSE_US, "of the time stopped for them"),
    shown(go::HEAP_BYTES, "heap"),
    shown(jvm::THREADS, "threads"),
    shown(jvm::GC_COUNT, "collections/s"),
    shown(jvm::GC_TIME_MS, "of the time in them"),
    limited(jvm::HEAP_USED_BYTES, "heap", jvm::HEAP_MAX_BYTES),
    limited(jvm::REQUEST_THREADS_BUSY, "request threads busy", jvm::REQUEST_THREADS_MAX),
    limited(jvm::POOL_ACTIVE, "pooled connections busy", jvm::POOL_MAX),
];

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let known =
        COMPONENTS.into_iter().flat_map(|source| window.all(source).map(move |seen| row(source, &seen)));
    let pages = window.all(Source::Prometheus).map(|page| {
        let text = format!("{} {} numbers; --stream shows them", page.subject, page.made_levels().count());
        Row::new(Source::Prometheus.name(), text)
    });
    known.chain(pages).collect()
}

fn row(source: Source, component: &SampledSubject<'_>) -> Row {
    let of_source = SHOWN.iter().filter(|shown| shown.metric.source == source);
    let values: Vec<(&Shown, String)> =
        of_source.filter_map(|shown| Some((shown, value(component, shown)?))).collect();
    let parts = list(values.iter().map(|(shown, value)| format!("{value} {}", shown.what)), ", ");
    let notable = values.iter().any(|(shown, _)| shown.trouble);
    Row::new(source.name(), format!("{} {parts}", component.subject)).notable(notable)
}

fn value(component: &SampledSubject<'_>, shown: &Shown) -> Option<String> {
    let per_sec = || component.per_sec(shown.metric).filter(|rate| !shown.trouble || *rate > 0.0);
    let level = |text: fn(f64) -> String| {
        let limit = shown.limit.and_then(|limit| component.level(limit));
        let limit = if_known(limit, |limit| format!(" of {}", text(limit)));
        Some(format!("{}{limit}", text(component.level(shown.metric)?)))
    };
    match (shown.metric.kind, shown.metric.unit) {
        (MetricKind::Counter, Unit::Us) => Some(percent(per_sec()? / 1e6)),
        (MetricKind::Counter, Unit::Ms) => Some(percent(per_sec()? / 1e3)),
        (MetricKind::Counter, _) => Some(count_text(per_sec()?)),
        (MetricKind::Gauge, Unit::Bytes) => level(bytes_text),
        (MetricKind::Gauge, _) => level(level_text),
    }
}
