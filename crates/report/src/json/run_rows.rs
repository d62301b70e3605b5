//! Rows made of runs, and break-evens, which tables have too.

use plimsoll_analyze::{BreakEven, PooledTier, RowRun, RunRows, TableRow, TableTier, TriedRow};

use super::document::{Interval, document, each, ms};
use super::tier_rows::TierUseDocument;
use crate::words;

document! {
    /// The load at which a tier in front starts to limit those behind it.
    pub struct BreakEvenDocument(even: &BreakEven) {
        /// The tier in front.
        front: String = &even.front,
        /// Its throughput, requests per second.
        front_per_sec: f64 = even.front_per_sec.value,
        /// The range of the rows that it limits, and at least ± 5 %.
        front_interval: Interval = even.front_per_sec,
        /// Requests that are held for less than this are limited by it.
        held_ms: f64 = sec_as_ms(even.held_sec.value),
        /// Between these, it cannot be distinguished from those behind it.
        held_interval_ms: Interval = Interval::from(even.held_sec).map(sec_as_ms),
        /// The throughput of each of those behind it there, requests per second.
        each_per_sec: f64 = even.each_per_sec,
        /// Those behind it.
        behind: Vec<PooledTierDocument> = each(&even.behind, PooledTierDocument::new),
        /// The rows near it, which were not used for the prediction.
        trials: Vec<TriedRowDocument> = each(&even.trials, TriedRowDocument::new),
    }
}

document! {
    /// A tier that was measured alone at several held times. Its throughput is `at_once` over the time held plus `overhead_ms`.
    pub struct PooledTierDocument(tier: &PooledTier) {
        /// Its name.
        name: String = &tier.name,
        /// How many requests it serves at once.
        at_once: f64 = tier.at_once,
        /// The time of each request in addition to the time that it is held.
        overhead_ms: f64 = sec_as_ms(tier.overhead_sec),
        /// Its throughput where another limit is nearer; null if that was not measured.
        most_per_sec: f64 = tier.most_per_sec,
    }
}

document! {
    /// A row near a break-even.
    pub struct TriedRowDocument(trial: &TriedRow) {
        /// The name of the row.
        label: String = words::row_name(&trial.name),
        /// How long its requests are held.
        held_ms: f64 = sec_as_ms(trial.held_sec),
        /// The prediction, requests per second.
        predicted_per_sec: f64 = trial.predicted_per_sec.value,
        /// Its range: the smaller of the throughput of those behind, ± 5 %, and of `front_interval`.
        predicted_interval: Interval = trial.predicted_per_sec,
        /// What was measured.
        throughput_per_sec: f64 = trial.throughput_per_sec,
        /// True if that is within the range.
        agrees: bool = trial.agrees(),
    }
}

document! {
    /// A row of a run.
    pub struct RunRowDocument(row: &TableRow, run: &RowRun) {
        /// The name of the row.
        label: String = &row.label,
        /// The run.
        name: String = &run.measured.name,
        /// Rows of the same requests share a group.
        group: Option<String> = row.group.clone(),
        /// How long the test held each request.
        held_ms: Option<f64> = row.held_sec.map(sec_as_ms),
        /// Processors of the machines under test.
        cores: Option<f64> = row.cores,
        /// The highest throughput, requests per second.
        throughput_per_sec: f64 = run.measured.throughput.value,
        /// The 95 % interval of that.
        throughput_interval: Interval = run.measured.throughput,
        /// True if the generator was the limit.
        lower_bound: bool = run.measured.lower_bound,
        /// Connections of that step.
        connections: u32 = run.measured.connections,
        /// Mean response time of that step.
        mean_ms: f64 = ms(run.measured.mean_latency_ns),
        /// Bytes received for each response.
        response_bytes: Option<f64> = row.response_bytes,
        /// Bytes received per second.
        bytes_per_sec: f64 = run.bytes_per_sec,
        /// The tier that forwards requests.
        front: Option<String> = row.front.clone(),
        /// Requests per second of those that were measured alone.
        alone: Vec<AloneDocument> = row.tiers.iter().filter_map(alone).collect::<Vec<_>>(),
        /// What limits.
        limit: &'static str = run.verdict.limit.name(),
        /// Where.
        #[serde(rename = "where")]
        place: String = run.verdict.place.to_string(),
        /// The confidence of that.
        confidence: &'static str = run.verdict.confidence.name(),
        /// The tiers.
        tiers: Vec<TierUseDocument> = each(&run.measured.tiers, TierUseDocument::new),
    }
}

document! {
    /// A host or tier that was measured alone.
    pub struct AloneDocument(tier: &TableTier, alone_per_sec: f64) {
        /// Its name.
        name: String = &tier.name,
        /// Requests per second.
        throughput_per_sec: f64 = alone_per_sec,
    }
}

document! {
    /// What the runs of a file say as rows.
    pub struct RunRowsDocument(made: &RunRows) {
        /// The rows.
        rows: Vec<RunRowDocument> =
            made.rows.iter().zip(&made.runs).map(|(row, run)| RunRowDocument::new(row, run)).collect::<Vec<_>>(),
        /// What they say together, in words.
        conclusions: Vec<String> = words::conclusions(&made.found),
        /// The loads at which a tier in front starts to limit those behind it.
        break_evens: Vec<BreakEvenDocument> = each(&made.found.break_evens, BreakEvenDocument::new),
    }
}

fn alone(tier: &TableTier) -> Option<AloneDocument> {
    tier.alone_per_sec.map(|per_sec| AloneDocument::new(tier, per_sec))
}

fn sec_as_ms(sec: f64) -> f64 {
    sec * 1e3
}
