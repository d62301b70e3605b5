//! Computes what each of several switches costs, from runs with them on and off.
//!
//! All figures are **time per request**, 1/X, not throughput: work that is done one after another for a request adds up in time,
//! while a difference of throughputs depends on its base (1,000 less of 15,000 and of 2,000 are different work). In a closed loop of
//! N connections a request takes N/X by Little's law, so that the model also holds for latency, N times as large.

mod design;
mod fixing;
mod ledger;
mod noise;
mod trial;

pub use design::{Design, settings_of};
pub use fixing::FixStep;
pub use ledger::{Interaction, Ledger, Replay, ledger, replays};
pub use noise::NoNoise;
pub use trial::{Cell, Context, SwitchCost, Trial, Trials};
