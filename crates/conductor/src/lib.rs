//! One run, from a frozen plan to everything recorded of it.
//!
//! The phases are Prepare (resolve, connect, one request, limits), Warm up where the plan wants it, then for each step
//! Measure and Drain, then Seal. [`conduct`] is their order; each has a short function of its own. What happens on the way
//! is told to an [`Observer`]; what is recorded goes onto a [`tape`], in memory and in the run file alike,
//! so that a report of the file is a report of the run.

mod attempt;
mod budget;
mod calibration;
mod climb;
mod conduct;
mod hosts;
mod limit;
mod line;
mod link;
mod load;
mod lost;
mod mates;
mod observer;
mod prepare;
mod profile;
mod prove;
mod reach;
mod security;
mod step;
mod tape;
mod traffic;
mod warm;
mod watch;

pub use calibration::{
    CALIBRATION_LEAST, CalibrateError, CalibrationOptions, CalibrationProgress, calibrate, calibration_key,
};
pub use conduct::{ConductError, Outcome, RunOptions, Supplied, conduct};
pub use limit::{Effect, Limit, Scarce};
pub use mates::{Mates, MatesError, assist};
pub use observer::{Observer, Progress};
pub use prepare::PrepareError;
pub use profile::ProfileError;
pub use prove::Lever;
pub use security::SecurityError;
pub use traffic::ScenarioError;
pub use warm::{Caps, WarmUpError};
