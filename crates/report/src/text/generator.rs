//! The load generator's check of itself.

use plimsoll_analyze::{Findings, GeneratorHealth};
use plimsoll_units::duration_text;

use super::amount::{count_of, seconds};
use super::paragraph::wrapped;
use crate::reason::{self, percent};

/// With more of the connections open than this ratio nothing is said of the rest.
const OPEN_RATIO_NOTED: f64 = 0.95;

/// One line: healthy or not and why, and the figures it rests on.
pub(super) fn line(findings: &Findings) -> String {
    let health = &findings.generator;
    if findings.steps.is_empty() {
        return String::new();
    }
    let state = if health.healthy() { "healthy".to_owned() } else { unhealthy(health) };
    wrapped("", "  ", &format!("Load generator: {state}. {}", figures(health)))
}

fn unhealthy(health: &GeneratorHealth) -> String {
    let reasons: Vec<String> = health.reasons.iter().map(reason::text).collect();
    format!("NOT healthy, its figures are lower bounds: {}", reasons.join("; "))
}

fn figures(health: &GeneratorHealth) -> String {
    let open = health.open_ratio.filter(|ratio| *ratio < OPEN_RATIO_NOTED);
    let open = open.map(|ratio| format!(", {} of the connections were open on average", percent(ratio)));
    let law = health.littles_law_error.map(|error| format!(", Little's law holds within {}", percent(error)));
    format!(
        "{}, the busiest used {} of a core and waited for a CPU {} of the time; {} of CPU in all, {} of it in \
         the kernel; requests left {} late at the median, {} at p99{}{}.",
        count_of(health.workers, "worker"),
        percent(health.busiest_worker_ratio),
        percent(health.starved_ratio),
        seconds(health.cpu_sec),
        seconds(health.kernel_sec),
        duration_text(health.send_lag_p50_ns),
        duration_text(health.send_lag_p99_ns),
        open.unwrap_or_default(),
        law.unwrap_or_default(),
    )
}
