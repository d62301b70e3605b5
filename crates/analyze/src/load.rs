//! The results of the load, computed from the frames of the workers.
//!
//! `series` and `frames` add frames up. `steady`, `warm_up` and `ladder` decide during a run whether a step or the warm-up may end,
//! and which step follows. `summary` computes the figures of a step, with `percentile`, `requests` and `ramp_windows`. `knee` and
//! `slo` judge all steps together.

pub(crate) mod frames;
pub(crate) mod knee;
pub mod ladder;
pub(crate) mod percentile;
mod ramp_windows;
pub(crate) mod requests;
pub(crate) mod series;
pub(crate) mod slo;
pub mod steady;
pub(crate) mod summary;
pub mod warm_up;
