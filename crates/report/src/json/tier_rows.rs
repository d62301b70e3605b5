//! Runs of the same tiers with other numbers of machines, schema `plimsoll/tiers/1`.

use plimsoll_analyze::{Efficiency, Estimate, TierRow, TierScaling, TierUse};

use super::document::{Interval, document, each, ms};
use crate::words::machines::tier_counts;

document! {
    /// All runs as one document.
    #[schemars(title = "Tiers side by side")]
    pub struct TiersDocument(rows: &[TierRow], scalings: &[TierScaling]) {
        /// Always `plimsoll/tiers/1`.
        schema: &'static str = "plimsoll/tiers/1",
        /// One row for each run.
        rows: Vec<TierRowDocument> = each(rows, TierRowDocument::new),
        /// Runs that differ only in the machines of one tier.
        scalings: Vec<TierScalingDocument> = each(scalings, TierScalingDocument::new),
    }
}

document! {
    /// One run.
    pub struct TierRowDocument(row: &TierRow) {
        /// Its name.
        name: String = &row.name,
        /// The highest throughput, requests per second.
        throughput_per_sec: f64 = row.throughput.value,
        /// The 95 % interval of that.
        throughput_interval: Interval = row.throughput,
        /// True if the generator was the limit.
        lower_bound: bool = row.lower_bound,
        /// Connections of that step.
        connections: u32 = row.connections,
        /// Mean response time of that step.
        mean_ms: f64 = ms(row.mean_latency_ns),
        /// What limits.
        limit: &'static str = row.limit.name(),
        /// The tier that limits.
        limiting_tier: String = &row.limiting_tier,
        /// The confidence of that.
        confidence: &'static str = row.confidence.name(),
        /// Throughput per machine compared with the fewest machines of the tier that differs; null where none differs.
        efficiency: Option<f64> = efficiency(row).map(|ratio| ratio.value),
        /// The 95 % interval of that.
        efficiency_interval: Interval = efficiency(row),
        /// The tiers.
        tiers: Vec<TierUseDocument> = each(&row.tiers, TierUseDocument::new),
    }
}

document! {
    /// What a tier used.
    pub struct TierUseDocument(tier: &TierUse) {
        /// Its name.
        tier: String = &tier.tier,
        /// Its machines.
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
}

document! {
    /// Throughput over the machines of one tier.
    pub struct TierScalingDocument(scaling: &TierScaling) {
        /// The tier.
        tier: String = &scaling.tier,
        /// The others with their machines.
        others: String = tier_counts(&scaling.others),
        /// Machines, requests per second, and requests per second if throughput were linear from the fewest machines.
        points: Vec<[f64; 3]> = each(&scaling.points, |(machines, throughput, _)| {
            [f64::from(*machines), throughput.value, scaling.ideal_per_sec(*machines)]
        }),
    }
}

fn efficiency(row: &TierRow) -> Option<Estimate> {
    row.efficiency.as_ref().map(|Efficiency { ratio, .. }| *ratio)
}
