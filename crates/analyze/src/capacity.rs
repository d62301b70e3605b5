//! How capacity differs: with the machines of a tier (`tiers`), and from one run to another (`compare`).

pub(crate) mod compare;
pub(crate) mod tiers;
