//! Runs against one of them, as `plimsoll diff` and `plimsoll profile --diff` set two against each other.

use plimsoll_analyze::{BestComparison, Comparison, ComparisonRow};
use plimsoll_profile::{Change, Micros, difference};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite, ms};
use crate::ProfiledRun;

/// Runs against one of them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonDocument {
    /// The run that the others are compared with.
    pub against: String,
    /// True if its throughputs are lower bounds: the generator was the limit.
    pub lower_bound: bool,
    /// The others. All ratios are theirs over those of the one.
    pub runs: Vec<ComparedDocument>,
}

/// One run against another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedDocument {
    /// What it is called.
    pub name: String,
    /// True if its throughputs are lower bounds: the generator was the limit.
    pub lower_bound: bool,
    /// The steps of highest throughput; null if one of both has none.
    pub best: Option<BestDocument>,
    /// Every number of connections of either.
    pub rows: Vec<ComparisonRowDocument>,
    /// CPU time of a request, function by function; null unless both have a profile.
    pub cpu: Option<CpuDifferenceDocument>,
}

/// The best of each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BestDocument {
    /// Requests per second.
    pub throughput_per_sec: Option<f64>,
    /// Connections of that step.
    pub connections: u32,
    /// Requests per second of the other.
    pub against_per_sec: Option<f64>,
    /// Connections of that step.
    pub against_connections: u32,
    /// One over the other.
    pub throughput_ratio: Option<f64>,
    /// The 95 % interval of that.
    pub throughput_ratio_interval: Option<[f64; 2]>,
}

/// One number of connections. What only one of both has is null for the other.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonRowDocument {
    /// Connections.
    pub connections: u32,
    /// Requests per second.
    pub throughput_per_sec: Option<f64>,
    /// Requests per second of the other.
    pub against_per_sec: Option<f64>,
    /// One over the other.
    pub throughput_ratio: Option<f64>,
    /// The 95 % interval of that.
    pub throughput_ratio_interval: Option<[f64; 2]>,
    /// Mean response time.
    pub mean_ms: Option<f64>,
    /// Mean response time of the other.
    pub against_mean_ms: Option<f64>,
    /// One over the other.
    pub mean_ratio: Option<f64>,
    /// Successful responses over everything that ended.
    pub success: Option<f64>,
    /// That of the other.
    pub against_success: Option<f64>,
}

/// What a request costs more, in CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuDifferenceDocument {
    /// CPU time of a request.
    pub us: Option<f64>,
    /// That of the other.
    pub against_us: Option<f64>,
    /// The functions that differ by more than their samples leave open, the largest difference first.
    pub functions: Vec<FunctionDifferenceDocument>,
}

/// One function, for each request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FunctionDifferenceDocument {
    /// Its name.
    pub function: String,
    /// CPU time in it and in what it called.
    pub us: Option<f64>,
    /// That of the other.
    pub against_us: Option<f64>,
    /// One minus the other.
    pub difference_us: Option<f64>,
    /// What the number of samples leaves open of that, 95 %.
    pub difference_us_interval: Option<[f64; 2]>,
    /// The difference in the function itself.
    pub flat_difference_us: Option<f64>,
    /// What the number of samples leaves open of that, 95 %.
    pub flat_difference_us_interval: Option<[f64; 2]>,
}

/// What the number of samples leaves open.
pub(super) fn left_open(micros: Micros) -> Option<[f64; 2]> {
    bounds(Some((micros.value - micros.half, micros.value + micros.half)))
}

impl ComparedDocument {
    /// A run, A of the comparison, under this name; with the profiles of both if there are two.
    pub fn of(
        (name, lower_bound): (&str, bool),
        comparison: &Comparison,
        profiles: Option<(&ProfiledRun, &ProfiledRun)>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            lower_bound,
            best: comparison.best.as_ref().map(BestDocument::of),
            rows: comparison.rows.iter().map(ComparisonRowDocument::of).collect(),
            cpu: profiles.map(|(a, b)| CpuDifferenceDocument::of(a, b)),
        }
    }
}

impl BestDocument {
    fn of(best: &BestComparison) -> Self {
        Self {
            throughput_per_sec: finite(best.a.throughput.value),
            connections: best.a.connections,
            against_per_sec: finite(best.b.throughput.value),
            against_connections: best.b.connections,
            throughput_ratio: finite(best.throughput_ratio.value),
            throughput_ratio_interval: bounds(best.throughput_ratio.interval),
        }
    }
}

impl ComparisonRowDocument {
    fn of(row: &ComparisonRow) -> Self {
        let ratio = row.throughput_ratio;
        Self {
            connections: row.connections,
            throughput_per_sec: row.a.and_then(|a| finite(a.throughput.value)),
            against_per_sec: row.b.and_then(|b| finite(b.throughput.value)),
            throughput_ratio: ratio.and_then(|ratio| finite(ratio.value)),
            throughput_ratio_interval: bounds(ratio.and_then(|ratio| ratio.interval)),
            mean_ms: row.a.and_then(|a| ms(a.mean_latency_ns)),
            against_mean_ms: row.b.and_then(|b| ms(b.mean_latency_ns)),
            mean_ratio: row.latency_ratio.and_then(finite),
            success: row.a.and_then(|a| finite(a.success_ratio)),
            against_success: row.b.and_then(|b| finite(b.success_ratio)),
        }
    }
}

impl CpuDifferenceDocument {
    fn of(a: &ProfiledRun, b: &ProfiledRun) -> Self {
        let (side_a, side_b) = (a.per_request(), b.per_request());
        let changes = difference(&side_a, &side_b);
        let told = changes.iter().filter(|change| change.cumulative.is_certain());
        Self {
            us: finite(side_a.total().value),
            against_us: finite(side_b.total().value),
            functions: told.map(FunctionDifferenceDocument::of).collect(),
        }
    }
}

impl FunctionDifferenceDocument {
    fn of(change: &Change<'_>) -> Self {
        Self {
            function: change.name.to_owned(),
            us: finite(change.cumulative_a.value),
            against_us: finite(change.cumulative_b.value),
            difference_us: finite(change.cumulative.value),
            difference_us_interval: left_open(change.cumulative),
            flat_difference_us: finite(change.flat.value),
            flat_difference_us_interval: left_open(change.flat),
        }
    }
}
