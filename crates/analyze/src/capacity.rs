//! How capacity differs: with the machines of a tier (`tiers`), from one run to another (`compare`), and how many machines each
//! tier needs for a target rate (`machines`).

pub(crate) mod compare;
pub(crate) mod machines;
pub(crate) mod tiers;
