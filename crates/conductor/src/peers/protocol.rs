//! The messages between the generators of one run, and between a generator and the lab that started it.
//!
//! Instants are on the coordinator's monotonic clock, which all processes of a machine share. A transport between machines
//! translates them on the peer's side.

use std::path::PathBuf;

use plimsoll_analyze::Raise;
use plimsoll_plan::Shares;
use plimsoll_record::{Frame, WallClocks};
use plimsoll_units::Instant;
use serde::{Deserialize, Serialize};

use crate::context::StepPlan;

/// A command of the coordinator to a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Make a share of a step.
    Begin(StepShare),
    /// End the load; requests under way are still waited for.
    EndLoad,
    /// End the load without waiting for requests under way.
    Abandon,
    /// Another coordinator continues the run: answer with the same number once no step is under way.
    StandBy { asked: u64 },
}

/// One process's share of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepShare {
    pub step: StepPlan,
    /// The number of workers in the processes before this one.
    pub workers_before: u32,
    /// The number of this process's workers that take part.
    pub own_workers: u32,
    /// How the workers of all processes that take part share the load.
    pub shares: Shares,
    /// The instant at which the load begins in all processes.
    pub begins: Instant,
    /// The origin of all times of the run.
    pub origin: Instant,
}

/// A report of a generator to its coordinator, or to the process that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The generator has connected to the target and can begin.
    Ready {
        /// The version of the tool, which must equal the coordinator's.
        version: String,
        workers: u32,
        /// The most requests per second that one worker can make, by the machine's calibration; `None` without one.
        ceiling_per_sec: Option<u64>,
    },
    /// The generator's workers have begun a step.
    Began {
        /// Nanoseconds from the step's begin until the workers were ready; 0 if they were in time.
        late_ns: u64,
        /// The error bound of the generator's clock when `begins` and `origin` were translated, in nanoseconds; `None` if both
        /// sides share a clock.
        clock_error_ns: Option<u64>,
        /// A check of the clocks against the wall clocks; `None` unless both wall clocks are synchronised.
        wall: Option<WallClocks>,
    },
    Frame(Box<Frame>),
    Ended {
        /// The index of the step; `None` if none was under way. After a takeover, a coordinator may receive the end of an earlier
        /// step again.
        step: Option<u32>,
        fault: Option<String>,
    },
    /// The answer to [`Command::StandBy`]. All messages before it are for an earlier coordinator, or for a step that is over.
    StandsBy {
        asked: u64,
        workers: u32,
        ceiling_per_sec: Option<u64>,
    },
    Failed {
        why: String,
    },
    Caps(CapChange),
    Recorded {
        file: PathBuf,
    },
}

/// A change of the caps that a lab has set on its hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapChange {
    /// Cap the hosts that started without caps.
    Apply,
    Raise(Raise),
}
