//! What a run shows while it goes on.

use std::path::Path;
use std::time::Duration;

use plimsoll_analyze::Raise;
use plimsoll_record::{Event, Manifest};
use plimsoll_store::StoreError;

/// Something to show to a waiting user.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The target answered; the load is about to begin.
    Prepared {
        /// What the run is.
        manifest: &'a Manifest,
        /// The run file, if there is one.
        file: Option<&'a Path>,
    },
    /// The run file cannot be written, or no longer; the run goes on.
    NotKept(&'a StoreError),
    /// The load that warms the target up began.
    WarmUpBegan {
        connections: u32,
        /// Its offered rate, in an open loop.
        rate_per_sec: Option<f64>,
        /// The longest time it takes.
        limit: Duration,
    },
    /// A step's load began.
    StepBegan {
        /// Index of the step.
        index: u32,
        connections: u32,
        /// Its offered rate, in an open loop.
        rate_per_sec: Option<f64>,
        /// The longest time it takes.
        limit: Duration,
        /// Requests after which it ends, if their number is limited.
        requests_max: Option<u64>,
    },
    /// A moment of a step's load, or of the one that warms up.
    Moment {
        /// Time since the step's load began.
        elapsed: Duration,
        /// Completed requests per second over the last second or so.
        throughput_per_sec: f64,
        /// Requests that ended in the step so far, well or not.
        ended: u64,
        /// Requests that failed in the step so far.
        failed: u64,
    },
    /// A step's load ended; requests under way are waited for.
    Draining,
    /// A step is over.
    StepEnded {
        connections: u32,
        /// Completed requests per second of the whole step, a first impression before the analysis.
        throughput_per_sec: f64,
        /// Requests that failed in it.
        failed: u64,
    },
    /// The plateau's level is loaded again for a CPU profile.
    Profiling {
        /// The profiler, and the page or processes that it profiles.
        source: &'a str,
        /// How long it takes.
        time: Duration,
    },
    /// A cap was raised, and the plateau's level is loaded again.
    Raised(&'a Raise),
    /// The verdict could not be tested, for this reason.
    NotTried(&'a str),
    /// An event was recorded.
    Happened(&'a Event),
}

/// Watches a run. It must not block: the run waits for it.
pub trait Observer {
    /// Is called for each progress, in the order of the run.
    fn observe(&mut self, progress: &Progress<'_>);
}
