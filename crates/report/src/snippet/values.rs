//! What all settings are written with: the limits as whole numbers, and comments.

use plimsoll_analyze::Protection;

/// The limits as whole numbers, as settings have them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    /// Requests a second.
    pub(super) rate: u64,
    pub(super) burst: u64,
    pub(super) concurrency: u64,
    pub(super) wait_ms: u64,
    /// Requests that a bucket is filled with each time, and how often it is filled.
    pub(super) fill: u64,
    pub(super) fill_ms: u64,
}

impl Values {
    pub(super) fn new(limits: &Protection) -> Self {
        let rate = (limits.rate_per_sec.floor() as u64).max(1);
        // Of a low rate, a tenth of a second holds too few requests to be a whole number of them.
        let (fill, fill_ms) = if rate >= 20 { (rate / 10, 100) } else { (rate, 1000) };
        Self {
            rate,
            burst: limits.burst,
            concurrency: limits.concurrency,
            wait_ms: (limits.wait_ms.round() as u64).max(1),
            fill,
            fill_ms,
        }
    }
}

/// Comment lines.
pub(super) fn comments(sign: &str, lines: &[impl AsRef<str>]) -> String {
    lines.iter().map(|line| format!("{sign} {}\n", line.as_ref())).collect()
}
