//! Advice about the load, the generator, and requests that failed.

use plimsoll_analyze::ResourceId;
use plimsoll_units::duration_text;

use crate::amount::{connections, counted};
use crate::words::phrase::resource_name;

pub(super) const NOTHING_RAN: &str = "the run ended before its first step: run it again";

pub(super) const NOTHING_ENDED: &str = "no request ended: let the run last longer than one answer takes";

pub(super) const SWEEP: &str =
    "one level of load cannot show a limit: plimsoll URL climbs until throughput stops growing";

pub(super) const HIGHER_RATE: &str = "the target keeps up with this rate: raise -R to find the highest";

pub(super) const TOO_SHORT: &str = "the measurement is too short to find a limit: give the load more time (-d, --step), \
     or more requests (-n)";

pub(super) const LONGER_RUN: &str = "an answer takes longer than the load lasted: use a longer -d";

pub(super) const LONGER_STEPS: &str = "an answer takes longer than a step: use a longer --step";

pub(super) const LONGER_BUDGET: &str = "an answer takes longer than a step: use a longer --budget";

pub(super) const BEGIN_LOWER: &str = "begin the ladder lower if it did not begin at 1 connection, and watch the generator's own \
     link. Throughput was the same from the lowest load on, as with a lock, a pool, a policy that delays requests or a link";

pub(super) const SOMETHING_ELSE: &str = "look for what else holds requests back: what is named as an alternative or as \
     the next limit, and hosts and components that were not sampled";

pub(super) fn target_lost(at_sec: f64) -> String {
    format!(
        "look at the target's log and at its process: it answered until {} after the run began, then it was gone",
        duration_text(at_sec * 1e9)
    )
}

/// Advice for a status that is no success.
pub(super) fn status(status: u16) -> String {
    match status {
        401 | 403 => {
            format!("status {status}: does the target want credentials? add them with -H 'Authorization: …'")
        }
        404 | 405 => format!("status {status}: check the path and the method"),
        429 | 503 => format!(
            "status {status}: the target refuses load; look for a rate limit or a full queue in front of it"
        ),
        500..=599 => format!("status {status}: look at the target's log"),
        _ => format!("status {status}: try the request alone and compare"),
    }
}

pub(super) fn more_for_generator(resource: &ResourceId) -> String {
    format!(
        "give the generator more of it ({}), or use a second machine, and repeat the load",
        resource_name(resource)
    )
}

pub(super) fn watch_at_connections(connections: u32) -> String {
    format!(
        "watch the target's CPU, per core, and its network during plimsoll run with -c {connections}: what is full there is \
         the limit. If nothing is, look for a pool or lock, or at what the target calls"
    )
}

pub(super) fn watch_at_rate(per_sec: f64) -> String {
    format!(
        "the target falls behind: watch its CPU, per core, and its network during plimsoll run with -R {per_sec}"
    )
}

/// The time of a request without a queue is known to a few per cent at best, so only whole requests are printed.
pub(super) fn compare_at_once(predicted: f64) -> String {
    format!(
        "compare with the target's cores and pools: it works on about {} at once, and the rest wait (its best throughput × the \
         latency of the lowest step)",
        counted(predicted.round().max(1.0) as u64, "request")
    )
}

pub(super) fn climb(count: u32) -> String {
    format!(
        "throughput was still growing at {}: give the ladder more time or higher steps",
        connections(count)
    )
}
