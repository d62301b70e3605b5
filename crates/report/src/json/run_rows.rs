//! Rows made of runs, and break-evens, which tables have too.

use plimsoll_analyze::{BreakEven, PooledTier, RowRun, RunRows, TableRow, TriedRow};
use schemars::JsonSchema;
use serde::Serialize;

use super::{TierUseDocument, bounds, finite, ms};

/// Where a tier in front begins to stop those behind it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BreakEvenDocument {
    /// The tier in front.
    pub front: String,
    /// What it carries, requests per second.
    pub front_per_sec: Option<f64>,
    /// As far as the rows that it stops differ, and ± 5 % at least.
    pub front_interval: Option<[f64; 2]>,
    /// Requests that are held for less than this are stopped by it.
    pub held_ms: Option<f64>,
    /// Between these it and those behind it are not told apart.
    pub held_interval_ms: Option<[f64; 2]>,
    /// What each of those behind it carries there, requests per second.
    pub each_per_sec: Option<f64>,
    /// Those behind it.
    pub behind: Vec<PooledTierDocument>,
    /// The rows near it, which were not used to foretell it.
    pub trials: Vec<TriedRowDocument>,
}

/// A tier that was measured alone at several times: it carries `at_once` over the time held and `beside_ms`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PooledTierDocument {
    /// Its name.
    pub name: String,
    /// How many requests it serves at once.
    pub at_once: Option<f64>,
    /// How long each takes beside the time that it is held.
    pub beside_ms: Option<f64>,
    /// What it carries where another limit is nearer; null if that was not seen.
    pub most_per_sec: Option<f64>,
}

/// A row near a break-even.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TriedRowDocument {
    /// What the row is called.
    pub label: String,
    /// How long its requests are held.
    pub held_ms: Option<f64>,
    /// What was foretold, requests per second.
    pub foretold_per_sec: Option<f64>,
    /// What it may be: the less of what those behind carry, ± 5 %, and of `front_interval`.
    pub foretold_interval: Option<[f64; 2]>,
    /// What it made.
    pub throughput_per_sec: Option<f64>,
    /// True if that is within the interval.
    pub agrees: bool,
}

/// A row of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRowDocument {
    /// What the row is called.
    pub label: String,
    /// The run.
    pub name: String,
    /// Rows of the same requests.
    pub group: Option<String>,
    /// How long each request was held by order of the test.
    pub held_ms: Option<f64>,
    /// Processors of the machines under test.
    pub cores: Option<f64>,
    /// The highest throughput, requests per second.
    pub throughput_per_sec: Option<f64>,
    /// The 95 % interval of that.
    pub throughput_interval: Option<[f64; 2]>,
    /// True if the generator was the limit.
    pub lower_bound: bool,
    /// Connections of that step.
    pub connections: u32,
    /// Mean response time of that step.
    pub mean_ms: Option<f64>,
    /// Bytes received for each response.
    pub response_bytes: Option<f64>,
    /// Bytes received per second.
    pub bytes_per_sec: Option<f64>,
    /// What passes requests on.
    pub front: Option<String>,
    /// Requests per second of those that were measured alone.
    pub alone: Vec<AloneDocument>,
    /// What limits.
    pub limit: &'static str,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// How well that is founded.
    pub confidence: &'static str,
    /// The tiers.
    pub tiers: Vec<TierUseDocument>,
}

/// What was measured alone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AloneDocument {
    /// The host or the tier.
    pub name: String,
    /// Requests per second.
    pub throughput_per_sec: Option<f64>,
}

/// What the runs of a file say as rows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRowsDocument {
    /// The rows.
    pub rows: Vec<RunRowDocument>,
    /// What they say together, in words.
    pub conclusions: Vec<String>,
    /// Where a tier in front begins to stop those behind it.
    pub break_evens: Vec<BreakEvenDocument>,
}

impl BreakEvenDocument {
    pub(super) fn of(even: &BreakEven) -> Self {
        let interval = even.held_sec.interval.map(|(low, high)| (low * 1e3, high * 1e3));
        Self {
            front: even.front.clone(),
            front_per_sec: finite(even.front_per_sec.value),
            front_interval: bounds(even.front_per_sec.interval),
            held_ms: finite(even.held_sec.value * 1e3),
            held_interval_ms: bounds(interval),
            each_per_sec: finite(even.each_per_sec),
            behind: even.behind.iter().map(PooledTierDocument::of).collect(),
            trials: even.trials.iter().map(TriedRowDocument::of).collect(),
        }
    }
}

impl PooledTierDocument {
    fn of(tier: &PooledTier) -> Self {
        Self {
            name: tier.name.clone(),
            at_once: finite(tier.at_once),
            beside_ms: finite(tier.beside_sec * 1e3),
            most_per_sec: finite(tier.most_per_sec),
        }
    }
}

impl TriedRowDocument {
    fn of(trial: &TriedRow) -> Self {
        Self {
            label: trial.label.clone(),
            held_ms: finite(trial.held_sec * 1e3),
            foretold_per_sec: finite(trial.foretold_per_sec.value),
            foretold_interval: bounds(trial.foretold_per_sec.interval),
            throughput_per_sec: finite(trial.throughput_per_sec),
            agrees: trial.agrees(),
        }
    }
}

impl RunRowDocument {
    fn of((row, run): (&TableRow, &RowRun)) -> Self {
        let alone = row.tiers.iter().filter_map(|tier| {
            let throughput_per_sec = finite(tier.alone_per_sec?);
            Some(AloneDocument { name: tier.name.clone(), throughput_per_sec })
        });
        let (measured, verdict) = (&run.measured, &run.verdict);
        Self {
            label: row.label.clone(),
            name: measured.name.clone(),
            group: row.group.clone(),
            held_ms: row.held_sec.and_then(|held_sec| finite(held_sec * 1e3)),
            cores: row.cores,
            throughput_per_sec: finite(measured.throughput.value),
            throughput_interval: bounds(measured.throughput.interval),
            lower_bound: measured.lower_bound,
            connections: measured.connections,
            mean_ms: ms(measured.mean_latency_ns),
            response_bytes: row.response_bytes.and_then(finite),
            bytes_per_sec: finite(run.bytes_per_sec),
            front: row.front.clone(),
            alone: alone.collect(),
            limit: verdict.limit.name(),
            place: verdict.place.clone(),
            confidence: verdict.confidence.name(),
            tiers: measured.tiers.iter().map(TierUseDocument::of).collect(),
        }
    }
}

/// The rows of a file's runs and what they say together.
pub fn run_rows(made: &RunRows) -> RunRowsDocument {
    RunRowsDocument {
        rows: made.rows.iter().zip(&made.runs).map(RunRowDocument::of).collect(),
        conclusions: made.found.conclusions.clone(),
        break_evens: made.found.break_evens.iter().map(BreakEvenDocument::of).collect(),
    }
}
