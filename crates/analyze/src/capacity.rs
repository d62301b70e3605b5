//! How capacity grows: with connections (`usl`), with machines of a tier (`tiers`), and from one run to another (`compare`).

pub(crate) mod compare;
pub(crate) mod tiers;
pub(crate) mod usl;
