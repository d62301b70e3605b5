//! How capacity differs: with the machines of a tier (`tiers`), and between two runs (`compare`; latency in `latency_difference`,
//! searches in `highest_rates`, reasons why two runs are not comparable in `comparability`). `machines` computes how many
//! machines each tier needs for a target rate.

pub(crate) mod comparability;
pub(crate) mod compare;
pub(crate) mod highest_rates;
pub(crate) mod kinds;
pub(crate) mod latency_difference;
pub(crate) mod machines;
pub(crate) mod tiers;
