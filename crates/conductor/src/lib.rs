//! Makes one run from a frozen plan, and records it.
//!
//! The phases are prepare (resolve, connect, one request, limits), warm up if the plan asks for it, climb the steps, search,
//! overload, profile, prove, and seal. [`conduct`] calls them in this order; each is a method of the session. The session's
//! recorder writes every fact to memory and to the run file and shows it to an [`Observer`], so a report of the file equals a
//! report of the run.

mod beyond;
mod budget;
mod calibration;
mod climb;
mod commits;
mod conduct;
mod connect;
mod context;
mod error;
mod follow;
mod hosts;
mod idle;
mod limit;
mod load;
mod made;
mod overload;
pub mod peers;
mod prepare;
mod profile;
mod progress;
mod prove;
mod recorder;
mod resume;
mod search;
mod session;
mod step;
mod traffic;
mod warm;
mod watch;

pub use calibration::{
    CalibrateError, CalibrationOptions, CalibrationProgress, MIN_CALIBRATION, calibrate, calibration_key,
    usual_driver,
};
pub use commits::{Commits, FrameFile};
pub use conduct::{RunOptions, WorkloadOverride, conduct};
pub use context::StepPlan;
pub use error::{ConductError, WarmUpError};
pub use follow::{FollowOptions, follow};
pub use limit::{Effect, Limit, LimitedResource};
pub use made::Made;
pub use plimsoll_store::UnderWay;
pub use prepare::{PrepareError, SecurityError, destinations};
pub use profile::ProfileError;
pub use progress::{Moment, NotTried, Observer, Progress};
pub use recorder::Outcome;
pub use resume::{
    KnownFrames, LeftRun, NotMade, ended_step, missing_text, not_run_text, origin_of_run, resume,
};
pub use session::CapController;
pub use traffic::ScenarioError;
