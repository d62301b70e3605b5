//! What components tell of themselves.

use plimsoll_units::{bytes_text, count_text};

use super::row::{Row, level_text, percent};
use super::window::{Seen, Window};

/// How a counter reads.
#[derive(Clone, Copy)]
enum Form {
    /// Its growth a second.
    Rate(&'static str),
    /// Its growth in microseconds a second, as a share of one core or of the time.
    Share(&'static str),
    /// As [`Form::Share`], in milliseconds.
    ShareMs(&'static str),
    /// A level, of another one where that is known.
    Level(&'static str, Option<&'static str>),
    /// A level in bytes, of another one where that is known.
    Bytes(&'static str, Option<&'static str>),
    /// Its growth a second, which is told only if there is any, and is notable then.
    Trouble(&'static str),
}

use Form::{Bytes, Level, Rate, Share, ShareMs, Trouble};

/// The counters of each component that are shown.
type Shown = &'static [(&'static str, Form)];

const COMPONENTS: [(&str, Shown); 6] = [
    (
        "nginx",
        &[
            ("requests", Rate("requests/s")),
            ("accepts", Rate("accepted/s")),
            ("active", Level("connections", None)),
            ("writing", Level("writing", None)),
            ("waiting", Level("idle", None)),
        ],
    ),
    (
        "redis",
        &[
            ("commands", Rate("commands/s")),
            ("cpu_us", Share("of a core")),
            ("main_thread_cpu_us", Share("of a core by its main thread")),
            ("connected_clients", Level("clients", Some("max_clients"))),
            ("blocked_clients", Level("blocked", None)),
            ("used_memory_bytes", Bytes("in use", Some("maxmemory_bytes"))),
            ("rejected_connections", Trouble("connections rejected/s")),
            ("evicted_keys", Trouble("keys evicted/s")),
        ],
    ),
    (
        "memcached",
        &[
            ("commands_get", Rate("gets/s")),
            ("commands_set", Rate("sets/s")),
            ("cpu_us", Share("of a core")),
            ("curr_connections", Level("connections", Some("max_connections"))),
            ("threads", Level("threads", None)),
            ("items_bytes", Bytes("in use", Some("limit_bytes"))),
            ("listen_disabled", Trouble("times/s too many connections")),
            ("evictions", Trouble("evictions/s")),
        ],
    ),
    (
        "mariadb",
        &[
            ("questions", Rate("questions/s")),
            ("threads_running", Level("threads running", None)),
            ("threads_connected", Level("connections", Some("max_connections"))),
            ("commits", Rate("commits/s")),
            ("innodb_os_log_fsyncs", Rate("log fsyncs/s")),
            ("innodb_row_lock_time_ms", ShareMs("of the time waiting for row locks")),
            ("innodb_row_lock_waits", Trouble("waits for row locks/s")),
            ("connection_errors_max_connections", Trouble("connections refused/s")),
        ],
    ),
    (
        "go",
        &[
            ("goroutines", Level("goroutines", None)),
            ("gc_cycles", Rate("collections/s")),
            ("gc_pause_us", Share("of the time stopped for them")),
            ("heap_bytes", Bytes("heap", None)),
        ],
    ),
    (
        "jvm",
        &[
            ("threads", Level("threads", None)),
            ("gc_count", Rate("collections/s")),
            ("gc_time_ms", ShareMs("of the time in them")),
            ("heap_used_bytes", Bytes("heap", Some("heap_max_bytes"))),
            ("request_threads_busy", Level("request threads busy", Some("request_threads_max"))),
            ("pool_active", Level("pooled connections busy", Some("pool_max"))),
        ],
    ),
];

pub(super) fn rows(window: &Window<'_>) -> Vec<Row> {
    let known = COMPONENTS.iter().flat_map(|(source, shown)| {
        window.all(source).map(|component| row(source, &component, shown)).collect::<Vec<_>>()
    });
    let pages = window.all("prometheus").map(|page| {
        Row::new(
            "prometheus",
            format!("{} {} numbers; --stream shows them", page.subject, page.names().count()),
        )
    });
    known.chain(pages).collect()
}

fn row(label: &'static str, component: &Seen<'_>, shown: Shown) -> Row {
    let told = |(name, form): &(&str, Form)| told(component, name, *form);
    let parts: Vec<String> = shown.iter().filter_map(told).collect();
    let troubled =
        shown.iter().any(|(name, form)| matches!(form, Trouble(_)) && told(&(name, *form)).is_some());
    Row::new(label, format!("{} {}", component.subject, parts.join(", "))).notable(troubled)
}

fn told(component: &Seen<'_>, name: &str, form: Form) -> Option<String> {
    let of = |limit: Option<&str>, text: fn(f64) -> String| {
        let limit = limit.and_then(|limit| component.level(limit));
        limit.map_or_else(String::new, |limit| format!(" of {}", text(limit)))
    };
    Some(match form {
        Rate(unit) => format!("{} {unit}", count_text(component.per_sec(name)?)),
        Share(what) => format!("{} {what}", percent(component.share_us(name)?)),
        ShareMs(what) => format!("{} {what}", percent(component.per_sec(name)? / 1e3)),
        Level(what, limit) => {
            format!("{}{} {what}", level_text(component.level(name)?), of(limit, level_text))
        }
        Bytes(what, limit) => {
            format!("{}{} {what}", bytes_text(component.level(name)?), of(limit, bytes_text))
        }
        Trouble(what) => {
            format!("{} {what}", count_text(component.per_sec(name).filter(|count| *count > 0.0)?))
        }
    })
}
