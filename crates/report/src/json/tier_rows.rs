//! Runs of the same tiers with other numbers of machines, schema `plimsoll/tiers/1`.

use plimsoll_analyze::{TierRow, TierScaling, TierUse};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite, ms};

const SCHEMA: &str = "plimsoll/tiers/1";

/// All runs as one document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Tiers side by side")]
pub struct TiersDocument {
    /// Always `plimsoll/tiers/1`.
    pub schema: &'static str,
    /// A row of each run.
    pub rows: Vec<TierRowDocument>,
    /// Where runs differ in the machines of one tier alone.
    pub scalings: Vec<TierScalingDocument>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierRowDocument {
    /// What it is called.
    pub name: String,
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
    /// What limits.
    pub limit: &'static str,
    /// The tier that limits.
    pub limiting_tier: String,
    /// How well that is founded.
    pub confidence: &'static str,
    /// Throughput a machine against the fewest machines of the tier that differs; null where none differs.
    pub efficiency: Option<f64>,
    /// The 95 % interval of that.
    pub efficiency_interval: Option<[f64; 2]>,
    /// The tiers.
    pub tiers: Vec<TierUseDocument>,
}

/// What a tier used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierUseDocument {
    /// Its name.
    pub tier: String,
    /// Its machines.
    pub machines: u32,
    /// The share of their CPU that was used.
    pub cpu: Option<f64>,
    /// Bits per second into each machine.
    pub in_bits_per_sec: Option<f64>,
    /// Bits per second out of each machine.
    pub out_bits_per_sec: Option<f64>,
    /// The share of its link that was used, of the fuller way.
    pub link: Option<f64>,
}

/// Throughput over the machines of one tier.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierScalingDocument {
    /// The tier.
    pub tier: String,
    /// The others with their machines.
    pub beside: String,
    /// Machines, requests per second, and those in proportion to the fewest machines.
    pub points: Vec<[f64; 3]>,
}

impl TiersDocument {
    /// Rows and scalings.
    pub fn of(rows: &[TierRow], scalings: &[TierScaling]) -> Self {
        Self {
            schema: SCHEMA,
            rows: rows.iter().map(TierRowDocument::of).collect(),
            scalings: scalings.iter().map(TierScalingDocument::of).collect(),
        }
    }
}

impl TierRowDocument {
    fn of(row: &TierRow) -> Self {
        let efficiency = row.efficiency.as_ref().map(|efficiency| efficiency.ratio);
        Self {
            name: row.name.clone(),
            throughput_per_sec: finite(row.throughput.value),
            throughput_interval: bounds(row.throughput.interval),
            lower_bound: row.lower_bound,
            connections: row.connections,
            mean_ms: ms(row.mean_latency_ns),
            limit: row.limit.name(),
            limiting_tier: row.limiting_tier.clone(),
            confidence: row.confidence.name(),
            efficiency: efficiency.and_then(|ratio| finite(ratio.value)),
            efficiency_interval: efficiency.and_then(|ratio| bounds(ratio.interval)),
            tiers: row.tiers.iter().map(TierUseDocument::of).collect(),
        }
    }
}

impl TierUseDocument {
    pub(super) fn of(tier: &TierUse) -> Self {
        Self {
            tier: tier.tier.clone(),
            machines: tier.machines,
            cpu: tier.cpu_ratio.and_then(finite),
            in_bits_per_sec: tier.in_bits_per_sec.and_then(finite),
            out_bits_per_sec: tier.out_bits_per_sec.and_then(finite),
            link: tier.link_ratio.and_then(finite),
        }
    }
}

impl TierScalingDocument {
    fn of(scaling: &TierScaling) -> Self {
        let point = |(machines, throughput, _): &(u32, plimsoll_analyze::Estimate, bool)| {
            [f64::from(*machines), throughput.value, scaling.ideal_per_sec(*machines)]
        };
        Self {
            tier: scaling.tier.clone(),
            beside: scaling.beside.clone(),
            points: scaling.points.iter().map(point).collect(),
        }
    }
}

/// Rows and scalings as text.
///
/// # Errors
/// When it cannot be written as JSON, which no row should meet.
pub fn tier_rows(rows: &[TierRow], scalings: &[TierScaling]) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&TiersDocument::of(rows, scalings))? + "\n")
}

/// The JSON schema of the document, as published.
pub fn tiers_schema() -> serde_json::Value {
    schemars::schema_for!(TiersDocument).to_value()
}
