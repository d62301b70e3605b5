//! What each of several switches costs, from runs with them on and off.
//!
//! Everything is in **time per request**, 1/X, not in throughput: what is done for a request one after another adds up
//! in time, and a difference of throughputs says nothing of its own (1,000 fewer of 15,000 and of 2,000 are not the
//! same work). In a closed loop of N connections a request stays N/X by Little's law, so that the same model holds of
//! residence, N times as large.

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
