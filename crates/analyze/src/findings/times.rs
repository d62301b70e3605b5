//! Distributions of times.

/// A percentile with its interval; the value is `None` where there are too few samples to know it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Percentile {
    pub ns: Option<f64>,
    /// Its 95 % interval in nanoseconds, by order statistics.
    pub interval_ns: Option<(f64, f64)>,
}

/// The distribution of one kind of time over a step, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSummary {
    pub count: u64,
    pub mean_ns: f64,
    pub stdev_ns: f64,
    pub min_ns: f64,
    pub max_ns: f64,
    pub p50: Percentile,
    pub p75: Percentile,
    pub p90: Percentile,
    pub p95: Percentile,
    pub p99: Percentile,
    pub p999: Percentile,
}

impl TimeSummary {
    /// The percentiles with their ranks in per cent, lowest first.
    pub fn percentiles(&self) -> [(f64, Percentile); 6] {
        [
            (50.0, self.p50),
            (75.0, self.p75),
            (90.0, self.p90),
            (95.0, self.p95),
            (99.0, self.p99),
            (99.9, self.p999),
        ]
    }
}
