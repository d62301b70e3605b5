//! Advice about pools, connections and policies.

use plimsoll_analyze::{Place, PlaceCount};
use plimsoll_units::{count_text, significant};

use crate::words::phrase::{placed, places, whole};

/// Advice about something that limits throughput without being busy, and is neither a pool nor a lock.
pub(super) fn held_back(per_sec: f64) -> String {
    format!(
        "if nothing there is set to that, look for a rate limit that delays requests or a shaped link. Either holds \
         throughput at {} requests/s whatever the load",
        count_text(per_sec)
    )
}

pub(super) fn larger_pool(owners: &[PlaceCount], size: f64) -> String {
    let workers = size.round().max(1.0);
    let grow = if workers < 2.0 { "double, or grow" } else { "grow by half, or" };
    format!(
        "raise the pool in {} from about {} to {} and repeat the load. Throughput should {grow} up to the next limit",
        places(owners),
        whole(size),
        whole((1.5 * size).max(workers + 1.0))
    )
}

pub(super) fn no_delay(owners: &[PlaceCount]) -> String {
    format!(
        "set TCP_NODELAY in {}, or send head and body of an answer at once, and repeat the load. Each answer should come \
         40 ms earlier",
        places(owners)
    )
}

pub(super) fn watch_dependency(place: &Place, at_once: f64) -> String {
    format!(
        "watch {} too (--probe), or measure it alone. It serves about {} requests at once now",
        placed(place),
        significant(at_once)
    )
}

pub(super) fn more_descriptors(host: &str, name: &str) -> String {
    format!("raise the descriptor limit of {name} on {host} (ulimit -n, LimitNOFILE) and repeat the load")
}

pub(super) fn more_connections(host: &str, name: &str) -> String {
    format!("let {name} on {host} have half as many connections again and repeat the load")
}

pub(super) fn track_more(host: &str) -> String {
    format!(
        "raise net.netfilter.nf_conntrack_max on {host}, or do not track the connections of the load, and repeat the load"
    )
}

pub(super) fn longer_backlog(host: &str) -> String {
    format!(
        "raise the backlog of the listener on {host} (listen(), net.core.somaxconn), keep connections alive, and repeat the \
         load"
    )
}

pub(super) fn accept_more(place: &Place, connections: f64) -> String {
    format!(
        "raise the connections that {} may have from {} to {} (maxconn, max-connections) and repeat the load. Throughput \
         should grow by half, or up to the next limit",
        placed(place),
        whole(connections),
        whole(1.5 * connections)
    )
}

pub(super) fn allow_more(place: &Place) -> String {
    format!(
        "raise the connections that {} may have (worker_connections, maxconn, a limit for each client), and repeat \
         the load",
        placed(place)
    )
}

pub(super) fn raise_policy(place: &Place) -> String {
    format!(
        "look for a rate limit, a limit of connections or a bounded queue in {} (limit_req, limit_conn, maxconn). Raise it by \
         half and repeat the load: what is served should grow by half",
        placed(place)
    )
}
