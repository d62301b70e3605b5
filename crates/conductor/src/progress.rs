//! The progress of a run, as shown to its observer.

use std::time::Duration;

use plimsoll_analyze::{Raise, UntriedVerdict};
use plimsoll_record::{CpuProfile, Event, FailureKind, Frame, HostSample, Manifest, Step};
use plimsoll_store::StoreError;

use crate::context::StepPlan;

/// The state of the load of a step or warm-up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// Time since the load began.
    pub elapsed: Duration,
    /// Completed requests per second over the last second or so.
    pub throughput_per_sec: f64,
    /// Requests that ended so far, successful or failed.
    pub ended: u64,
    pub failed: u64,
}

/// Why a verdict was not tested.
#[derive(Debug)]
pub enum NotTried {
    /// No test exists for this verdict.
    Untriable(UntriedVerdict),
    /// The run could not be analysed, or no cap was raised; holds the reason.
    Failed(String),
}

/// Something to show to a waiting user.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The target answered; the load is about to begin.
    Prepared(&'a Manifest),
    /// The run file can no longer be written, or could not be created; the run goes on.
    NotKept(&'a StoreError),
    /// The load that warms up the target began.
    WarmUpBegan(&'a StepPlan),
    /// A step's load began.
    StepBegan {
        step: &'a StepPlan,
        /// The steps of the ladder, an upper bound if the ladder ends by itself. 1 for a single load.
        steps_max: u32,
        /// The longest time until the load of all steps is over.
        left_max: Duration,
    },
    Moment(Moment),
    /// A step's load ended; requests under way are waited for.
    Draining,
    StepEnded {
        /// Completed requests per second of the whole step, a preliminary figure before the analysis.
        throughput_per_sec: f64,
        failed: u64,
    },
    /// The plateau's level is loaded again for a CPU profile.
    Profiling {
        /// The profiler, and the page or processes that it profiles.
        source: &'a str,
        time: Duration,
    },
    /// A cap was raised, and the plateau's level is loaded again.
    Raised(&'a Raise),
    /// The verdict was not tested.
    NotTried(&'a NotTried),
    /// Requests failed in a way that did not occur before in the run.
    FailureSeen {
        failure: FailureKind,
        /// True if the target is a unix socket.
        unix_socket: bool,
    },
    /// A worker delivered its frame of an interval.
    Framed(&'a Frame),
    /// A host was sampled.
    Sampled(&'a HostSample),
    /// Any other event.
    Happened(&'a Event),
    /// A step was recorded: first when it begins, with its expected end, and again when it has ended.
    StepRecorded(&'a Step),
    /// A CPU profile was recorded: first when it begins, and again when it is complete.
    ProfileRecorded(&'a CpuProfile),
    /// An event was recorded. Events worth a line were shown before, as [`Progress::Happened`] or [`Progress::FailureSeen`].
    EventRecorded(&'a Event),
}

/// Observes a run. It must not block, because the run waits for it.
pub trait Observer {
    /// Called for each progress, in the order of the run.
    fn observe(&mut self, progress: &Progress<'_>);
}
