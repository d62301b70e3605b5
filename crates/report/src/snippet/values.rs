//! Helpers for all settings: the limits in the form that programs accept, and comments.

use plimsoll_analyze::Protection;

use crate::words::rounded_down;

/// The limits in the form of settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    /// Requests per second: a whole number from 100 on, two decimals below, so that it is exact within 1 %.
    pub(super) rate: f64,
    pub(super) burst: u64,
    pub(super) concurrency: u64,
    pub(super) wait_ms: u64,
}

/// A number of requests in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) requests: u64,
    pub(super) length_us: u64,
}

impl Values {
    pub(super) fn new(limits: &Protection) -> Self {
        let rate = limits.rate_per_sec;
        Self {
            rate: if rate >= 100.0 { rate.floor() } else { rounded_down(rate, 100.0) },
            burst: limits.burst,
            concurrency: limits.concurrency,
            wait_ms: (limits.wait_ms.round() as u64).max(1),
        }
    }

    /// Returns a period with a whole number of requests at this rate. Its length is rounded, not the number, which for 29
    /// requests/s in 100 ms would be a third too low. It has at least `requests` requests and lasts at least `length_ms`.
    pub(super) fn period(&self, requests: u64, length_ms: u64) -> Period {
        let within = (self.rate * length_ms as f64 / 1e3).ceil() as u64;
        let requests = within.max(requests).max(1);
        Period { requests, length_us: (requests as f64 / self.rate * 1e6).ceil() as u64 }
    }
}

/// Comment lines.
pub(super) fn comments(sign: &str, lines: &[impl AsRef<str>]) -> String {
    lines.iter().map(|line| format!("{sign} {}\n", line.as_ref())).collect()
}
