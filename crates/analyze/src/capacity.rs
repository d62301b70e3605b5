//! How capacity differs: with the machines of a tier (`tiers`), from one run to another (`compare`, with what speaks against it in
//! `comparability`, latency in `latency_difference`, and searches in `highest_rates`), and how many machines each
//! tier needs for a target rate (`machines`).

pub(crate) mod comparability;
pub(crate) mod compare;
pub(crate) mod highest_rates;
pub(crate) mod kinds;
pub(crate) mod latency_difference;
pub(crate) mod machines;
pub(crate) mod tiers;
