//! Runs of the same tiers with different numbers of machines, schema `plimsoll/tiers/1`; rows made from runs; and
//! break-evens, which tables have too.

use plimsoll_analyze::{
    BreakEven, Efficiency, PooledTier, RequestKind, RowRun, RunRows, TableRow, TableTier, TierRow,
    TierScaling, TierUse, TriedRow,
};

use super::document::{Interval, document, each, ms};
use crate::words;
use crate::words::machines::{tier_counts, without_row};

document! {
    /// All runs as one document.
    #[schemars(title = "Tiers side by side")]
    pub struct TiersDocument(rows: &[TierRow], scalings: &[TierScaling], kinds: &[RequestKind]) {
        /// Always `plimsoll/tiers/1`.
        schema: &'static str = "plimsoll/tiers/1",
        /// One row for each run that has a step in which 95 % of the requests succeeded.
        rows: Vec<TierRowDocument> = each(rows, TierRowDocument::new),
        /// Runs without a row: in none of their steps did 95 % of the requests succeed.
        without_row: Vec<String> = without_row(rows, kinds),
        /// Runs that differ only in the machines of one tier.
        scalings: Vec<TierScalingDocument> = each(scalings, TierScalingDocument::new),
    }

    /// One run.
    pub struct TierRowDocument(row: &TierRow) {
        /// Its name.
        name: String = &row.name,
        /// The kind of requests. Only rows of the same kind are compared.
        kind: u64 = row.kind as u64,
        /// The highest throughput of the steps in which 95 % of the requests succeeded, requests per second.
        throughput_per_sec: f64 = row.throughput.value,
        /// The 95 % interval of `throughput_per_sec`.
        throughput_interval: Interval = row.throughput,
        /// True if the generator was the limit.
        lower_bound: bool = row.lower_bound,
        /// Connections of that step.
        connections: u32 = row.connections,
        /// Mean response time of that step.
        mean_ms: f64 = ms(row.mean_latency_ns),
        /// What limits the target.
        limit: &'static str = row.limit.name(),
        /// The tier that limits.
        limiting_tier: String = &row.limiting_tier,
        /// The confidence of the limit.
        confidence: &'static str = row.confidence.name(),
        /// Throughput per machine compared with the row of the fewest machines, for each tier of which another row has
        /// fewer machines, all else equal.
        efficiencies: Vec<EfficiencyDocument> = each(&row.efficiencies, EfficiencyDocument::new),
        /// The tiers.
        tiers: Vec<TierUseDocument> = each(&row.tiers, TierUseDocument::new),
    }

    /// How well a tier scaled out.
    pub struct EfficiencyDocument(efficiency: &Efficiency) {
        /// The tier.
        tier: String = &efficiency.tier,
        /// The number of its machines in the other row.
        from: u32 = efficiency.from,
        /// Throughput per machine, over that of the other row: 1 for linear.
        efficiency: Option<f64> = efficiency.ratio.map(|ratio| ratio.value),
        /// The 95 % interval of `efficiency`.
        interval: Interval = efficiency.ratio,
        /// True if the throughput of the other row is a lower bound.
        from_lower_bound: bool = efficiency.from_lower_bound,
    }

    /// What a tier used.
    pub struct TierUseDocument(tier: &TierUse) {
        /// The name of the tier.
        tier: String = &tier.tier,
        /// The number of its machines.
        machines: u32 = tier.machines,
        /// The utilisation of their CPU, 0 to 1.
        cpu: Option<f64> = tier.cpu_ratio,
        /// Bits per second into each machine.
        in_bits_per_sec: Option<f64> = tier.in_bits_per_sec,
        /// Bits per second out of each machine.
        out_bits_per_sec: Option<f64> = tier.out_bits_per_sec,
        /// The utilisation of its link in the busier direction, 0 to 1.
        link: Option<f64> = tier.link_ratio,
    }

    /// Throughput over the machines of one tier.
    pub struct TierScalingDocument(scaling: &TierScaling) {
        /// The tier.
        tier: String = &scaling.tier,
        /// The other tiers with their machines.
        others: String = tier_counts(&scaling.others),
        /// Machines, requests per second, and requests per second if throughput were linear from the fewest machines.
        points: Vec<[f64; 3]> = each(&scaling.points, |(machines, throughput, _)| {
            [f64::from(*machines), throughput.value, scaling.ideal_per_sec(*machines)]
        }),
    }

    /// The load at which a tier in front starts to limit those behind it.
    pub struct BreakEvenDocument(even: &BreakEven) {
        /// The tier in front.
        front: String = &even.front,
        /// Its throughput, requests per second.
        front_per_sec: f64 = even.front_per_sec.value,
        /// The range of its throughput over the rows that it limits, at least ± 5 %.
        front_interval: Interval = even.front_per_sec,
        /// It limits requests that are held for less than this.
        held_ms: f64 = sec_as_ms(even.held_sec.value),
        /// For requests held for a time in this range, it cannot be distinguished from the tiers behind it.
        held_interval_ms: Interval = Interval::from(even.held_sec).map(sec_as_ms),
        /// The throughput of each tier behind it at that load, requests per second.
        each_per_sec: f64 = even.each_per_sec,
        /// The tiers behind it.
        behind: Vec<PooledTierDocument> = each(&even.behind, PooledTierDocument::new),
        /// The rows near it, which were not used for the prediction.
        trials: Vec<TriedRowDocument> = each(&even.trials, TriedRowDocument::new),
    }

    /// A tier that was measured alone at several held times. Its throughput is `at_once` over the time held plus `overhead_ms`.
    pub struct PooledTierDocument(tier: &PooledTier) {
        /// Its name.
        name: String = &tier.name,
        /// How many requests it serves at once.
        at_once: f64 = tier.at_once,
        /// The time of each request in addition to the time that it is held.
        overhead_ms: f64 = sec_as_ms(tier.overhead_sec),
        /// Its throughput where another limit comes first; null if that was not measured.
        most_per_sec: f64 = tier.most_per_sec,
    }

    /// A row near a break-even.
    pub struct TriedRowDocument(trial: &TriedRow) {
        /// The name of the row.
        label: String = words::row_name(&trial.name),
        /// How long its requests are held.
        held_ms: f64 = sec_as_ms(trial.held_sec),
        /// The prediction, requests per second.
        predicted_per_sec: f64 = trial.predicted_per_sec.value,
        /// Its range: the smaller of the throughput of the tiers behind, ± 5 %, and of `front_interval`.
        predicted_interval: Interval = trial.predicted_per_sec,
        /// The measured throughput, requests per second.
        throughput_per_sec: f64 = trial.throughput_per_sec,
        /// True if the measurement is within the range.
        agrees: bool = trial.agrees(),
    }

    /// A row made from a run.
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
        /// The 95 % interval of `throughput_per_sec`.
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
        /// The hosts and tiers that were measured alone.
        alone: Vec<AloneDocument> = row.tiers.iter().filter_map(alone).collect::<Vec<_>>(),
        /// What limits the target.
        limit: &'static str = run.verdict.limit.name(),
        /// The place of the limit.
        #[serde(rename = "where")]
        place: String = run.verdict.place.to_string(),
        /// The confidence of the limit.
        confidence: &'static str = run.verdict.confidence.name(),
        /// The tiers.
        tiers: Vec<TierUseDocument> = each(&run.measured.tiers, TierUseDocument::new),
    }

    /// A host or tier that was measured alone.
    pub struct AloneDocument(tier: &TableTier, alone_per_sec: f64) {
        /// Its name.
        name: String = &tier.name,
        /// Requests per second.
        throughput_per_sec: f64 = alone_per_sec,
    }

    /// The runs of a file as rows, with conclusions.
    pub struct RunRowsDocument(made: &RunRows) {
        /// The rows.
        rows: Vec<RunRowDocument> =
            made.rows.iter().zip(&made.runs).map(|(row, run)| RunRowDocument::new(row, run)).collect::<Vec<_>>(),
        /// Conclusions from the rows, in words.
        conclusions: Vec<String> = words::conclusions(&made.found),
        /// The loads at which a tier in front starts to limit the tiers behind it.
        break_evens: Vec<BreakEvenDocument> = each(&made.found.break_evens, BreakEvenDocument::new),
    }
}

fn alone(tier: &TableTier) -> Option<AloneDocument> {
    tier.alone_per_sec.map(|per_sec| AloneDocument::new(tier, per_sec))
}

fn sec_as_ms(sec: f64) -> f64 {
    sec * 1e3
}
