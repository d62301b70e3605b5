//! Runs compared with one of them, as by `plimsoll diff` and `plimsoll profile --diff`.

use plimsoll_analyze::{BestComparison, Comparison, ComparisonRow};

use super::document::{Interval, document, each, ms, value};
use super::profile::CpuDifferenceDocument;
use crate::ProfiledRun;

document! {
    /// Runs compared with one of them.
    pub struct ComparisonDocument(against: &str, lower_bound: bool, runs: Vec<ComparedDocument>) {
        /// The run that the others are compared with.
        against: String = against,
        /// True if its throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The others. Every ratio is theirs over that of the one.
        runs: Vec<ComparedDocument> = runs,
    }
}

document! {
    /// One run against another.
    pub struct ComparedDocument(
        name: &str,
        lower_bound: bool,
        comparison: &Comparison,
        profiles: Option<(&ProfiledRun, &ProfiledRun)>,
    ) {
        /// Its name.
        name: String = name,
        /// True if its throughputs are lower bounds: the generator was the limit.
        lower_bound: bool = lower_bound,
        /// The steps of highest throughput; null if one of the two has none.
        best: Option<BestDocument> = comparison.best.as_ref().map(BestDocument::new),
        /// Every number of connections of either run.
        rows: Vec<ComparisonRowDocument> = each(&comparison.rows, ComparisonRowDocument::new),
        /// CPU time of a request, function by function; null unless both have a profile.
        cpu: Option<CpuDifferenceDocument> = profiles.map(|(a, b)| CpuDifferenceDocument::new(a, b)),
    }
}

document! {
    /// The best step of each.
    pub struct BestDocument(best: &BestComparison) {
        /// Requests per second.
        throughput_per_sec: f64 = best.a.throughput.value,
        /// Connections of that step.
        connections: u32 = best.a.connections,
        /// Requests per second of the other.
        against_per_sec: f64 = best.b.throughput.value,
        /// Connections of that step.
        against_connections: u32 = best.b.connections,
        /// One over the other.
        throughput_ratio: f64 = best.throughput_ratio.value,
        /// The 95 % interval of that.
        throughput_ratio_interval: Interval = best.throughput_ratio,
    }
}

document! {
    /// One number of connections. The figures of a run that did not measure it are null.
    pub struct ComparisonRowDocument(row: &ComparisonRow) {
        /// Connections.
        connections: u32 = row.connections,
        /// Requests per second.
        throughput_per_sec: Option<f64> = row.a.map(|a| a.throughput.value),
        /// Requests per second of the other.
        against_per_sec: Option<f64> = row.b.map(|b| b.throughput.value),
        /// One over the other.
        throughput_ratio: Option<f64> = value(row.throughput_ratio),
        /// The 95 % interval of that.
        throughput_ratio_interval: Interval = row.throughput_ratio,
        /// Mean response time.
        mean_ms: Option<f64> = row.a.map(|a| ms(a.mean_latency_ns)),
        /// Mean response time of the other.
        against_mean_ms: Option<f64> = row.b.map(|b| ms(b.mean_latency_ns)),
        /// One over the other.
        mean_ratio: Option<f64> = row.latency_ratio,
        /// Successful responses over all requests that ended.
        success: Option<f64> = row.a.map(|a| a.success_ratio),
        /// That of the other.
        against_success: Option<f64> = row.b.map(|b| b.success_ratio),
    }
}
