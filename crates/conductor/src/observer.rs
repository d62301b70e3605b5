//! What a run tells while it goes on.

use std::path::Path;
use std::time::Duration;

use plimsoll_analyze::Raise;
use plimsoll_record::{Event, Manifest};
use plimsoll_store::StoreError;

/// Something worth showing to somebody who waits.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The target answered; the load is about to begin.
    Prepared {
        /// What the run is.
        manifest: &'a Manifest,
        /// Where it is kept, if it is.
        file: Option<&'a Path>,
    },
    /// The run cannot be kept, or not any longer; it goes on all the same.
    NotKept(&'a StoreError),
    /// The load that warms the target up began.
    WarmUpBegan {
        /// Its connections.
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
        /// Its connections.
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
    /// A step's load ended; what is under way is waited for.
    Draining,
    /// A step is over.
    StepEnded {
        /// Its connections.
        connections: u32,
        /// Completed requests per second of the whole step, a first impression before the analysis.
        throughput_per_sec: f64,
        /// Requests that failed in it.
        failed: u64,
    },
    /// The level of the plateau is held for a CPU profile.
    Profiling {
        /// Where it comes from.
        source: &'a str,
        /// How long it takes.
        time: Duration,
    },
    /// What limits was raised, and the level of the plateau is loaded again.
    Raised(&'a Raise),
    /// The verdict was to be tried and could not be, and why.
    NotTried(&'a str),
    /// Something happened.
    Happened(&'a Event),
}

/// Watches a run. It must not wait for anything: the run waits for it.
pub trait Observer {
    /// Takes notice.
    fn observe(&mut self, progress: &Progress<'_>);
}
