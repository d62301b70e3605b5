//! The service level that a run is judged by.

use serde::{Deserialize, Serialize};

/// A service level objective: each part is optional, and what is not asked for is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Slo {
    /// The 99th percentile of latency stays at or below this, in milliseconds.
    pub p99_ms: Option<f64>,
    /// Successful responses over all requests that ended are at least this ratio.
    pub success_ratio: Option<f64>,
    /// The target serves at least this many requests per second.
    pub throughput_per_sec: Option<f64>,
}

impl Slo {
    /// The reference values for one server: p99 of 500 ms, 99.95 % success, 1000 requests per second.
    pub const REFERENCE: Self =
        Self { p99_ms: Some(500.0), success_ratio: Some(0.9995), throughput_per_sec: Some(1000.0) };

    /// True if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This objective, with what it leaves open taken from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            p99_ms: self.p99_ms.or(other.p99_ms),
            success_ratio: self.success_ratio.or(other.success_ratio),
            throughput_per_sec: self.throughput_per_sec.or(other.throughput_per_sec),
        }
    }
}
